"""The e-SR detector: its numbers, what it promises of false alarms, and when it says it began."""

from __future__ import annotations

import importlib.util
import json
import math
import os
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.detect.esr import (
    REMEMBERED,
    SCORE_BETS,
    Alarm,
    Detector,
    State,
    first_alarms,
    rate_bets,
    rate_detector,
    score_detector,
    values_over,
)

# Computed once with an independent implementation of the same formula, seeds as given.
VALUES = json.loads((Path(__file__).parent / "esr_values.json").read_text("utf-8"))
Y0 = st.floats(0.0005, 0.5)
# A file with that implementation (class ``ESR``), where there is one.
REFERENCE = os.environ.get("ESR_REFERENCE", "")


def zeros_and_ones(rate: float, streams: int, instants: int, seed: int) -> np.ndarray:
    return (np.random.default_rng(seed).random((streams, instants)) < rate).astype(float)


def follow(detector: Detector, scores) -> State:
    state = detector.begin()
    for y in scores:
        state = detector.follow(state, y)
    return state


@pytest.mark.parametrize("case", VALUES["rates"], ids=lambda case: str(case["y0"]))
def test_values_are_those_of_an_independent_implementation(case) -> None:
    detector = rate_detector(case["y0"], 1e9)
    assert detector.bets == pytest.approx(case["bets"])
    rng, state = Random(case["seed"]), detector.begin()
    for number in range(1, 1001):
        state = detector.follow(state, float(rng.random() < case["rate"]))
        if str(number) in case["values"]:
            assert detector.value(state) == pytest.approx(case["values"][str(number)])


def test_so_are_those_of_scores_between_0_and_1() -> None:
    case = VALUES["scores"]
    detector, rng = score_detector(case["y0"], 1e9), Random(case["seed"])
    state = detector.begin()
    for number in range(1, 1001):
        state = detector.follow(state, rng.random() * case["largest"])
        if str(number) in case["values"]:
            assert detector.value(state) == pytest.approx(case["values"][str(number)])


if REFERENCE:

    def test_the_reference_itself_agrees() -> None:
        spec = importlib.util.spec_from_file_location("esr_reference", REFERENCE)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for seed, y0 in enumerate((0.001, 0.01, 0.05, 0.1, 0.3, 0.45)):
            theirs, ours = module.ESR(y0, 1e12), rate_detector(y0, 1e12)
            rng, state = Random(seed), ours.begin()
            for _ in range(3000):
                y = float(rng.random() < 1.2 * y0)
                theirs.update(y)
                state = ours.follow(state, y)
            assert ours.value(state) == pytest.approx(theirs.value())


@given(y0=Y0)
def test_a_bet_gains_nothing_at_the_tolerated_rate_and_loses_below(y0: float) -> None:
    for bet in rate_bets(y0):
        won, lost = 1 + bet * (1 / y0 - 1), 1 - bet
        assert y0 * won + (1 - y0) * lost == pytest.approx(1)
        assert y0 / 2 * won + (1 - y0 / 2) * lost < 1


@given(y0=Y0, scores=st.lists(st.floats(0, 1), max_size=400))
def test_any_scores_leave_plain_finite_numbers_that_survive_a_restart(y0, scores) -> None:
    detector = rate_detector(y0, 1000)
    state = detector.begin()
    for y in scores:
        state, alarm = detector.step(state, y)
        assert all(0 <= value < math.inf for value in state.values)
        assert len(state.recent) <= REMEMBERED
        assert alarm is None or (alarm.value >= 1000 and state == detector.begin())
    kept = json.loads(json.dumps(state.plain()))
    assert detector.restored(kept) == state


@given(y0=Y0, scores=st.lists(st.floats(0, 1), min_size=1, max_size=60))
def test_many_streams_at_once_come_to_the_same(y0, scores) -> None:
    detector = rate_detector(y0, 1000)
    both = values_over(detector, np.array([scores, scores[::-1]]))
    assert both[0, -1] == pytest.approx(detector.value(follow(detector, scores)))
    assert both[1, -1] == pytest.approx(detector.value(follow(detector, scores[::-1])))


def test_an_instant_without_a_score_changes_nothing() -> None:
    detector = rate_detector(0.1, 1000)
    values = values_over(detector, np.array([[1.0, math.nan, 1.0], [1.0, 1.0, math.nan]]))
    assert values[0].tolist() == [values[1, 0], values[1, 0], values[1, 1]]


@pytest.mark.parametrize(("y0", "threshold"), [(0.02, 2000), (0.1, 500), (0.3, 200)])
def test_a_stream_at_its_tolerated_rate_alarms_no_sooner_than_promised(y0, threshold) -> None:
    """The mean time to a false alarm is at least the threshold; it comes to about twice that."""
    streams, instants = 300, 3 * threshold
    alarms = first_alarms(
        rate_detector(y0, threshold), zeros_and_ones(y0, streams, instants, seed=1)
    )
    waited = sum(alarm or instants for alarm in alarms)
    raised = sum(alarm > 0 for alarm in alarms)
    assert waited / raised >= threshold
    assert sum(0 < alarm <= threshold // 2 for alarm in alarms) / streams <= 0.5


def test_failures_that_hang_together_do_not_break_the_promise() -> None:
    """Whole runs of failures, as long as what is expected next stays within the tolerance."""
    y0, threshold, length = 0.1, 400, 4
    runs = np.repeat(zeros_and_ones(y0, 300, 300, seed=2), length, axis=1)
    # One score of each run counts, the others are within the tolerance whatever came before.
    runs[:, np.arange(runs.shape[1]) % length != 0] = y0
    alarms = first_alarms(rate_detector(y0, threshold), runs)
    assert sum(alarm > 0 for alarm in alarms) / 300 <= runs.shape[1] / threshold
    assert sum(0 < alarm <= threshold // 4 for alarm in alarms) / 300 <= 0.25


@pytest.mark.parametrize(("rate", "median"), [(0.06, 160), (0.15, 40), (0.5, 8), (1.0, 3)])
def test_after_a_long_healthy_time_a_move_is_seen_soon(rate: float, median: int) -> None:
    """First a tenth of the tolerated 1 %, then more; 43,200 scores between false alarms."""
    detector, before = rate_detector(0.01, 43_200), 2000
    scores = np.hstack(
        [
            zeros_and_ones(0.001, 200, before, seed=3),
            zeros_and_ones(rate, 200, 1500, seed=4),
        ]
    )
    alarms = np.array(first_alarms(detector, scores))
    assert (alarms > before).all()
    assert np.median(alarms - before) <= median


def test_the_onset_is_where_it_began_as_near_as_can_be_told() -> None:
    detector = rate_detector(0.05, 5000)
    rng, errors = np.random.default_rng(5), []
    for _ in range(100):
        state = follow(detector, (rng.random(300) < 0.02).astype(float))
        after, alarm = 0, None
        while alarm is None:
            state, alarm = detector.step(state, float(rng.random() < 0.5))
            after += 1
        assert alarm.bad <= alarm.since <= alarm.seen
        errors.append(abs(alarm.since - after))
    assert np.median(errors) <= 3
    assert np.quantile(errors, 0.9) <= 15


def test_an_alarm_counts_what_it_rests_on() -> None:
    detector = rate_detector(0.01, 43_200)
    state = follow(detector, [0.0] * 50)
    for _ in range(2):
        state, alarm = detector.step(state, 1.0)
        assert alarm is None
    state, alarm = detector.step(state, 1.0)
    assert alarm == Alarm(value=pytest.approx(alarm.value), seen=53, since=3, bad=3.0)
    assert state == detector.begin()


def test_what_is_no_detector_no_score_and_no_state_is_refused() -> None:
    detector = rate_detector(0.1, 100)
    for y in (-0.01, 1.01, math.nan):
        with pytest.raises(ValueError, match="score"):
            detector.step(detector.begin(), y)
    for y0 in (0.0, 0.51, math.nan):
        with pytest.raises(ValueError, match="rate"):
            rate_detector(y0, 100)
    for y0, threshold in ((0.1, 0.5), (0.1, math.inf), (1.0, 10)):
        with pytest.raises(ValueError, match="no such detector"):
            Detector(y0=y0, threshold=threshold, bets=SCORE_BETS)
    with pytest.raises(ValueError, match="bets"):
        Detector(y0=0.1, threshold=10, bets=())


def refused_states():
    bets = len(rate_bets(0.1))
    return (
        {"values": [0.0]},
        {"values": [-1.0] * bets},
        {"values": [math.nan] * bets},
        {"values": [1e300] * bets},
        {"values": [True] * bets},
        {"values": None},
        {"recent": [[2.0, 1]]},
        {"recent": [[0.0]]},
        {"recent": [[0.0, 0]]},
        {"recent": [[0.0, 1.5]]},
        {"recent": [[0.0, 1], [1.0, 1]] * REMEMBERED},
        {"recent": []},
        {"recent": [[0.0, 9]]},
        {"seen": -1},
        {"seen": math.inf},
        {"seen": "3"},
        {"more": 1},
    )


@pytest.mark.parametrize("change", refused_states(), ids=str)
def test_what_is_no_state_is_refused(change) -> None:
    detector = rate_detector(0.1, 100)
    good = follow(detector, [0.0, 1.0, 1.0]).plain()
    assert detector.restored(good) == follow(detector, [0.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="state"):
        detector.restored(good | change)
    with pytest.raises(ValueError, match="state"):
        detector.restored({key: good[key] for key in good if key not in change} | {"other": 1})


def test_no_answer_that_was_right_raises_an_alarm() -> None:
    """A stream that is always right levels off far above a small threshold; only a failure pages.

    Each alarm still found the value at the threshold or above, so that none is raised too often.
    """
    detector = rate_detector(0.001, 50)
    state = detector.begin()
    for _ in range(5000):
        state, alarm = detector.step(state, 0.0)
        assert alarm is None
    assert detector.value(state) > 3 * 50
    state, alarm = detector.step(state, 1.0)
    assert alarm.value > 50
    assert first_alarms(detector, np.array([[0.0] * 300 + [1.0]])) == [301]


def test_failures_are_remembered_over_thousands_of_right_answers() -> None:
    detector = rate_detector(0.001, 1e9)
    state = follow(detector, ([0.0] * 5000 + ([0.0] * 99 + [1.0]) * 12))
    assert detector.onset(state) == (1101, 12.0)
    assert len(json.dumps(state.plain())) < 1000


def each_outcome(detector: Detector, left: int, state: State, rate: float) -> float:
    """Return the expected number of alarms in so many scores, over all that may come."""
    if not left:
        return 0.0
    expected = 0.0
    for y, chance in ((1.0, rate), (0.0, 1 - rate)):
        after, alarm = detector.step(state, y)
        expected += chance * ((alarm is not None) + each_outcome(detector, left - 1, after, rate))
    return expected


@pytest.mark.parametrize("y0", [0.02, 0.1, 0.3, 0.5])
@pytest.mark.parametrize("threshold", [1, 2, 5, 20])
def test_the_promise_holds_exactly_over_all_that_may_come(y0: float, threshold: float) -> None:
    """All 512 ways that 9 scores may come at the tolerated rate, each with its chance."""
    detector = rate_detector(y0, threshold)
    for rate in (y0, y0 / 3):
        expected = each_outcome(detector, 9, detector.begin(), rate)
        assert 0 < expected <= 9 / threshold
