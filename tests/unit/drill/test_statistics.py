"""The drill's statistics against known values and brute force."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.detect.binomial import exceeds, wilson
from monitor.reports.drill_statistics import allowed, fewer_probability, median, power

CHANCES = st.lists(st.floats(0, 1), max_size=7)


@pytest.mark.parametrize(
    ("successes", "runs", "low", "high"),
    # 20 of 20 and 0 of 20: n / (n + z^2) = 20 / 23.8415.
    [(20, 20, 0.8389, 1.0), (0, 20, 0.0, 0.1611), (0, 0, 0.0, 1.0), (10, 20, 0.2993, 0.7007)],
)
def test_wilsons_interval(successes: int, runs: int, low: float, high: float) -> None:
    assert wilson(successes, runs) == pytest.approx((low, high), abs=5e-5)


def test_no_share_above_one() -> None:
    with pytest.raises(ValueError, match="21 of 20"):
        wilson(21, 20)


@given(st.integers(0, 60), st.integers(0, 60))
def test_wilsons_interval_holds_the_share(successes: int, more: int) -> None:
    runs = successes + more
    low, high = wilson(successes, runs)
    assert 0 <= low <= high <= 1
    if runs:
        assert low - 1e-12 <= successes / runs <= high + 1e-12


@pytest.mark.parametrize(
    ("rate", "exchanges", "chance"), [(1.0, 1, 1.0), (1.0, 0, 0.0), (0.1, 2, 0.19), (0.0, 9, 0.0)]
)
def test_what_exchanges_allow(rate: float, exchanges: int, chance: float) -> None:
    assert allowed(rate, exchanges) == pytest.approx(chance)


@given(CHANCES, st.integers(0, 7))
def test_fewer_is_summed_over_all_ways(chances: list[float], detected: int) -> None:
    ways = itertools.product((False, True), repeat=len(chances))
    summed = sum(
        math.prod(p if hit else 1 - p for hit, p in zip(way, chances, strict=True))
        for way in ways
        if sum(way) <= detected
    )
    assert fewer_probability(detected, chances) == pytest.approx(summed)


@given(st.floats(0.01, 0.99), st.integers(0, 12), st.integers(0, 30))
def test_power_is_the_chance_that_the_rule_speaks(rate: float, exposed: int, more: int) -> None:
    valid = exposed + more
    speaks = sum(
        math.comb(exposed, k) * rate**k * (1 - rate) ** (exposed - k)
        for k in range(exposed + 1)
        if exceeds(k, valid, 0.1)
    )
    assert power(rate, exposed, valid, 0.1) == pytest.approx(speaks)


def test_power_of_a_certain_fault_is_certain_or_none() -> None:
    assert power(1.0, 12, 40, 0.1) == 1.0
    assert power(1.0, 3, 40, 0.1) == 0.0
    assert power(1.0, 0, 40, 0.1) == 0.0


def test_the_middle_value() -> None:
    assert median([]) is None
    assert median([3, 1, 2, 9]) == 2
