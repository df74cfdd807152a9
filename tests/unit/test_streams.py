"""Streams: verdicts taken apart into scores, gradual decay, and verdicts that outputs moved."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from prometheus_client import CollectorRegistry

from monitor.detect.esr import Alarm, first_alarms, rate_detector
from monitor.detect.trend import ENDS, Trend, TrendAlarm, trend_values
from monitor.model import (
    Exchange,
    ExchangeVerdict,
    FirstTokens,
    Lane,
    Outcome,
    Signal,
    Status,
    Trial,
    Verdict,
    VerdictClass,
)
from monitor.sinks import PrometheusSink
from monitor.streams import (
    Ages,
    StreamAlarm,
    StreamKey,
    StreamSink,
    decide_stream,
    events,
    unseen_when_healthy,
    y0_of,
)
from tests.builders import NOW, a_signal, a_trial, an_exchange

THIRTY_DAYS = 43_200
DETECTOR = rate_detector(0.10, THIRTY_DAYS)


def judged(index: int, outcome: Outcome, **fields: object) -> ExchangeVerdict:
    bad = outcome is Outcome.BAD
    base = {
        "verdict_class": VerdictClass.WRONG if bad else VerdictClass.NONE,
        "tolerated": bad,
        "reason": "",
    }
    return ExchangeVerdict(exchange=index, outcome=outcome, **(base | fields))


def verdict_of(trial: Trial, exchanges: list[ExchangeVerdict], *signals: Signal) -> Verdict:
    return Verdict(
        id="verdict-1",
        source="probe",
        trial=trial.id,
        target=trial.target,
        model=trial.model,
        probe=trial.probe,
        shape=trial.shape,
        stratum=trial.stratum,
        decided_at=NOW,
        outcome=Outcome.GOOD,
        verdict_class=VerdictClass.NONE,
        reason="",
        signals=signals,
        exchanges=tuple(exchanges),
        checks_version="1",
        scheduled=trial.scheduled,
    )


def lanes(*signals: Signal, exchange: Exchange | None = None, **trial: object) -> dict[Lane, int]:
    record = a_trial(exchange or an_exchange(), **trial)
    failing = any(s.status is Status.FAIL for s in signals)
    outcome = judged(0, Outcome.BAD if failing else Outcome.GOOD)
    return {e.key.lane: e.y for e in events(record, verdict_of(record, [outcome], *signals))}


def test_each_valid_exchange_gives_one_score_to_hard_and_to_tolerated() -> None:
    trial = a_trial(*(an_exchange(index=i) for i in range(5)), probe="tenant")
    verdict = verdict_of(
        trial,
        [
            judged(0, Outcome.GOOD),
            judged(1, Outcome.BAD, hard=True, tolerated=False),
            judged(2, Outcome.BAD),
            judged(3, Outcome.ERROR),
            judged(4, Outcome.GOOD, counted=False),
        ],
        a_signal("SPECIAL", Status.FAIL, "control_token", 1),
        a_signal("ONTOPIC", Status.FAIL, "wrong", 2),
    )
    scores = [(e.key.lane, e.y, e.age) for e in events(trial, verdict, age=7)]
    assert scores == [
        (Lane.HARD, 0, 7),
        (Lane.TOLERATED, 0, 7),
        (Lane.HARD, 1, 8),
        (Lane.TOLERATED, 0, 8),
        (Lane.HARD, 0, 9),
        (Lane.TOLERATED, 1, 9),
    ]


def test_what_is_not_scheduled_gives_none() -> None:
    trial = a_trial(an_exchange(), scheduled=False)
    assert events(trial, verdict_of(trial, [judged(0, Outcome.GOOD)])) == ()


def test_first_tokens_and_facts_are_lanes_of_their_own() -> None:
    border = an_exchange(border_input="Say a word.")
    unseen = a_signal("FINGER", Status.FAIL, "unseen_first_token")
    moved = a_signal("FINGER", Status.FAIL, "facts_moved")
    seen = a_signal("FINGER", Status.PASS)
    skip = a_signal("FINGER", Status.SKIP)
    assert lanes(unseen, exchange=border)[Lane.FIRST_TOKEN] == 1
    assert lanes(seen, exchange=border)[Lane.FIRST_TOKEN] == 0
    assert lanes(moved)[Lane.FACTS] == 1
    assert lanes(seen)[Lane.FACTS] == 0
    assert {Lane.FIRST_TOKEN, Lane.FACTS}.isdisjoint(lanes(skip, exchange=border))
    assert lanes(unseen, exchange=border)[Lane.TOLERATED] == 0


def test_another_models_opinion_counts_in_its_own_lane_only() -> None:
    wrong = a_signal("JUDGE", Status.FAIL, "wrong")
    alone = lanes(wrong, probe="golden")
    assert (alone[Lane.JUDGE], alone[Lane.TOLERATED], alone[Lane.TREND]) == (1, 0, 0)
    both = lanes(wrong, a_signal("FACT", Status.FAIL, "missing"), probe="golden")
    assert (both[Lane.JUDGE], both[Lane.TOLERATED], both[Lane.TREND]) == (1, 1, 1)
    assert Lane.JUDGE not in lanes(a_signal("JUDGE", Status.SKIP), probe="golden")


def test_only_golden_and_canary_answers_make_a_trend_pooled_over_their_strata() -> None:
    trial = a_trial(an_exchange(), probe="canary")
    [trend] = [
        e
        for e in events(trial, verdict_of(trial, [judged(0, Outcome.GOOD)]))
        if e.key.lane is Lane.TREND
    ]
    assert trend.key == StreamKey(target="glm", lane=Lane.TREND)
    assert trend.probe == "canary"
    assert Lane.TREND not in lanes(probe="burst")


def test_scores_are_counted_by_lane() -> None:
    registry = CollectorRegistry()
    sink = StreamSink(PrometheusSink(registry, "prod"))
    trial = a_trial(an_exchange(), probe="canary")
    sink.deliver(trial, verdict_of(trial, [judged(0, Outcome.GOOD)]))
    bad = verdict_of(trial, [judged(0, Outcome.BAD)], a_signal("ONTOPIC", Status.FAIL, "wrong"))
    sink.deliver(trial, bad)
    sink.close()

    def count(lane: str, outcome: str) -> float | None:
        labels = {"env": "prod", "target": "glm", "probe": "canary"}
        return registry.get_sample_value(
            "davylamp_stream_scores_total", labels | {"lane": lane, "outcome": outcome}
        )

    assert (count("hard", "good"), count("hard", "bad")) == (2, 0)
    assert (count("trend", "good"), count("trend", "bad")) == (1, 1)
    assert count("judge", "good") is None


def test_age_counts_the_exchanges_of_a_target_until_it_starts_anew() -> None:
    ages, trial = Ages(), a_trial(an_exchange(), an_exchange(index=1))
    other = replace(trial, target="other")
    assert [ages.take(trial), ages.take(trial), ages.take(other)] == [0, 2, 0]
    ages.started("glm")
    assert [ages.take(trial), ages.take(other)] == [0, 2]


@pytest.mark.parametrize(
    ("lane", "fields", "y0"),
    [
        (Lane.HARD, {"healthy": (50, 100)}, 0.001),
        (Lane.TOLERATED, {}, 0.10),
        (Lane.TREND, {"tolerance": 0.30}, 0.30),
        (Lane.TOLERATED, {"objective_percent": 80.0}, 0.20),
        (Lane.FIRST_TOKEN, {"tolerance": 0.30}, 0.05),
        (Lane.FACTS, {}, 0.25),
        (Lane.TOLERATED, {"tolerance": 0.51}, None),
        (Lane.HARD, {"objective_percent": 100.0}, 0.0001),
    ],
)
def test_what_a_lane_may_fail_at(lane: Lane, fields: dict[str, object], y0: float | None) -> None:
    given = {"objective_percent": 99.9, "tolerance": 0.10} | fields
    assert y0_of(lane, **given) == (None if y0 is None else pytest.approx(y0))


def test_a_calibration_holds_a_lane_to_its_upper_bound_and_a_margin_never_to_its_mean() -> None:
    y0 = y0_of(Lane.TREND, objective_percent=99.9, tolerance=0.10, healthy=(10, 200))
    assert y0 is not None
    assert 0.10 < y0 < 0.11  # 5 % seen, 8.4 % at 95 % confidence, 2 % margin
    assert y0_of(Lane.TREND, objective_percent=99.9, tolerance=0.1, healthy=(100, 200)) is None


def tokens(*counts: int) -> FirstTokens:
    seen = tuple((f"word{number}", count) for number, count in enumerate(counts))
    return FirstTokens(border_input="Say a word.", seen=seen)


def test_tokens_that_came_once_say_how_often_a_healthy_one_is_new() -> None:
    assert unseen_when_healthy([tokens(8, 1, 1), tokens(5, 5), tokens(10)]) == (2, 20)
    assert unseen_when_healthy([tokens(10), tokens(10)]) == (0, 20)
    assert unseen_when_healthy([]) == (0, 0)
    few = unseen_when_healthy([tokens(8, 1, 1)] * 7)
    y0 = y0_of(Lane.FIRST_TOKEN, objective_percent=99.9, tolerance=0.1, healthy=few)
    assert y0 == pytest.approx(0.315, abs=1e-3)
    assert y0_of(Lane.FIRST_TOKEN, objective_percent=99.9, tolerance=0.1, healthy=(0, 0)) is None


def scores(rate: np.ndarray, streams: int, seed: int) -> np.ndarray:
    return (np.random.default_rng(seed).random((streams, len(rate))) < rate).astype(float)


def share_alarmed(rate: np.ndarray, ages: np.ndarray, streams: int = 100, seed: int = 1) -> float:
    scored = scores(rate, streams, seed)
    values = trend_values(DETECTOR, scored, np.broadcast_to(ages, scored.shape))
    return float((values >= THIRTY_DAYS).any(axis=1).mean())


@pytest.mark.parametrize(("amplitude", "most"), [(0.0, 0.0), (0.015, 0.01), (0.046, 0.05)])
def test_a_target_that_is_right_19_times_of_20_is_no_drift_on_good_and_on_bad_days(
    amplitude: float, most: float
) -> None:
    """10,000 answers, 288 of them a day. Stated are at most 23 %; the last comes near the limit."""
    instants = np.arange(10_000)
    rate = 0.05 + amplitude * np.sin(2 * np.pi * instants / 288)
    assert share_alarmed(rate, instants) <= most


def test_a_target_at_its_tolerance_alarms_no_more_often_than_stated() -> None:
    instants = np.arange(10_000)
    assert share_alarmed(np.full(10_000, 0.10), instants) <= 10_000 / THIRTY_DAYS


def test_a_decay_that_restarts_hide_is_seen_over_several_lives() -> None:
    """The last 20 of 120 are a quarter wrong: 8.3 % on the whole, within what is tolerated."""
    life = np.array([0.05] * 100 + [0.25] * 20)
    rate, ages = np.tile(life, 25), np.tile(np.arange(120), 25)
    assert rate.mean() < DETECTOR.y0
    assert share_alarmed(rate, ages) >= 0.95
    assert share_alarmed(rate, np.zeros_like(ages)) <= 0.6


def test_the_trend_of_many_is_that_of_one_and_survives_a_restart() -> None:
    trend, rng = Trend(detector=rate_detector(0.1, 1e30)), Random(3)
    scored = [float(rng.random() < 0.3) for _ in range(300)]
    ages = [number * 17 % 5000 for number in range(300)]
    state = trend.begin()
    for y, age in zip(scored, ages, strict=True):
        state, alarm = trend.step(state, y, age)
        assert alarm is None
        state = trend.restored(json.loads(json.dumps(state.plain())))
    many = trend_values(trend.detector, np.array([scored]), np.array([ages]))
    assert many[0, -1] == pytest.approx(trend.value(state))


def test_only_late_failures_are_laid_to_late_ages() -> None:
    trend = Trend(detector=DETECTOR)
    state, alarm = trend.begin(), None
    for _life in range(10):
        for age in range(120):
            late = age >= 100
            state, alarm = trend.step(state, float(late and age % 4 == 0), age)
            if alarm:
                break
        if alarm:
            break
    assert isinstance(alarm, TrendAlarm)
    assert alarm.ages == (100, 200)
    assert alarm.alarm.bad <= alarm.alarm.since
    found = StreamAlarm(
        key=StreamKey(target="glm", lane=Lane.TREND),
        model="glm-5.3",
        y0=0.1,
        alarm=Alarm(value=1e5, seen=400, since=40, bad=11.0),
        ages=alarm.ages,
    )
    assert decide_stream(found, verdict_id="v", now=NOW, checks_version="1").reason == (
        "outputs moved: 11 of the last 40 answers are wrong; 10.0% may be "
        "(of exchanges number 101 to 200 after a start)"
    )


def test_what_is_no_state_of_a_trend_is_refused() -> None:
    trend = Trend(detector=DETECTOR)
    good = trend.begin().plain()
    for change in ({"stretches": good["stretches"][1:]}, {"stretches": None}, {"whole": {}}):
        with pytest.raises(ValueError, match="state"):
            trend.restored(good | change)
    assert len(good["stretches"]) == len(ENDS) + 1


@pytest.mark.parametrize("lane", [Lane.HARD, Lane.TOLERATED, Lane.JUDGE])
def test_no_other_lane_says_drift(lane: Lane) -> None:
    found = StreamAlarm(
        key=StreamKey(target="glm", lane=lane),
        model="m",
        y0=0.1,
        alarm=Alarm(value=1.0, seen=1, since=1, bad=1.0),
    )
    with pytest.raises(ValueError, match="lane"):
        decide_stream(found, verdict_id="v", now=NOW, checks_version="1")


@pytest.mark.parametrize("varies", [0.1, 0.2])
def test_facts_that_vary_by_themselves_are_no_move(varies: float) -> None:
    # A prompt is scored while it seems settled; one that varies is then as often 1 as it varies.
    y0 = y0_of(Lane.FACTS, objective_percent=99.9, tolerance=0.1)
    assert y0 is not None
    rng = np.random.default_rng(11)
    scores = (rng.random((200, 1000)) < varies).astype(float)
    assert not any(first_alarms(rate_detector(y0, 9000.0), scores))
    everything = np.ones((1, 10))
    assert first_alarms(rate_detector(y0, 9000.0), everything)[0] <= 8
