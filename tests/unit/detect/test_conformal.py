"""Split conformal p-values: the promise about false alarms, and how many recordings it takes."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.detect.conformal import least_recorded, low_p_value, share_below

FLOATS = st.floats(-1, 1, allow_nan=False)


@pytest.mark.parametrize(
    ("level", "least"),
    [(0.02, 49), (0.05, 19), (0.01, 99), (0.5, 1), (1.0, 0), (0.3, 3), (0.0, None), (-1, None)],
)
def test_how_many_recordings_a_level_needs(level: float, least: int | None) -> None:
    assert least_recorded(level) == least


@given(level=st.floats(0.001, 1))
def test_that_many_reach_the_level_and_one_fewer_never_does(level: float) -> None:
    least = least_recorded(level)
    assert least is not None
    assert low_p_value([0.5] * least, 0.1) <= level * (1 + 1e-6)
    if least:
        assert low_p_value([0.5] * (least - 1), 0.1) > level * (1 - 1e-6)


def test_the_value_is_counted_among_the_recorded() -> None:
    recorded = [0.1, 0.2, 0.3]
    assert [low_p_value(recorded, each) for each in (0.0, 0.1, 0.25, 0.9)] == [0.25, 0.5, 0.75, 1]
    assert low_p_value([], 0.3) == 1


@given(recorded=st.lists(FLOATS, max_size=80), value=FLOATS, other=FLOATS)
def test_lower_is_never_less_odd(recorded: list[float], value: float, other: float) -> None:
    low, high = sorted((value, other))
    p, q = (low_p_value(sorted(recorded), each) for each in (low, high))
    assert 0 < p <= q <= 1


@pytest.mark.parametrize("draw", ["normalvariate", "expovariate", "choice"])
def test_healthy_values_fail_no_oftener_than_the_level(draw: str) -> None:
    """Over the draw of the recorded values too, whatever the distribution, ties included."""
    rng = Random(7)
    draws_of: dict[str, Callable[[], float]] = {
        "normalvariate": lambda: rng.normalvariate(0.6, 0.1),
        "expovariate": lambda: rng.expovariate(3),
        "choice": lambda: rng.choice((0.2, 0.7, 0.7, 0.9)),
    }
    one = draws_of[draw]
    draws = 4_000
    failed = sum(low_p_value(sorted(one() for _ in range(60)), one()) <= 0.05 for _ in range(draws))
    # Three standard deviations above the promise.
    assert failed <= draws * 0.05 + 3 * (draws * 0.05 * 0.95) ** 0.5


@pytest.mark.parametrize(
    ("recorded", "level", "share"),
    [(200, 0.02, 0.0493), (500, 0.02, 0.0372), (1000, 0.02, 0.0316), (100, 0.05, 0.1117)],
)
def test_one_recording_may_be_so_much_worse_than_the_level(recorded, level, share) -> None:
    """Quantiles of Beta(l, n + 1 - l), as any table of them has them."""
    assert share_below(recorded, level) == pytest.approx(share, abs=5e-5)


def test_of_a_hundred_recordings_one_is_worse_than_that() -> None:
    """The rate of low p-values given a recording of uniform values is that of its l-th smallest."""
    rng, worse, draws = Random(3), 0, 1200
    for _ in range(draws):
        recorded = sorted(rng.random() for _ in range(100))
        share = recorded[4]
        assert low_p_value(recorded, share - 1e-9) <= 0.05 < low_p_value(recorded, share)
        worse += share > share_below(100, 0.05)
    assert worse <= draws * 0.01 + 3 * (draws * 0.01) ** 0.5
    assert worse > 0


def test_a_level_that_no_value_reaches_is_never_met() -> None:
    assert share_below(10, 0.05) == 0
    assert share_below(0, 0.5) == 0
