"""The card of a stream: K of the last N, and how many would be enough."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.detect.card import WINDOWS, card, failures_of
from monitor.detect.esr import State, rate_detector
from monitor.detect.watch import REMEMBERED, Thresholds, Tier, Watch, begin, step, unscored
from monitor.model import Outcome


def follow(watch: Watch, scores) -> Watch:
    for failed in scores:
        watch = step(watch, bool(failed), watch.y0)
    return watch


@pytest.mark.parametrize(
    ("y0", "threshold", "failures"),
    [
        (0.01, 43_200, [3, 4, 6, 7, 14, 31]),
        (0.01, 525_600, [None, 5, 7, 8, 16, 35]),
        (0.001, 43_200, [2, 3, 3, 3, 5, 8]),
        (0.001, 525_600, [3, 3, 4, 4, 6, 10]),
    ],
)
def test_how_many_failures_of_how_many_alarm(y0, threshold, failures) -> None:
    """The table that was worked out independently when the detector was chosen."""
    assert [failures_of(n, y0, threshold) for n in (3, 10, 30, 60, 360, 1440)] == failures


@cache
def long_healthy(y0: float) -> State:
    detector = rate_detector(y0, 1.0)
    state = detector.begin()
    for _ in range(10_000):
        state = detector.follow(state, 0.0)
    return state


@settings(max_examples=50)
@given(
    y0=st.sampled_from([0.002, 0.03, 0.2]),
    threshold=st.sampled_from([200, 5000, 1e6]),
    scores=st.integers(1, 80),
)
def test_it_is_so_step_by_step(y0, threshold, scores) -> None:
    enough, detector = failures_of(scores, y0, threshold), rate_detector(y0, 1.0)
    healthy = long_healthy(y0)
    for failures in {1, scores, enough or scores, max(1, (enough or scores) - 1)}:
        steps = max(1, failures - 1)
        places = {1 + round(n * (scores - 1) / steps) for n in range(failures)}
        state, reached = healthy, False
        for place in range(1, scores + 1):
            failed = place in (places if failures > 1 else {scores})
            state = detector.follow(state, float(failed))
            reached |= failed and detector.value(state) >= threshold
        assert reached == (enough is not None and failures >= enough)


def test_a_card_counts_the_last_scores_whatever_became_of_the_evidence() -> None:
    watch = follow(begin(0.01, Thresholds(page=43_200)), [0] * 500 + [1] + [0] * 53 + [1, 1, 1])
    assert watch.pages == 1
    seen = card(unscored(watch, Outcome.INVALID))
    assert [(w.failed, w.of, w.enough) for w in seen.windows] == [
        (3, 10, 4),
        (4, 60, 7),
        (4, 360, 14),
    ]
    assert (seen.evidence, seen.threshold) == (watch.value, 43_200)
    assert (seen.scored, seen.errors, seen.invalid) == (557, 0, 1)
    assert seen.valid_share == 255 / 256
    assert seen.alarm == watch.alarm
    assert seen.clean_needed == watch.clean_needed > 0


def test_windows_are_those_that_are_full_and_remembered() -> None:
    assert card(begin(0.01, Thresholds(page=100))).windows == ()
    few = card(follow(begin(0.01, Thresholds(page=43_200)), [0, 0, 1]))
    assert [(w.failed, w.of) for w in few.windows] == [(1, 3)]
    many = card(follow(begin(0.5, Thresholds()), [1, 0] * 800))
    assert [(w.failed, w.of, w.enough) for w in many.windows] == [
        (of // 2, of, None) for of in WINDOWS if of <= 2 * REMEMBERED
    ]


def test_the_next_tier_and_how_many_failures_in_a_row_reach_it() -> None:
    watch = follow(begin(0.01, Thresholds(page=1_000_000, ticket=3360)), [0] * 500)
    first = card(watch)
    assert (first.threshold, first.alarm, first.clean_needed) == (3360, None, 0)
    almost = follow(watch, [1] * (first.in_a_row - 1))
    assert almost.alarm is None
    ticket = follow(almost, [1])
    assert ticket.alarm.tier is Tier.TICKET
    second = card(ticket)
    assert second.threshold == 1_000_000
    assert follow(ticket, [1] * (second.in_a_row - 1)).pages == 0
    assert follow(ticket, [1] * second.in_a_row).pages == 1


def test_what_cannot_be_said_in_a_row_is_not_said() -> None:
    assert card(begin(0.01, Thresholds())).in_a_row is None
    assert card(begin(0.45, Thresholds(page=1e40))).in_a_row is None
    assert card(begin(0.01, Thresholds(page=100), by_age=True)).in_a_row is None
    assert card(begin(0.01, Thresholds(ticket=100))).in_a_row == 2
