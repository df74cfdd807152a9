"""Leaving a target alone: as long as it asks, twice as long each time, and never in silence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.conventions import SkipReason
from monitor.daemon.backoff import (
    FAR_SLOWER,
    FIRST_SECONDS,
    LONGEST_SECONDS,
    SLOW_SECONDS,
    Backoff,
)
from monitor.probes.base import BudgetKind

ORDINARY, BOUNDARY = BudgetKind.ORDINARY, BudgetKind.BOUNDARY


def test_what_a_target_asks_for_holds_for_every_trial() -> None:
    backoff = Backoff()
    assert backoff.holds(ORDINARY, 1000.0) is None
    backoff.asked_to_wait(90.0, 1000.0)
    for budget in BudgetKind:
        assert backoff.holds(budget, 1089.0) is SkipReason.RATE_LIMITED
        assert backoff.holds(budget, 1090.0) is None


def test_without_a_time_it_waits_twice_as_long_each_time_and_from_the_start_after_an_answer() -> (
    None
):
    backoff, now = Backoff(), 0.0
    for wait in (FIRST_SECONDS, 2 * FIRST_SECONDS, 4 * FIRST_SECONDS):
        backoff.asked_to_wait(None, now)
        assert backoff.holds(ORDINARY, now + wait - 1)
        now += wait
        assert backoff.holds(ORDINARY, now) is None
    backoff.answered(1.0, now)
    backoff.asked_to_wait(None, now)
    assert backoff.holds(ORDINARY, now + FIRST_SECONDS) is None


def test_a_burst_of_refusals_is_one() -> None:
    backoff = Backoff()
    for _ in range(16):
        backoff.asked_to_wait(None, 0.0)
    assert backoff.holds(ORDINARY, FIRST_SECONDS) is None


@given(st.lists(st.one_of(st.none(), st.floats(0, 1e9)), min_size=1, max_size=60))
def test_no_wait_is_longer_than_its_bound(asked: list[float | None]) -> None:
    backoff, now = Backoff(), 0.0
    for seconds in asked:
        backoff.asked_to_wait(seconds, now)
        assert backoff.holds(BOUNDARY, now + LONGEST_SECONDS) is None
        now += LONGEST_SECONDS


def test_a_slow_target_is_spared_ordinary_trials_only_and_not_for_ever() -> None:
    backoff = Backoff()
    backoff.answered(FAR_SLOWER, 0.0)
    assert backoff.holds(ORDINARY, 1.0) is SkipReason.SLOW
    assert backoff.holds(BOUNDARY, 1.0) is None
    assert backoff.holds(ORDINARY, SLOW_SECONDS) is None
    backoff.answered(FAR_SLOWER - 0.1, SLOW_SECONDS)
    assert backoff.holds(ORDINARY, SLOW_SECONDS) is None


@pytest.mark.parametrize(
    ("pressure", "ordinary", "boundary"),
    [(0.79, False, False), (0.8, True, False), (1, True, True)],
)
def test_pressure_of_the_nodes(pressure: float, ordinary: bool, boundary: bool) -> None:
    backoff = Backoff()
    backoff.pressure = pressure
    assert (backoff.holds(ORDINARY, 0.0) is SkipReason.PRESSURE) == ordinary
    assert (backoff.holds(BOUNDARY, 0.0) is SkipReason.PRESSURE) == boundary
