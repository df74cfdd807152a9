"""Exact bounds at a number of exchanges that was fixed before, over all that may come."""

from __future__ import annotations

from math import comb, log, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.detect.binomial import exchanges_to_show, lower_bound, upper_bound, wilson


def chance(k: int, n: int, rate: float) -> float:
    return comb(n, k) * rate**k * (1 - rate) ** (n - k)


@pytest.mark.parametrize("exchanges", [1, 2, 7, 50])
@pytest.mark.parametrize("rate", [0.001, 0.02, 0.1, 0.37, 0.5, 0.8, 0.999])
def test_each_bound_is_wrong_with_a_chance_of_at_most_one_in_twenty(exchanges, rate) -> None:
    chances = {k: chance(k, exchanges, rate) for k in range(exchanges + 1)}
    assert sum(c for k, c in chances.items() if upper_bound(k, exchanges) < rate) <= 0.05
    assert sum(c for k, c in chances.items() if lower_bound(k, exchanges) > rate) <= 0.05


@given(exchanges=st.integers(1, 80), share=st.floats(0, 1), confidence=st.floats(0.5, 0.999))
def test_the_two_bounds_mirror_each_other(exchanges, share, confidence) -> None:
    failures = round(share * exchanges)
    low = lower_bound(failures, exchanges, confidence)
    assert low == pytest.approx(1 - upper_bound(exchanges - failures, exchanges, confidence))
    assert low <= failures / exchanges <= upper_bound(failures, exchanges, confidence)


@given(exchanges=st.integers(1, 100_000), confidence=st.floats(0.5, 0.9999))
def test_no_failure_in_n_leaves_what_would_be_missed_with_the_other_chance(
    exchanges, confidence
) -> None:
    rate = upper_bound(0, exchanges, confidence)
    assert (1 - rate) ** exchanges == pytest.approx(1 - confidence)
    assert exchanges * rate <= -log(1 - confidence)


@pytest.mark.parametrize(
    ("rate", "needed"),
    [
        (0.5, (1, 5, 7)),
        (0.1, (7, 29, 44)),
        (0.01, (69, 299, 459)),
        (0.001, (693, 2995, 4603)),
        (0.0003, (2311, 9985, 15349)),
        (1.0, (1, 1, 1)),
    ],
)
def test_how_many_exchanges_show_a_fault_half_of_the_time_and_19_and_99_of_20_and_100(
    rate, needed
) -> None:
    assert tuple(exchanges_to_show(rate, miss) for miss in (0.5, 0.05, 0.01)) == needed


@given(rate=st.floats(1e-6, 0.999), miss=st.floats(0.001, 0.9))
def test_one_exchange_fewer_would_not_do(rate: float, miss: float) -> None:
    needed = exchanges_to_show(rate, miss)
    assert (1 - rate) ** needed <= miss * (1 + 1e-6)
    assert needed == 1 or (1 - rate) ** (needed - 1) >= miss * (1 - 1e-6)


@pytest.mark.parametrize("rate", [0.0, -0.1, 1.1, nan])
def test_what_never_strikes_never_shows(rate: float) -> None:
    with pytest.raises(ValueError, match="never shown"):
        exchanges_to_show(rate)
    with pytest.raises(ValueError, match="never shown"):
        exchanges_to_show(0.5, 0.0)


@pytest.mark.parametrize("runs", [20, 50, 100])
def test_wilsons_interval_holds_the_share_about_as_often_as_it_says(runs: int) -> None:
    """It is an approximation: 95 % on average over shares, and not much less at any of these."""
    ends = [wilson(k, runs) for k in range(runs + 1)]
    held = [
        sum(chance(k, runs, p) for k, (low, high) in enumerate(ends) if low <= p <= high)
        for p in (each / 100 for each in range(2, 99))
    ]
    assert sum(held) / len(held) == pytest.approx(0.95, abs=0.01)
    assert min(held) > 0.9
