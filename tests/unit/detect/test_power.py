"""What a detector sees for sure: never more than it does see, whatever came before."""

from __future__ import annotations

import math
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.detect.esr import first_alarms, rate_bets, rate_detector
from monitor.detect.power import failures_enough, least_detectable, scores_to_detect


@given(
    y0=st.sampled_from([0.001, 0.01, 0.1, 0.4]),
    threshold=st.floats(10, 1e7),
    scores=st.integers(1, 150),
    seed=st.integers(0, 10**6),
)
def test_so_many_failures_alarm_in_any_order_after_any_past(y0, threshold, scores, seed) -> None:
    enough, detector, rng = (
        failures_enough(y0, threshold, scores),
        rate_detector(y0, threshold),
        (Random(seed)),
    )
    if enough is None:
        win = [1 + bet * (1 / y0 - 1) for bet in rate_bets(y0)]
        assert math.fsum(each**scores for each in win) / len(win) < threshold
        return
    state = detector.begin()
    for _ in range(rng.randrange(60)):
        state, _ = detector.step(state, float(rng.random() < y0))
    order = [1.0] * enough + [0.0] * (scores - enough)
    rng.shuffle(order)
    alarms = 0
    for y in order:
        state, alarm = detector.step(state, y)
        alarms += alarm is not None
    assert alarms


@pytest.mark.parametrize(("y0", "threshold"), [(0.01, 43_200), (0.001, 2_592_000), (0.2, 5000)])
def test_more_scores_show_rarer_faults_and_higher_thresholds_hide_them(y0, threshold) -> None:
    rates = [least_detectable(y0, threshold, scores) for scores in (20, 100, 500, 2500)]
    assert all(a > b > y0 for a, b in pairwise(rates) if a is not None)
    assert least_detectable(y0, threshold * 100, 500) > rates[2]
    assert least_detectable(y0, threshold, 500, 0.5) < rates[2]


@pytest.mark.parametrize(("y0", "threshold", "scores"), [(0.01, 43_200, 400), (0.1, 5000, 200)])
def test_such_a_fault_is_seen_at_least_as_often_as_it_says(y0, threshold, scores) -> None:
    """On streams that begin with it: a healthy past makes it only easier."""
    for chance in (0.5, 0.95):
        rate = least_detectable(y0, threshold, scores, chance)
        faulty = (np.random.default_rng(1).random((1500, scores)) < rate).astype(float)
        seen = sum(alarm > 0 for alarm in first_alarms(rate_detector(y0, threshold), faulty))
        assert seen / 1500 >= chance


@pytest.mark.parametrize("rate", [0.03, 0.15, 0.5, 1.0])
def test_how_long_a_fault_takes_at_most_is_the_other_way_round(rate: float) -> None:
    scores = scores_to_detect(rate, 0.01, 43_200)
    assert least_detectable(0.01, 43_200, scores) <= rate
    before = least_detectable(0.01, 43_200, scores - 1)
    assert before is None or before > rate


def test_what_is_tolerated_and_what_cannot_alarm_is_never_seen() -> None:
    assert scores_to_detect(0.01, 0.01, 100) is None
    assert scores_to_detect(0.001, 0.01, 100) is None
    assert scores_to_detect(0.0101, 0.01, 1e6) is None
    assert failures_enough(0.4, 1e6, 3) is None
    assert least_detectable(0.4, 1e6, 3) is None
    assert failures_enough(0.001, 1, 1) == 1
