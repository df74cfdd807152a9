"""Thresholds: all streams of all targets share what is allowed, whoever is asked how often."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.config.detection import Detection, StreamWeight
from monitor.detect.watch import Thresholds
from monitor.model import Lane
from monitor.streams import StreamKey
from monitor.watching import PAGING, Fleet, scores_a_day
from tests.unit.watching.building import PLAN, a_fleet, key_of


def spent_a_day(fleet: Fleet) -> tuple[float, float]:
    """Return how many pages and tickets for nothing a day may bring, expected."""
    pages = tickets = 0.0
    for key in fleet.streams():
        share, limits = fleet.share(key), fleet.thresholds(key)
        assert share
        assert limits
        pages += share.scores_per_day / (limits.page or inf)
        tickets += share.scores_per_day / (limits.ticket or inf)
    return pages, tickets


def test_the_streams_of_a_day_plan() -> None:
    scores = scores_a_day("glm", {("golden", "s"): 96.0, ("canary", "s"): 24.0, ("border", "b"): 6})
    assert scores == {
        **{
            StreamKey(target="glm", lane=lane, probe="golden", stratum="s"): 96.0 for lane in PAGING
        },
        **{
            StreamKey(target="glm", lane=lane, probe="canary", stratum="s"): 24.0 for lane in PAGING
        },
        **{StreamKey(target="glm", lane=lane, probe="border", stratum="b"): 6 for lane in PAGING},
        StreamKey(target="glm", lane=Lane.TREND): 120.0,
        StreamKey(target="glm", lane=Lane.FACTS, probe="golden"): 96.0,
        StreamKey(target="glm", lane=Lane.FIRST_TOKEN, probe="border"): 6,
    }
    judged = scores_a_day("glm", {("golden", "s"): 96.0}, judged=True)
    assert judged[StreamKey(target="glm", lane=Lane.JUDGE, probe="golden")] == 96.0


def test_the_whole_fleet_may_expect_one_page_in_90_days_and_one_ticket_in_7() -> None:
    assert spent_a_day(a_fleet("a", "b", "c")) == pytest.approx((1 / 90, 1 / 7))


def test_what_is_allowed_can_be_set() -> None:
    fleet = a_fleet("a", "b", false_page_every="10d", false_ticket_every="12h")
    assert spent_a_day(fleet) == pytest.approx((1 / 10, 2))


plans = st.dictionaries(
    st.tuples(st.sampled_from(["golden", "canary", "border", "tenant"]), st.sampled_from("xyz")),
    st.floats(0.01, 5000),
    min_size=1,
)


@given(st.lists(plans, min_size=1, max_size=5), st.lists(st.floats(0, 9), min_size=2, max_size=2))
def test_whatever_is_planned_all_streams_together_stay_within_it(
    days: list[dict[tuple[str, str], float]], weights: list[float]
) -> None:
    entries = tuple(
        StreamWeight(probe=probe, weight=weight)
        for probe, weight in zip(("golden", "canary"), weights, strict=True)
    )
    fleet = Fleet(Detection(weights=entries), {str(n) for n in range(len(days))})
    for number, plan in enumerate(days):
        fleet.plan(str(number), scores_a_day(str(number), plan))
    pages, tickets = spent_a_day(fleet)
    assert pages <= 1 / 90 * (1 + 1e-9)
    assert tickets <= 1 / 7 * (1 + 1e-9)


def test_nothing_has_thresholds_before_everything_is_planned() -> None:
    fleet = Fleet(Detection(), {"a", "b"})
    fleet.plan("a", scores_a_day("a", PLAN))
    (first, *_) = fleet.streams()
    assert fleet.thresholds(first) is None
    fleet.plan("b", scores_a_day("b", PLAN))
    assert fleet.thresholds(first) == a_fleet("a", "b").thresholds(first)


def test_asking_one_target_more_often_leaves_the_others_as_they_were() -> None:
    fleet = a_fleet("a", "glm")
    before = {key: fleet.thresholds(key) for key in fleet.streams()}
    fleet.plan("glm", scores_a_day("glm", {key: 5 * a_day for key, a_day in PLAN.items()}))
    for key, limits in before.items():
        now = fleet.thresholds(key)
        assert limits
        assert now
        assert now.ticket == pytest.approx(limits.ticket * (5 if key.target == "glm" else 1))


def test_a_weight_makes_a_stream_alarm_sooner_and_all_others_later() -> None:
    plain, weighed = a_fleet("glm"), a_fleet("glm", weights=[{"probe": "canary", "weight": 4}])
    canary, tenant = key_of(Lane.HARD), key_of(Lane.HARD, "tenant", "short/c1/cold/plain/two")
    assert weighed.thresholds(canary).page < plain.thresholds(canary).page
    assert weighed.thresholds(tenant).page > plain.thresholds(tenant).page


def test_weights_that_fit_multiply() -> None:
    entries = [{"target": "glm", "weight": 3}, {"probe": "canary", "weight": 4}]
    fleet = a_fleet("glm", "other", weights=entries)
    assert fleet.share(key_of(Lane.HARD)).weight == 12
    assert fleet.share(key_of(Lane.TREND)).weight == 3
    assert fleet.share(StreamKey(target="other", lane=Lane.TREND)).weight == 1


def test_only_what_a_healthy_target_never_does_or_does_too_often_pages() -> None:
    fleet = a_fleet("glm")
    assert {key.lane for key in fleet.streams() if fleet.thresholds(key).page} == PAGING


def test_a_stream_that_is_not_planned_or_weighs_nothing_has_no_threshold() -> None:
    fleet = a_fleet("glm", weights=[{"probe": "tenant", "weight": 0}])
    assert fleet.thresholds(key_of(Lane.HARD, "burst", "x")) == Thresholds()
    assert fleet.thresholds(key_of(Lane.HARD, "tenant", "short/c1/cold/plain/two")) == Thresholds()
