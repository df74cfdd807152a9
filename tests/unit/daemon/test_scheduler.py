"""How often the daemon asks: the configured interval, or what the day's budget affords."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from monitor.daemon.scheduler import DAY_SECONDS, affordable_interval
from monitor.probes.base import Price, TrialPlan


def plan(tokens: int) -> TrialPlan:
    price = Price(refused_tokens=tokens, answered_tokens=tokens)
    return TrialPlan(probe="p", shape="p", stratum="s", purpose="x", price=price)


@given(
    st.floats(1, 86_400),
    st.lists(st.integers(1, 2_000_000), min_size=1, max_size=9),
    st.integers(1, 10**8),
)
def test_a_day_at_the_affordable_interval_stays_within_the_budget(interval, prices, budget) -> None:
    trials = tuple(plan(price) for price in prices)
    found = affordable_interval(interval, trials, budget)
    average = sum(prices) / len(prices)
    assert found >= interval
    assert DAY_SECONDS / found * average <= budget * 1.000001


def test_no_budget_asks_once_a_day_at_most_and_is_then_refused_by_the_ledger() -> None:
    assert affordable_interval(60, (plan(10),), 0) == DAY_SECONDS


def test_nothing_to_ask_keeps_its_interval() -> None:
    assert affordable_interval(60, (), 1000) == 60
