"""Acceptance of a draft: out of its band, slowly lower, and never an alarm of noise alone."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from random import Random

import pytest

from monitor.conventions.nodes import LiveKind, LiveState
from monitor.nodes.live import Band, LiveSignal, NodeWindows
from monitor.nodes.live_acceptance import LEAST_READINGS, QUARTERS_A_DAY, REFERENCE_DAYS
from monitor.nodes.record import NodeCounter, NodeFacts
from tests.builders import NOW
from tests.unit.nodes.readings import STEP, counted, of_kind

GENERATED, DRAFTED, ACCEPTED = (
    NodeCounter.GENERATED_TOKENS,
    NodeCounter.DRAFTED,
    NodeCounter.ACCEPTED,
)
OUT, DECAYS = LiveKind.ACCEPTANCE_OUT_OF_BAND, LiveKind.ACCEPTANCE_DECAYS
FAIL, PASS, UNKNOWN = LiveState.FAIL, LiveState.PASS, LiveState.UNKNOWN


class Node:
    """A node that generates, and what is made of its acceptance."""

    def __init__(self, step: float = STEP.total_seconds(), **windows: object) -> None:
        self.windows = NodeWindows(step, **windows)
        self.step = STEP * (step / STEP.total_seconds())
        self.readings = 0
        self.counts = {GENERATED: 0.0}
        self.facts = NodeFacts(version="0.5.22", models=("glm",))

    def read(
        self, *, tokens: float = 4000, length: float | None = None, **live: object
    ) -> tuple[LiveSignal, ...]:
        self.counts[GENERATED] += tokens
        at = NOW + self.step * self.readings
        self.readings += 1
        told = {"accept_length": length, **live}
        reading = counted("n", dict(self.counts), at=at, **told)
        return self.windows.take([replace(reading, facts=self.facts)])

    def all(self, lengths: Iterable[float], kind: LiveKind) -> list[LiveState]:
        return [of_kind(self.read(length=length), kind).state for length in lengths]


def test_a_draft_that_is_hardly_believed_is_told_within_minutes() -> None:
    node = Node()
    states = node.all([2.8] * 100 + [1.1] * 20, OUT)
    assert states[0] is UNKNOWN
    assert set(states[1:100]) == {PASS}
    assert FAIL in states[100:112]


def test_a_draft_that_is_always_believed_is_told_too() -> None:
    node = Node()
    node.read(accept_ratio=0.8)
    states = [of_kind(node.read(accept_ratio=1.0), OUT).state for _ in range(12)]
    assert states[-1] is FAIL


def test_a_ratio_is_that_of_what_was_drafted_since() -> None:
    node = Node()
    node.counts |= {DRAFTED: 1e9, ACCEPTED: 0.7e9}
    for _ in range(12):
        node.counts[DRAFTED] += 1000
        node.counts[ACCEPTED] += 990
        said = node.read(accept_ratio=0.7)
    assert of_kind(said, OUT).state is FAIL


def test_readings_with_few_tokens_are_no_scores() -> None:
    node = Node()
    states = [of_kind(node.read(tokens=3, length=1.0), OUT).state for _ in range(100)]
    assert FAIL not in states


def test_a_node_without_a_draft_has_no_signal() -> None:
    node = Node()
    assert of_kind(node.read(), OUT) is None
    assert of_kind(node.read(), DECAYS) is None


def test_a_band_of_its_own_holds() -> None:
    node = Node(bands={"glm": Band(lowest_length=1.05)})
    assert FAIL not in node.all([1.1] * 200, OUT)
    assert FAIL in Node(bands={"glm": Band(lowest_length=2.5)}).all([2.0] * 20, OUT)


def test_an_alarm_is_over_when_enough_readings_are_within_the_band() -> None:
    node = Node()
    node.all([1.0] * 20, OUT)
    states = node.all([2.5] * 300, OUT)
    assert states[0] is FAIL
    assert states[-1] is PASS


def test_a_node_that_generates_nothing_any_more_is_unknown() -> None:
    node = Node()
    node.all([2.5] * 10, OUT)
    said = [of_kind(node.read(tokens=0, length=2.5), OUT).state for _ in range(200)]
    assert said[-1] is UNKNOWN


def healthy(rng: Random, readings: int, per_day: float) -> Iterable[float]:
    """Yield acceptance that wanders by 6 % for hours, swings by 8 % with the day, and is noisy."""
    wander, pull = 0.0, math.exp(-24 / per_day / 3)
    for reading in range(readings):
        wander = pull * wander + rng.gauss(0, 0.06 * math.sqrt(1 - pull * pull))
        day = 0.08 * math.sin(2 * math.pi * reading / per_day)
        yield 2.6 * (1 + wander + day) + rng.gauss(0, 0.2)


def test_noise_alone_alarms_nowhere() -> None:
    """60 nodes for a month each, read twice an hour."""
    per_day = 48
    for seed in range(60):
        node = Node(step=1800.0)
        for length in healthy(Random(seed), 30 * per_day, per_day):
            said = node.read(length=length, tokens=40_000)
            assert of_kind(said, OUT).state is not FAIL, seed
            assert of_kind(said, DECAYS).state is not FAIL, seed
        assert of_kind(said, DECAYS).state is PASS


@pytest.mark.parametrize("seed", range(5))
def test_a_slow_decay_is_told(seed: int) -> None:
    """Down by 40 % over three days, and never out of the band."""
    per_day, node, rng = 48, Node(step=1800.0), Random(seed)
    assert FAIL not in node.all(healthy(rng, 3 * per_day, per_day), DECAYS)
    falling = [
        length * (1 - 0.4 * min(1.0, place / (3 * per_day)))
        for place, length in enumerate(healthy(rng, 4 * per_day, per_day))
    ]
    states = node.all(falling, DECAYS)
    assert FAIL in states
    assert states.index(FAIL) > per_day


def test_two_days_are_needed_before_decay_is_judged() -> None:
    node = Node(step=1800.0)
    states = node.all([2.5] * 48 * 4, DECAYS)
    needed = (REFERENCE_DAYS * QUARTERS_A_DAY) * LEAST_READINGS
    assert set(states[:needed]) == {UNKNOWN}
    assert states[-1] is PASS


def test_another_version_begins_anew() -> None:
    node = Node(step=1800.0)
    node.all([2.5] * 48 * 3, DECAYS)
    node.facts = replace(node.facts, version="0.5.23")
    states = node.all([1.6] * 48 * 2, DECAYS)
    assert set(states) == {UNKNOWN}


@pytest.mark.parametrize(
    "told",
    [NodeFacts(models=("glm",)), NodeFacts(version="0.5.22"), NodeFacts()],
    ids=["no version", "no models", "neither"],
)
def test_a_page_that_fails_once_ends_no_decay(told: NodeFacts) -> None:
    node = Node(step=1800.0)
    assert node.all([2.5] * 48 * 2 + [1.6] * 48 * 3, DECAYS)[-1] is FAIL
    facts, node.facts = node.facts, told
    assert node.all([1.6], DECAYS) == [FAIL]
    node.facts = facts
    assert set(node.all([1.6] * 48 * 3, DECAYS)) == {FAIL}


def test_a_measure_that_is_left_out_once_ends_no_decay() -> None:
    node = Node(step=1800.0)
    assert node.all([2.5] * 48 * 2 + [1.6] * 48 * 3, DECAYS)[-1] is FAIL
    assert of_kind(node.read(accept_ratio=0.5), DECAYS).state is FAIL
    assert set(node.all([1.6] * 48, DECAYS)) == {FAIL}
    ratios = [of_kind(node.read(accept_ratio=0.5), DECAYS).state for _ in range(48 * 2)]
    assert ratios[-1] is UNKNOWN


def test_acceptance_that_is_out_of_its_band_just_now_does_not_pass() -> None:
    node = Node()
    node.all([2.8] * 50, OUT)
    said = of_kind(node.read(length=1.1), OUT)
    assert said.state is UNKNOWN
    assert "out of its band" in said.why
    assert of_kind(node.read(length=2.8), OUT).state is PASS
