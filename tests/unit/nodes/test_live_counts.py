"""What nodes count: growth between readings, and which of it is a fault."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.conventions.nodes import LiveKind, LiveState
from monitor.nodes.live import LiveSignal
from monitor.nodes.live_counts import WINDOW, CountWindow, growth, restarted
from monitor.nodes.record import NodeCounter, Role
from tests.builders import NOW
from tests.unit.nodes.readings import STEP, counted, of_kind, silent

FAIL, PASS, UNKNOWN = LiveState.FAIL, LiveState.PASS, LiveState.UNKNOWN
REQUESTS, FAILED = NodeCounter.REQUESTS, NodeCounter.TRANSFER_FAILED


def after(*counts: dict[NodeCounter, float], role: Role = Role.DECODE) -> list[LiveSignal]:
    """Return the signals after readings that told these counts, one after the other."""
    window = CountWindow()
    for place, each in enumerate(counts):
        reading = counted("d0", each, at=NOW + STEP * place, role=role)
        window.take(reading)
    return list(window.signals(reading))


def test_a_counter_grows_by_what_was_added() -> None:
    grown = growth(counted("n", {REQUESTS: 5}), counted("n", {REQUESTS: 12, FAILED: 3}))
    assert grown == {REQUESTS: 7, FAILED: 3}


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (counted("n", {REQUESTS: 5}), counted("n", {REQUESTS: 4})),
        (counted("n", {REQUESTS: 5}, started=10.0), counted("n", {REQUESTS: 50}, started=99.0)),
    ],
    ids=["falling", "started later"],
)
def test_after_a_restart_a_counter_grew_from_nothing(before: object, now: object) -> None:
    assert restarted(before, now)
    assert growth(before, now) == {REQUESTS: now.live.counters[REQUESTS]}


def test_a_start_that_is_worked_out_anew_is_no_restart() -> None:
    assert not restarted(
        counted("n", {REQUESTS: 5}, started=100.0), counted("n", {REQUESTS: 6}, started=102.5)
    )


def test_any_value_that_is_no_number_is_a_fault() -> None:
    counter = NodeCounter.NOT_A_NUMBER
    said = of_kind(after({counter: 0}, {counter: 1}), LiveKind.NOT_A_NUMBER)
    assert said is not None
    assert said.state is FAIL
    assert said.value == 1
    assert of_kind(after({counter: 7}, {counter: 7}), LiveKind.NOT_A_NUMBER).state is PASS


def test_what_was_counted_before_the_first_reading_is_no_fault() -> None:
    said = of_kind(after({NodeCounter.NOT_A_NUMBER: 7}), LiveKind.NOT_A_NUMBER)
    assert said is not None
    assert said.state is UNKNOWN


@pytest.mark.parametrize(
    ("failed", "requests", "state"),
    [
        (0, 1000, PASS),
        (5, 1000, PASS),
        (15, 1000, PASS),
        (60, 1000, FAIL),
        (1, 1, PASS),
        (5, 5, FAIL),
        (3, 100, PASS),
        (20, 100, FAIL),
    ],
)
def test_transfers_fail_by_their_share(failed: int, requests: int, state: LiveState) -> None:
    said = after({FAILED: 0, REQUESTS: 0}, {FAILED: failed, REQUESTS: requests})
    assert of_kind(said, LiveKind.TRANSFER_FAILURES).state is state


def test_failures_of_an_unknown_number_of_requests_are_unknown() -> None:
    said = of_kind(after({FAILED: 0}, {FAILED: 9}), LiveKind.TRANSFER_FAILURES)
    assert said is not None
    assert said.state is UNKNOWN


def test_a_counter_that_a_split_node_should_have_is_unknown_and_not_missed_elsewhere() -> None:
    split = after({REQUESTS: 0}, {REQUESTS: 9})
    assert of_kind(split, LiveKind.TRANSFER_FAILURES).state is UNKNOWN
    assert of_kind(after({REQUESTS: 0}, role=Role.UNIFIED), LiveKind.TRANSFER_FAILURES) is None
    assert of_kind(split, LiveKind.NOT_A_NUMBER) is None


def test_what_failed_is_forgotten_after_half_an_hour() -> None:
    window, counter = CountWindow(), NodeCounter.NOT_A_NUMBER
    window.take(counted("n", {counter: 0}))
    window.take(counted("n", {counter: 3}, at=NOW + STEP))
    later = counted("n", {counter: 3}, at=NOW + STEP + WINDOW)
    assert window.take(later) == {counter: 0}
    assert of_kind(window.signals(later), LiveKind.NOT_A_NUMBER).state is PASS


def test_a_node_that_is_silent_for_longer_than_the_window_is_unknown() -> None:
    window, counter = CountWindow(), NodeCounter.TRANSFER_FAILED
    window.take(counted("n", {counter: 0, REQUESTS: 0}, role=Role.DECODE))
    window.take(counted("n", {counter: 0, REQUESTS: 9}, at=NOW + STEP, role=Role.DECODE))
    later = silent(counted("n", at=NOW + 2 * WINDOW))
    assert window.take(later) is None
    assert list(window.signals(later)) == []


@given(
    values=st.lists(st.floats(0, 1e15), min_size=1, max_size=30),
    gaps=st.lists(st.booleans(), min_size=30, max_size=30),
)
def test_growth_is_never_negative_and_adds_up(values: list[float], gaps: list[bool]) -> None:
    window, total = CountWindow(), 0.0
    for place, value in enumerate(values):
        reading = counted("n", {REQUESTS: value}, at=NOW + STEP * place)
        grown = window.take(silent(reading) if gaps[place] else reading)
        if grown is not None:
            assert grown[REQUESTS] >= 0
            total += grown[REQUESTS]
    rising = all(a <= b for a, b in itertools.pairwise(values))
    if rising:
        assert total <= values[-1]
