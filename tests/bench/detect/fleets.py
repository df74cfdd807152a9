"""False pages and tickets of a hundred streams, against what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from monitor.detect.thresholds import (
    FALSE_PAGES,
    FALSE_TICKETS,
    Allowance,
    Share,
    most_false_alarms,
    thresholds,
)
from tests.bench.detect.evidence import alarms
from tests.bench.detect.failures import Failures, Floats, Ints, drawn, in_bursts
from tests.bench.detect.rivals import DAY

# Twenty streams of each, a tenth of them five times as important, some asked six times as often.
TOLERANCES = (0.0001, 0.001, 0.01, 0.05, 0.1)
STREAMS_EACH = 20
RATES = (48, 288)
WEIGHTS = (1, 1, 1, 1, 1, 1, 1, 1, 1, 5)

Draw = Callable[[float, int, int, np.random.Generator], Failures]


def at_tolerance(y0: float, streams: int, length: int, rng: np.random.Generator) -> Failures:
    """Every stream fails as often as it may."""
    return drawn(y0, streams, length, rng)


def at_a_tenth(y0: float, streams: int, length: int, rng: np.random.Generator) -> Failures:
    """Every stream fails a tenth as often."""
    return drawn(y0 / 10, streams, length, rng)


def daily_up_to(y0: float, streams: int, length: int, rng: np.random.Generator) -> Failures:
    """A daily cycle from nothing to the tolerance."""
    return drawn(lambda at: y0 * _cycle(at), streams, length, rng, most=y0)


def daily_around(y0: float, streams: int, length: int, rng: np.random.Generator) -> Failures:
    """A daily cycle from nothing to twice the tolerance: above it half of the time."""
    return drawn(lambda at: 2 * y0 * _cycle(at), streams, length, rng, most=2 * y0)


def _cycle(at: Ints) -> Floats:
    return (1 + np.sin(2 * np.pi * at / DAY)) / 2


def bursts(y0: float, streams: int, length: int, rng: np.random.Generator) -> Failures:
    """As often as it may be in the long run, but in runs of three on average."""
    return in_bursts(y0, 3, streams, length, rng)


@dataclass(frozen=True)
class Null:
    """A way to be healthy; ``kept`` if it is never above the tolerance in view of the past."""

    name: str
    draw: Draw
    kept: bool


NULLS = (
    Null("every stream at its tolerance", at_tolerance, kept=True),
    Null("every stream at a tenth of it", at_a_tenth, kept=True),
    Null("a daily cycle from 0 to the tolerance", daily_up_to, kept=True),
    Null("a daily cycle from 0 to twice the tolerance", daily_around, kept=False),
    Null("at the tolerance, in bursts of three", bursts, kept=False),
)


@dataclass(frozen=True)
class Counted:
    """How many false alarms ``fleets`` fleets raised in ``days`` each, and how many are allowed."""

    null: str
    kept: bool
    tier: str
    days: int
    fleets: int
    alarms: int
    allowed: float


def count(null: Null, days: int, fleets: int, seed: int) -> list[Counted]:
    """Count pages and tickets of so many fleets over so many days."""
    rng = np.random.default_rng(seed)
    shares = {
        (y0, number): Share(
            weight=WEIGHTS[number % len(WEIGHTS)], scores_per_day=RATES[number % len(RATES)]
        )
        for y0 in TOLERANCES
        for number in range(STREAMS_EACH)
    }
    tiers: dict[str, Allowance] = {"page": FALSE_PAGES, "ticket": FALSE_TICKETS}
    limits = {tier: thresholds(shares, allowance) for tier, allowance in tiers.items()}
    found = dict.fromkeys(tiers, 0)
    for y0 in TOLERANCES:
        for rate in RATES:
            kinds = [n for n in range(STREAMS_EACH) if shares[y0, n].scores_per_day == rate]
            failures = null.draw(y0, len(kinds) * fleets, rate * days, rng)
            for tier in tiers:
                each = np.tile([limits[tier][y0, n] for n in kinds], fleets)
                found[tier] += len(alarms(failures, y0, each)[0])
    return [
        Counted(
            null=null.name,
            kept=null.kept,
            tier=tier,
            days=days,
            fleets=fleets,
            alarms=found[tier],
            allowed=most_false_alarms(
                (share.scores_per_day * days, limits[tier][key]) for key, share in shares.items()
            ),
        )
        for tier in tiers
    ]


def measure(scale: float, seed: int) -> list[Counted]:
    """Count over 30 days and over a year."""
    rows = []
    for null in NULLS:
        for days, fleets in ((30, 400), (360, 40)):
            if scale * fleets >= 1:
                rows.extend(count(null, days, int(scale * fleets), seed))
    return rows


def uncorrected(scale: float, seed: int) -> tuple[float, float]:
    """Return the false pages of 90 days if each stream is given the whole allowance.

    And by how much they are rarer if it is shared out.
    """
    rng, fleets, total, kept = np.random.default_rng(seed), max(1, int(scale * 60)), 0, 0
    for y0 in TOLERANCES:
        failures = drawn(y0, STREAMS_EACH * fleets, DAY * 90, rng)
        total += len(alarms(failures, y0, 90.0 * DAY)[0])
        kept += len(alarms(failures, y0, 90.0 * DAY * STREAMS_EACH * len(TOLERANCES))[0])
    return total / fleets, total / max(1, kept)
