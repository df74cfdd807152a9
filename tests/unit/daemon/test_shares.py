"""Turns: nobody is a whole trial ahead of its share or behind it, and nobody is forgotten."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from monitor.daemon.shares import Shares

RATES = st.dictionaries(
    st.sampled_from("abcdefghij"), st.floats(0.01, 1000), min_size=1, max_size=10
)


@given(RATES, st.integers(1, 300))
def test_nobody_is_a_whole_trial_off_its_share(rates: dict[str, float], steps: int) -> None:
    shares, taken = Shares(rates), Counter[str]()
    total = sum(rates.values())
    for step in range(1, steps + 1):
        taken[shares.take() or ""] += 1
        assert all(abs(taken[k] - step * rate / total) < 1 + 1e-6 for k, rate in rates.items())


@given(RATES, RATES, st.integers(1, 100))
def test_new_rates_hold_from_then_on(
    before: dict[str, float], after: dict[str, float], steps: int
) -> None:
    shares = Shares(before)
    for _ in range(steps):
        shares.take()
    shares.reweigh(after)
    assert set(shares.strata()) == set(after)
    taken = Counter(shares.take() for _ in range(400))
    total = sum(after.values())
    assert all(abs(taken[k] - 400 * rate / total) < 2.5 for k, rate in after.items())


def test_only_those_present_are_taken_and_the_others_are_owed_their_turn() -> None:
    shares = Shares({"a": 1, "b": 1})
    assert [shares.take(["a"]) for _ in range(3)] == ["a", "a", "a"]
    assert [shares.take() for _ in range(3)] == ["b", "b", "b"]
    assert shares.take(["c"]) is None


def test_what_has_no_rate_has_no_turn() -> None:
    shares = Shares({"a": 1, "b": 0})
    assert {shares.take() for _ in range(9)} == {"a"}
    assert Shares({}).take() is None
