"""Tolerances are upper bounds, and a prompt is set aside only for what it was seen to miss."""

from __future__ import annotations

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.detect.binomial import upper_bound
from monitor.detect.tolerance import (
    FEW_ANSWERS,
    QUARANTINE_LEVEL,
    group_tolerance,
    is_not_mastered,
    tolerance_from,
)


def chance(k: int, n: int, rate: float) -> float:
    return comb(n, k) * rate**k * (1 - rate) ** (n - k)


@pytest.mark.parametrize(("asked", "misses"), [(3, 3), (5, 3), (10, 5), (20, 7), (50, 11)])
def test_how_many_misses_set_a_prompt_aside(asked: int, misses: int) -> None:
    assert is_not_mastered(misses, asked, 0.1)
    assert not is_not_mastered(misses - 1, asked, 0.1)


def test_two_answers_say_nothing_and_no_miss_is_no_reason() -> None:
    assert not is_not_mastered(2, 2, 0.1)
    assert not is_not_mastered(0, 50, 0.0)
    assert is_not_mastered(1, 1, 0.001)


@pytest.mark.parametrize("asked", [3, 5, 10, 20, 50])
@pytest.mark.parametrize("rate", [0.01, 0.05, 0.1])
def test_a_prompt_missed_as_often_as_allowed_is_rarely_set_aside(asked: int, rate: float) -> None:
    wrongly = sum(
        chance(k, asked, rate) for k in range(asked + 1) if is_not_mastered(k, asked, 0.1)
    )
    assert wrongly < QUARANTINE_LEVEL


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.05, 0.1, 0.2])
@pytest.mark.parametrize("judged", [10, 100, 400])
def test_the_bound_is_below_the_true_rate_in_at_most_one_of_twenty(
    rate: float, judged: int
) -> None:
    chances = {k: chance(k, judged, rate) for k in range(judged + 1)}
    likely = {k: c for k, c in chances.items() if c > 1e-9}
    below = sum(
        c for k, c in likely.items() if tolerance_from(k, judged, floor=0.0, margin=0.0) < rate
    )
    assert below <= 0.05


def test_floor_margin_and_nothing_known() -> None:
    assert tolerance_from(0, 1_000_000, floor=0.001, margin=0.0) == 0.001
    bound = upper_bound(3, 100)
    assert tolerance_from(3, 100, floor=0.001, margin=0.02) == pytest.approx(bound + 0.02)
    assert tolerance_from(0, 0, floor=0.001, margin=0.02) == 1.0
    assert tolerance_from(99, 100, floor=0.0, margin=0.02) == 1.0


def test_a_small_group_leaves_what_is_above_it_unless_its_failures_contradict_that() -> None:
    def held(failed: int, judged: int) -> float:
        return group_tolerance(failed, judged, above=0.1, floor=0.001, margin=0.02)

    assert held(0, 5) == 0.1
    assert held(1, 5) == 0.1
    assert held(3, 5) == pytest.approx(upper_bound(3, 5) + 0.02)
    assert held(0, FEW_ANSWERS) == pytest.approx(upper_bound(0, FEW_ANSWERS) + 0.02)
    assert held(0, 500) < 0.03


@given(
    judged=st.integers(0, 60),
    share=st.floats(0, 1),
    above=st.floats(0.01, 0.6),
    more=st.integers(1),
)
def test_more_failures_never_make_a_tolerance_smaller(
    judged: int, share: float, above: float, more: int
) -> None:
    failed = int(judged * share)
    worse = min(judged, failed + more)

    def held(count: int) -> float:
        return group_tolerance(count, judged, above=above, floor=0.001, margin=0.0)

    assert 0.001 <= held(failed) <= held(worse) <= 1.0
