"""How soon each rule pages, where all page for nothing equally often."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from monitor.detect.power import scores_to_detect
from monitor.detect.thresholds import FALSE_PAGES, Share, thresholds
from tests.bench.detect.evidence import alarms, first_places
from tests.bench.detect.failures import Floats, drawn, then
from tests.bench.detect.rivals import (
    AS_PUBLISHED,
    DAY,
    RULES,
    Matched,
    delays,
    episodes,
    expected,
    latency_delays,
    latency_level,
    matched,
)

STREAMS = 100
RATES = (0.001, 0.01, 0.03, 0.15, 0.5, 1.0)
TOLERANCES = (0.0001, 0.001, 0.02)
WEEK, HORIZON = 7 * DAY, 90 * DAY
OURS, BLIND = "e-SR", "status and latency"
NAMES = (OURS, *RULES, BLIND)


@dataclass(frozen=True)
class Delay:
    """How many scores of a fault it takes until a page, at the median and in nine of ten runs."""

    rule: str
    y0: float
    rate: float
    median: float
    most: float
    # The share of runs in which it paged at all within the horizon.
    paged: float
    horizon: int
    # Within how many scores nine of ten are proven to page; only for ours.
    proven: int | None = None


@dataclass(frozen=True)
class FalseAlarms:
    """False pages of a rule in 90 days of 100 streams, at its tolerance and at a tenth of it."""

    rule: str
    y0: float
    at_tolerance: float
    healthy: float
    # How many were counted, or expected of mixed levels, at the tolerance.
    alarms: float
    level: str
    # The same at the level that is published, for rules that have one.
    published: float | None = None


def fleet_threshold(a_day: float = DAY) -> float:
    """Return the threshold of one of a hundred equal streams with so many scores a day."""
    fleet = dict.fromkeys(range(STREAMS), Share(weight=1, scores_per_day=a_day))
    found = thresholds(fleet, FALSE_PAGES)[0]
    assert found is not None
    return found


@dataclass(frozen=True)
class Setting:
    """One tolerance, with each rule at the level at which it is matched."""

    y0: float
    false_alarms: tuple[FalseAlarms, ...]
    delays: tuple[Delay, ...]


def measure(y0: float, scale: float, seed: int) -> Setting:
    """Match all rules at one tolerance, and let them wait for faults of each rate."""
    rng, threshold = np.random.default_rng(seed), fleet_threshold()
    # Some fifty false alarms of ours.
    length = max(200_000, int(scale * 3 * 45 * threshold))
    null, healthy = (drawn(rate, 1000, length // 1000, rng) for rate in (y0, y0 / 10))
    period = STREAMS * HORIZON
    target = len(alarms(null, y0, threshold)[0])
    calm = len(alarms(healthy, y0, threshold)[0])
    periods = length / period
    told = [
        FalseAlarms(
            OURS, y0, target / periods, calm / periods, target, f"threshold {threshold:,.0f}"
        )
    ]
    levels = {}
    for name, (rule, choice) in RULES.items():
        at = levels[name] = matched(rule, choice(y0), null, y0, target)
        published = episodes(null, rule(null, y0, AS_PUBLISHED[name](y0)))
        told.append(
            FalseAlarms(
                name,
                y0,
                at.false_alarms / periods,
                expected(rule, at, healthy, y0) / periods,
                at.false_alarms,
                _level(name, at),
                published / periods,
            )
        )
    sigma = latency_level(max(1, target) / length, rng, max(50_000, int(scale * 20_000_000)))
    told.append(
        FalseAlarms(BLIND, y0, target / periods, target / periods, target, f"{sigma:.1f} sigma")
    )
    found = []
    for rate in RATES:
        found.extend(_at_rate(y0, rate, threshold, levels, sigma, (scale, rng)))
    return Setting(y0, tuple(told), tuple(found))


def _level(name: str, at: Matched) -> str:
    levels = (at.looser, at.stricter)
    if name == "burn rates":
        loose, strict = (f"{level * 14.4:,.0f} and {level * 6:,.0f}" for level in levels)
    elif name == "peeking":
        loose, strict = (f"{level:.0f} of {DAY}" for level in levels)
    else:
        loose, strict = (f"{level:.1f} sigma" for level in levels)
    return strict if at.share == 1 else f"{loose}, or {strict} in {at.share:.0%} of runs"


def _at_rate(y0: float, rate: float, threshold: float, levels, sigma, rest) -> Iterator[Delay]:
    scale, rng = rest
    runs = max(20, int(scale * 1000))
    horizon = min(HORIZON, max(3000, int(400 / rate)))
    before = drawn(y0 / 10, runs, WEEK, rng)
    failures = then(before, drawn(rate, runs, horizon, rng))
    ours = first_places(failures, *alarms(failures, y0, threshold), after=WEEK) - WEEK
    yield _delay(OURS, y0, rate, ours, horizon, scores_to_detect(rate, y0, threshold, 0.9))
    for name, (rule, _) in RULES.items():
        waited = delays(rule, levels[name], failures, y0, WEEK, rng)
        yield _delay(name, y0, rate, waited, horizon)
    blind = latency_delays(sigma, min(runs, 200), min(horizon, 8640), rng)
    yield _delay(BLIND, y0, rate, blind, min(horizon, 8640))


def _delay(
    name: str, y0: float, rate: float, waited: Floats, horizon: int, proven: int | None = None
) -> Delay:
    median, most = np.quantile(waited, [0.5, 0.9], method="higher")
    paged = float(np.isfinite(waited).mean())
    return Delay(name, y0, rate, float(median), float(most), paged, horizon, proven)
