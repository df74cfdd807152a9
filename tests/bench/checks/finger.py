"""FINGER on simulated targets: golden prompts whose facts vary by themselves, and then move."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from monitor.checks.finger import CHECK, NEWEST, SETTLED, finger_of
from monitor.history import REMEMBERED_ANSWERS, Finger, History
from monitor.model import Exchange, Status
from monitor.prompts import AnyOf, GoldenPrompt
from tests.bench.checks.table import Row
from tests.builders import Bench, a_trial, an_exchange

PROMPTS = 2000
PROMPT = GoldenPrompt(
    suite="facts",
    id="hamlet",
    language="en",
    prompt="Who wrote Hamlet?",
    expectations=(AnyOf(strings=("Shakespeare", "the Bard")),),
    max_output_tokens=48,
)
BENCH = Bench()
KNOWN = replace(BENCH.history, golden={PROMPT.name: PROMPT})
# How often a target answers with other facts, and with how many others.
VARIATIONS = ((0.001, 1), (0.01, 1), (0.01, 50), (0.05, 1), (0.1, 50), (0.3, 50))


def answer(year: int) -> Exchange:
    """Return an answer whose only fact besides the name is a year."""
    text = f"Shakespeare wrote it in {year}." if year else "It was Shakespeare."
    return an_exchange(PROMPT.prompt, text, golden=PROMPT.name, golden_version=PROMPT.version)


ANSWERS = [answer(year) for year in (0, *range(1600, 1651))]
MOVED = answer(1900)
FINGERS = [found for each in ANSWERS if (found := finger_of(each, KNOWN))]


def drawn(rng: Random, share: float, others: int) -> int:
    """Return which answer a target gives."""
    return rng.randint(1, others) if rng.random() < share else 0


def failed(exchange: Exchange, past: tuple[Finger, ...]) -> bool:
    """Tell whether an answer's facts are said to have moved."""
    history: History = replace(KNOWN, fingers={FINGERS[0].prompt: past})
    [signal] = CHECK.judge(a_trial(exchange), exchange, history)
    return signal.status is Status.FAIL


def _row(share: float, others: int) -> Row:
    rng, counts = Random(f"{share} {others}"), [0, 0, 0, 0]
    for _ in range(PROMPTS):
        seen = rng.randint(SETTLED, REMEMBERED_ANSWERS)
        past = tuple(FINGERS[drawn(rng, share, others)] for _ in range(seen))
        well = drawn(rng, share, others)
        counts[0] += failed(MOVED, past)
        counts[1] += failed(ANSWERS[well], past)
        # The naive way compares with the answer before.
        last = past[-1].facts
        counts[2] += 1
        counts[3] += last != FINGERS[well].facts
    return Row(
        check="FINGER",
        input_set=f"facts_moved: other facts in {share:.1%} of answers, of {others} kinds",
        positives=PROMPTS,
        true_positives=counts[0],
        negatives=PROMPTS,
        false_positives=counts[1],
        naive_name="unlike the last answer",
        naive_true_positives=counts[2],
        naive_false_positives=counts[3],
    )


def rows() -> list[Row]:
    """Return a row for each way of varying."""
    assert REMEMBERED_ANSWERS - NEWEST >= SETTLED
    return [_row(share, others) for share, others in VARIATIONS]
