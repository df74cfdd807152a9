"""Thresholds from an allowance: shared out whole, and kept while streams come, go and change."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.detect.esr import State, rate_detector
from monitor.detect.thresholds import (
    FALSE_PAGES,
    FALSE_TICKETS,
    LARGEST,
    Allowance,
    Share,
    most_false_alarms,
    thresholds,
)

SHARES = st.builds(
    Share,
    weight=st.one_of(st.just(0.0), st.floats(1e-3, 1e3)),
    scores_per_day=st.one_of(st.just(0.0), st.floats(0.01, 1e5)),
)
ALLOWANCES = st.builds(Allowance, alarms=st.floats(0.1, 10), days=st.floats(1, 400))
FLEETS = st.lists(SHARES, min_size=1, max_size=40).map(lambda fleet: dict(enumerate(fleet)))


def cost(fleet, found, days) -> float:
    return most_false_alarms((s.scores_per_day * days, found[key]) for key, s in fleet.items())


def test_one_stream_takes_all_of_it() -> None:
    fleet = {"only": Share(weight=3, scores_per_day=1440)}
    assert thresholds(fleet, FALSE_PAGES) == {"only": 90 * 1440}
    assert thresholds(fleet, FALSE_TICKETS) == {"only": 7 * 1440}


def test_a_hundred_streams_share_it_by_weight() -> None:
    fleet = {n: Share(weight=2 if n < 10 else 1, scores_per_day=288) for n in range(100)}
    found = thresholds(fleet, FALSE_PAGES)
    assert found[99] == pytest.approx(90 * 288 * 110)
    assert found[0] == pytest.approx(found[99] / 2)
    assert cost(fleet, found, 90) == pytest.approx(1)


@given(
    fleet=FLEETS, allowance=st.builds(Allowance, alarms=st.floats(0.1, 10), days=st.floats(1, 400))
)
def test_a_fleet_costs_its_allowance_and_no_more(fleet, allowance) -> None:
    found = thresholds(fleet, allowance)
    assert found.keys() == fleet.keys()
    for key, share in fleet.items():
        alarms = share.weight > 0 and share.scores_per_day > 0
        assert (found[key] is not None) == alarms
        assert found[key] is None or 1 <= found[key] < math.inf
    spent = cost(fleet, found, allowance.days)
    assert spent <= allowance.alarms * (1 + 1e-9)
    if any(found.values()) and all(each is None or each > 1 for each in found.values()):
        assert spent == pytest.approx(allowance.alarms)


@given(fleet=FLEETS, factor=st.floats(1.01, 100))
def test_more_weight_lowers_a_threshold_and_more_scores_or_streams_raise_it(fleet, factor) -> None:
    first = thresholds(fleet, FALSE_PAGES)
    share = fleet[0]
    if first[0] is None:
        return
    heavier = fleet | {0: Share(weight=share.weight * factor, scores_per_day=share.scores_per_day)}
    oftener = fleet | {0: Share(weight=share.weight, scores_per_day=share.scores_per_day * factor)}
    joined = fleet | {"new": Share(weight=1, scores_per_day=10)}
    assert thresholds(heavier, FALSE_PAGES)[0] <= first[0] * (1 + 1e-9)
    assert thresholds(oftener, FALSE_PAGES)[0] >= first[0]
    for key, threshold in first.items():
        if threshold is not None:
            assert thresholds(joined, FALSE_PAGES)[key] >= threshold
            assert thresholds(heavier, FALSE_PAGES)[key] >= threshold * (1 - 1e-9) or key == 0


@given(fleet=FLEETS, factor=st.floats(1e-200, 1e200))
def test_weights_count_relative_to_each_other(fleet, factor) -> None:
    scaled = {
        key: Share(weight=share.weight * factor, scores_per_day=share.scores_per_day)
        for key, share in fleet.items()
    }
    first, other = thresholds(fleet, FALSE_PAGES), thresholds(scaled, FALSE_PAGES)
    for key, threshold in first.items():
        assert other[key] == (None if threshold is None else pytest.approx(threshold))


def test_what_cannot_alarm_leaves_its_part_to_the_others() -> None:
    fleet = {
        "asked": Share(weight=1, scores_per_day=100),
        "never asked": Share(weight=1, scores_per_day=0),
        "of no weight": Share(weight=0, scores_per_day=100),
        "of hardly any": Share(weight=5e-324, scores_per_day=100),
    }
    found = thresholds(fleet, FALSE_PAGES)
    assert found == {
        "asked": 9000,
        "never asked": None,
        "of no weight": None,
        "of hardly any": None,
    }
    assert thresholds({}, FALSE_PAGES) == {}


def test_tiny_and_huge_fleets() -> None:
    rare = {"monthly": Share(weight=1, scores_per_day=1 / 90)}
    assert thresholds(rare, FALSE_TICKETS) == {"monthly": 1}
    assert thresholds(rare, FALSE_PAGES) == {"monthly": pytest.approx(1)}
    huge = {n: Share(weight=1 + n % 7, scores_per_day=1 + n % 5) for n in range(30_000)}
    found = thresholds(huge, FALSE_PAGES)
    assert cost(huge, found, 90) == pytest.approx(1)
    assert all(threshold < LARGEST for threshold in found.values())


@pytest.mark.parametrize("wrong", [-1.0, math.nan, math.inf])
def test_what_is_no_number_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="share"):
        Share(weight=wrong, scores_per_day=1)
    with pytest.raises(ValueError, match="share"):
        Share(weight=1, scores_per_day=wrong)
    for alarms, days in ((wrong, 1.0), (1.0, wrong), (0.0, 1.0)):
        with pytest.raises(ValueError, match="allowance"):
            Allowance(alarms=alarms, days=days)


def expected_alarms(y0: float, rule, left: int, now: State, before: float, past: tuple) -> tuple:
    """Return the expected alarms and the expected cost over all that may come.

    ``rule`` gives the threshold of the next score from everything that came.
    """
    if not left:
        return 0.0, 0.0
    threshold = rule(past)
    detector = rate_detector(y0, threshold)
    scaled = now.scaled(threshold / before)
    alarms, spent = 0.0, 1 / threshold
    for y, chance in ((1.0, y0), (0.0, 1 - y0)):
        after, alarm = detector.step(scaled, y)
        more, costs = expected_alarms(y0, rule, left - 1, after, threshold, (*past, y))
        alarms += chance * ((alarm is not None) + more)
        spent += chance * costs
    return alarms, spent


RULES = {
    "falling": lambda past: 40.0 / (1 + len(past)),
    "rising": lambda past: 2.0 + 3 * len(past),
    "to and fro": lambda past: 3.0 if len(past) % 2 else 30.0,
    "lower as soon as something failed": lambda past: 2.0 if any(past[-2:]) else 50.0,
    "lower as long as nothing failed": lambda past: 50.0 if any(past[-2:]) else 2.0,
}


@pytest.mark.parametrize("y0", [0.1, 0.4])
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_bound_holds_however_thresholds_change(rule, y0: float) -> None:
    """Exactly, over all ways that nine scores may come, even if the past decides on the change."""
    start = rate_detector(y0, 1).begin()
    alarms, spent = expected_alarms(y0, rule, 9, start, rule(()), ())
    assert 0 < alarms <= spent


def test_a_fleet_in_which_streams_come_and_go_keeps_to_its_allowance() -> None:
    """A stream is new every day and another retired; all stand at their tolerance."""
    y0, days, a_day, allowance = 0.2, 60, 40, Allowance(alarms=1, days=15)
    rng, alarms, runs = np.random.default_rng(1), 0, 10
    for _ in range(runs):
        standing: dict[int, tuple[State, float]] = {}
        for day in range(days):
            streams = range(day, day + 1 + day % 4)
            fleet = {n: Share(weight=1 + n % 3, scores_per_day=a_day) for n in streams}
            found = thresholds(fleet, allowance)
            for n in streams:
                detector = rate_detector(y0, found[n])
                state, before = standing.get(n, (detector.begin(), found[n]))
                state = state.scaled(found[n] / before)
                for y in (rng.random(a_day) < y0).astype(float):
                    state, alarm = detector.step(state, y)
                    alarms += alarm is not None
                standing[n] = state, found[n]
    assert 0 < alarms <= runs * days / 15
