"""The exact contrast: against all ways to deal the units, and what it needs."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.detect.contrast import Stratum, contrast_probability

SCORES = st.lists(st.integers(0, 3), max_size=4).map(tuple)
STRATA = st.lists(st.builds(Stratum, one=SCORES, other=SCORES), max_size=2)


def dealt(stratum: Stratum) -> list[int]:
    """Return the failures of the one side for every way to deal the units of a stratum."""
    units = (*stratum.one, *stratum.other)
    return [sum(chosen) for chosen in combinations(units, len(stratum.one))]


@given(STRATA)
def test_it_is_the_share_of_all_ways_to_deal_the_units(strata: list[Stratum]) -> None:
    observed = sum(sum(stratum.one) for stratum in strata)
    sums = [sum(way) for way in product(*map(dealt, strata))]
    exact = sum(each >= observed for each in sums) / len(sums)
    assert contrast_probability(strata) == pytest.approx(exact, rel=1e-9)


def test_one_stratum_of_single_answers_is_fishers_exact_test() -> None:
    lady = Stratum(one=(1, 1, 1, 1), other=(0, 0, 0, 0))
    assert contrast_probability([lady]) == pytest.approx(1 / 70)
    assert contrast_probability([lady, lady]) == pytest.approx(1 / 70**2)


def test_failures_that_came_together_count_as_one() -> None:
    apart = Stratum(one=(1,) * 9, other=(0,) * 9)
    together = Stratum(one=(9,), other=(0,))
    assert contrast_probability([apart]) < 1e-4
    assert contrast_probability([together]) == pytest.approx(0.5)


@pytest.mark.parametrize(
    "strata",
    [
        [],
        [Stratum(one=(1, 1), other=())],
        [Stratum(one=(), other=(1,))],
        [Stratum(one=(0, 0), other=(0,))],
    ],
)
def test_what_is_on_one_side_only_or_never_fails_tells_nothing(strata: list[Stratum]) -> None:
    assert contrast_probability(strata) == 1.0


def test_many_units_are_no_overflow() -> None:
    many = Stratum(one=(1,) * 600 + (0,) * 900, other=(1,) * 600 + (0,) * 900)
    assert contrast_probability([many]) == pytest.approx(0.515, abs=0.01)


def test_units_of_strata_with_very_different_rates_keep_the_level() -> None:
    """Strata fail in 1 % and 60 % of cases, and one side is asked the hard ones more often."""
    rng, runs, low = np.random.default_rng(3), 400, 0
    for _ in range(runs):
        strata = [
            Stratum(
                one=tuple(map(int, rng.random(one) < rate)),
                other=tuple(map(int, rng.random(other) < rate)),
            )
            for one, other, rate in ((5, 40, 0.01), (40, 5, 0.6), (10, 10, 0.2))
        ]
        low += contrast_probability(strata) <= 0.05
    assert low < 0.05 * runs
