"""A tiny run of ``make bench-detect``: its short cuts against the product, and what it writes."""

from __future__ import annotations

import math
import pickle
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from monitor.detect.esr import rate_detector
from monitor.detect.thresholds import FALSE_PAGES, FALSE_TICKETS
from monitor.detect.watch import Thresholds, begin, step
from tests.bench.detect import (
    alarms_over,
    coverage,
    delays,
    fleets,
    many,
    repeats,
    scores,
    speed,
    two_sample,
)
from tests.bench.detect.evidence import alarms, first_places
from tests.bench.detect.failures import drawn, in_bursts, then
from tests.bench.detect.numbers import Number, median, rate, share
from tests.bench.detect.page import page
from tests.bench.detect.picture import picture
from tests.bench.detect.results import Results, parts
from tests.bench.detect.rivals import DAY, burn_rates, episodes, matched, peeking

TINY = 0.0025


def dense(failures) -> np.ndarray:
    table = np.zeros((failures.streams, failures.length))
    table[failures.stream, failures.place - 1] = 1
    return table


@pytest.mark.parametrize(("y0", "threshold"), [(0.01, 500.0), (0.2, 60.0)])
def test_going_from_failure_to_failure_raises_the_product_s_alarms(y0, threshold) -> None:
    failures = drawn(2 * y0, 4, 1200, np.random.default_rng(1))
    found = sorted(zip(*(each.tolist() for each in alarms(failures, y0, threshold)), strict=True))
    detector, expected, watched = rate_detector(y0, threshold), [], []
    for stream, row in enumerate(dense(failures)):
        state, watch = detector.begin(), begin(y0, Thresholds(page=threshold))
        for place, y in enumerate(row, start=1):
            state, alarm = detector.step(state, y)
            before, watch = watch.pages, step(watch, bool(y), y0)
            expected += [(stream, place)] * (alarm is not None)
            # An alarm that is over begins anew, which the detector by itself does not.
            watched += [(stream, place)] * (watch.pages > before)
    assert found == expected
    assert len(found) > 4
    assert watched[0] == expected[0]


def test_windows_are_counted_as_they_would_be_one_by_one() -> None:
    failures = drawn(0.05, 5, 700, np.random.default_rng(2))
    table = dense(failures)
    for window in (1, 12, 288):
        counts = [
            table[stream, max(0, place - window) : place].sum()
            for stream, place in zip(failures.stream, failures.place, strict=True)
        ]
        assert failures.in_last(window).tolist() == counts
    assert failures.so_far().max() == table.sum(axis=1).max()
    fires = burn_rates(failures, 0.01, 1.0)
    for stream, place, fired in zip(failures.stream, failures.place, fires, strict=True):
        burn = {
            n: table[stream, max(0, place - n) : place].sum() / n / 0.01 for n in (1, 6, 12, 72)
        }
        slow = burn[72] >= 6 and burn[6] >= 6
        assert fired == ((burn[12] >= 14.4 and burn[1] >= 14.4) or slow)


def test_streams_fail_as_often_as_they_are_meant_to() -> None:
    rng = np.random.default_rng(3)
    for failures, meant in (
        (drawn(0.01, 50, 20_000, rng), 0.01),
        (drawn(lambda at: np.where(at > 10_000, 0.02, 0.0), 50, 20_000, rng, most=0.02), 0.01),
        (in_bursts(0.01, 3, 50, 20_000, rng), 0.01),
        (then(drawn(0.001, 50, 10_000, rng), drawn(0.019, 50, 10_000, rng)), 0.01),
    ):
        assert len(failures.place) / failures.scores == pytest.approx(meant, rel=0.1)
        assert (failures.place >= 1).all()
        assert (failures.place <= failures.length).all()
        assert (np.diff(failures.line) > 0).all()
    late = drawn(lambda at: np.where(at > 10_000, 0.02, 0.0), 50, 20_000, rng, most=0.02)
    assert (late.place > 10_000).all()


def test_a_rule_is_matched_by_using_two_levels_in_turns() -> None:
    null = drawn(0.01, 50, 20_000, np.random.default_rng(4))
    levels = np.arange(1.0, 30.0)
    counts = [episodes(null, peeking(null, 0.01, level)) for level in levels]
    target = (counts[8] + counts[9]) / 2
    at = matched(peeking, levels, null, 0.01, target)
    assert (at.looser, at.stricter) == (levels[8], levels[9])
    assert at.share == pytest.approx(0.5)
    assert at.false_alarms == pytest.approx(target)


def test_a_number_agrees_within_its_error_and_not_beyond() -> None:
    assert share("", 0.5, 48, 100).agrees
    assert not share("", 0.9, 48, 100).agrees
    assert not Number("", 14.4, 14.5, digits=1).agrees
    assert Number("", 14.4, 14.4000001, digits=1).agrees
    assert rate("", 42.4, 4100, 100).agrees
    assert not rate("", 42.4, 3100, 100).agrees
    waited = np.random.default_rng(5).exponential(100, 400)
    assert median("", 70, waited).agrees
    assert not median("", 140, waited).agrees
    assert median("", 3, np.full(50, 3.0)).error == 0.5


@pytest.fixture(scope="module")
def results() -> Results:
    arithmetic = [each for each in repeats.arithmetic() if "alarm" not in each.about]
    return Results(
        fleets=fleets.measure(TINY, 1),
        uncorrected=fleets.uncorrected(TINY, 1),
        settings=[delays.measure(y0, TINY, 1) for y0 in delays.TOLERANCES],
        over=alarms_over.measure(TINY, 1),
        coverage=coverage.measure(TINY, 1),
        numbers=[
            *arithmetic,
            *many.rows(TINY, 1),
            *scores.rows(TINY, 1),
            *two_sample.rows(TINY, 1),
        ],
        speed=speed.measure(TINY, 1),
    )


def test_healthy_fleets_cost_what_they_may(results: Results) -> None:
    allowed = {(row.tier, row.days): row.allowed for row in results.fleets}
    assert allowed["page", 30] == pytest.approx(30 / FALSE_PAGES.days)
    assert allowed["ticket", 30] == pytest.approx(30 / FALSE_TICKETS.days)
    kept = [row for row in results.fleets if row.kept]
    broken = [row for row in results.fleets if not row.kept]
    assert sum(row.alarms for row in kept) <= sum(row.allowed for row in kept)
    assert all(row.alarms > 3 * row.allowed for row in broken)


def test_a_total_failure_pages_at_once_and_status_codes_see_nothing(results: Results) -> None:
    for setting in results.settings:
        by = {(each.rule, each.rate): each for each in setting.delays}
        assert by[delays.OURS, 1.0].most <= 6
        assert by[delays.OURS, 1.0].most <= by[delays.OURS, 1.0].proven
        assert by[delays.BLIND, 1.0].paged <= 0.1
        for each in setting.delays:
            if each.rate <= setting.y0 / 2 and each.rule != delays.BLIND:
                assert each.paged <= 0.05
    rare = {(each.rule, each.rate): each for each in results.settings[0].delays}
    assert rare[delays.OURS, 0.001].median < rare["burn rates", 0.001].median


def test_bounds_that_were_made_for_looking_are_the_ones_that_bear_it(results: Results) -> None:
    for row in results.coverage:
        assert row.sequence <= 0.05 * row.streams + 3 * (0.05 * row.streams) ** 0.5
    assert sum(row.fixed for row in results.coverage) > sum(
        2 * row.sequence for row in results.coverage
    )


def test_the_page_and_the_picture_hold_what_was_found(results: Results) -> None:
    text = page(results, "Measured somewhere.")
    for name in delays.NAMES:
        assert f"| {name} |" in text or f"| **{name}** |" in text
    for null in fleets.NULLS:
        assert null.name in text
    assert not any(word in text for word in ("nan", "inf ", "None"))
    root = ET.fromstring(picture(results.settings))
    words = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert set(delays.NAMES) <= set(words)
    circles = len(list(root.iter("{http://www.w3.org/2000/svg}circle")))
    rules = len(delays.NAMES)
    assert circles == len(delays.TOLERANCES) * len(delays.RATES) * (rules - 1) + rules - 1


def test_every_part_can_be_sent_to_another_process() -> None:
    assert all(pickle.dumps(part) for part in parts(TINY).values())


def test_first_places_are_those_after_the_onset() -> None:
    failures = drawn(0.5, 3, 100, np.random.default_rng(6))
    streams, places = np.array([0, 0, 1]), np.array([5, 60, 20])
    assert first_places(failures, streams, places).tolist() == [5, 20, math.inf]
    assert first_places(failures, streams, places, after=30).tolist() == [60, math.inf, math.inf]
    assert DAY == 288
