"""Bounds that hold at every look, checked exactly: over all ways that scores may come."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.detect.binomial import lower_bound, upper_bound
from monitor.detect.sequence import confidence_sequence

LOOKS = 150


@cache
def sequence(failures: int, scores: int) -> tuple[float, float]:
    return confidence_sequence(failures, scores)


@cache
def fixed(failures: int, scores: int) -> tuple[float, float]:
    """Return the exact two-sided interval for a number of scores that was fixed before."""
    return lower_bound(failures, scores, 0.975), upper_bound(failures, scores, 0.975)


def ever_wrong(bounds: Callable[[int, int], tuple[float, float]], rate: float, looks: int) -> float:
    """Return the chance that bounds exclude the rate at any look: no simulation, all paths."""
    paths, wrong = {0: 1.0}, 0.0
    for scores in range(1, looks + 1):
        after: dict[int, float] = {}
        for failures, chance in paths.items():
            after[failures] = after.get(failures, 0.0) + chance * (1 - rate)
            after[failures + 1] = after.get(failures + 1, 0.0) + chance * rate
        paths = {}
        for failures, chance in after.items():
            low, high = bounds(failures, scores)
            if low <= rate <= high:
                paths[failures] = chance
            else:
                wrong += chance
    return wrong


@pytest.mark.parametrize("rate", [0.001, 0.01, 0.1, 0.3, 0.5, 0.9])
def test_it_is_ever_wrong_with_the_chance_it_says_at_most(rate: float) -> None:
    assert ever_wrong(sequence, rate, LOOKS) <= 0.05


def test_an_interval_for_a_fixed_number_is_not_made_for_looking() -> None:
    assert ever_wrong(fixed, 0.3, 40) > 0.12


@given(
    scores=st.integers(1, 400),
    share=st.floats(0, 1),
    confidence=st.floats(0.5, 0.9999),
)
def test_the_ends_are_where_the_bettor_reaches_it(scores, share, confidence) -> None:
    failures = round(share * scores)
    low, high = confidence_sequence(failures, scores, confidence)
    assert 0 <= low <= failures / scores <= high <= 1
    log_beta = (
        math.lgamma(failures + 1) + math.lgamma(scores - failures + 1) - math.lgamma(scores + 2)
    )
    for end in {low, high} - {0.0, 1.0}:
        surprise = -failures * math.log(end) - (scores - failures) * math.log1p(-end)
        assert log_beta + surprise == pytest.approx(-math.log1p(-confidence), abs=1e-6)


@given(scores=st.integers(1, 100), share=st.floats(0, 1))
def test_failures_and_successes_mirror_each_other(scores: int, share: float) -> None:
    failures = round(share * scores)
    low, high = confidence_sequence(failures, scores)
    other_low, other_high = confidence_sequence(scores - failures, scores)
    assert (1 - low, 1 - high) == (pytest.approx(other_high), pytest.approx(other_low))


def test_looking_all_the_time_costs_a_few_times_the_scores() -> None:
    high = confidence_sequence(0, 3000)[1]
    assert high == pytest.approx(1 - (0.05 / 3001) ** (1 / 3000))
    assert high * 3000 == pytest.approx(10.98, abs=0.01)
    assert upper_bound(0, 3000) * 3000 == pytest.approx(3.0, abs=0.01)


def test_nothing_is_known_before_the_first_score_and_nonsense_is_refused() -> None:
    assert confidence_sequence(0, 0) == (0.0, 1.0)
    for failures, scores, confidence in ((3, 2, 0.95), (-1, 2, 0.95), (1, 2, 1.0), (1, 2, 0.0)):
        with pytest.raises(ValueError, match="no such bounds"):
            confidence_sequence(failures, scores, confidence)
