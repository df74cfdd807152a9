"""Numbers of the design study on a hundred streams: what correcting for them costs and buys."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from monitor.detect.esr import rate_bets
from tests.bench.detect.evidence import alarms, first_places
from tests.bench.detect.failures import Floats, drawn, then
from tests.bench.detect.numbers import Number, median, rate

STREAMS, MONTH, FAILING = 100, 8640, 0.15
HEALTHY = 2000
# The study does not give the tolerance: its counts fit the larger, its delays the smaller.
TOLERANCES = (0.01, 0.001)


def rows(scale: float, seed: int) -> Iterator[Number]:
    """Work them all out."""
    rng = np.random.default_rng(seed)
    fleets, runs = max(2, int(scale * 100)), max(20, int(scale * 1000))
    for y0 in TOLERANCES:
        null = drawn(y0, STREAMS * fleets, MONTH, rng)
        failures = then(drawn(y0 / 10, runs, HEALTHY, rng), drawn(FAILING, runs, 2000, rng))
        for name, threshold, pages, delay in (
            ("uncorrected", float(MONTH), 42.4, 13),
            ("shared out", float(MONTH * STREAMS), 0.58, 20),
        ):
            raised = len(alarms(null, y0, threshold)[0])
            about = f"100 streams at y0 {y0:.1%}, {name}: false pages in 30 days"
            note = "y0 not given"
            yield rate(about, pages, raised, fleets, note)
            found = alarms(failures, y0, threshold)
            waited = first_places(failures, *found, after=HEALTHY) - HEALTHY
            about = f"{name}, y0 {y0:.1%}: scores until a page at 15 %"
            yield median(about, delay, waited, note)
        yield from _benjamini_hochberg(y0, max(1, int(scale * 20)), rng)


def _benjamini_hochberg(y0: float, fleets: int, rng: np.random.Generator) -> Iterator[Number]:
    """Alarm the k largest if the k-th is at least 1/k of the corrected threshold (e-BH)."""
    about = f"e-BH, 100 streams at y0 {y0:.1%}: false pages in 30 days"
    # Who only looks if it works has a day for a month.
    length = MONTH if fleets > 1 else MONTH // 30
    raised, _ = _fleet_alarms(y0, np.full(STREAMS, y0), fleets, length, rng)
    yield rate(about, 0.58, int(raised), fleets * length / MONTH, "y0 not given")
    rates = np.full(STREAMS, y0 / 10)
    rates[:10] = FAILING
    _, waited = _fleet_alarms(y0, rates, fleets * 3, 400, rng, healthy=HEALTHY)
    yield median(f"e-BH, ten of 100 fail, y0 {y0:.1%}: scores until a page", 18, waited, "the same")


def _fleet_alarms(
    y0: float,
    rates: Floats,
    fleets: int,
    length: int,
    rng: np.random.Generator,
    *,
    healthy: int = 0,
) -> tuple[float, Floats]:
    bets = np.asarray(rate_bets(y0))
    lose, win = 1 - bets, 1 + bets * (1 / y0 - 1)
    rest = lose / (1 - lose)
    # After a healthy time the values are those at rest.
    values = np.broadcast_to(rest if healthy else 0 * rest, (fleets, STREAMS, len(bets))).copy()
    limits = STREAMS * MONTH / np.arange(1, STREAMS + 1)
    raised, waited = 0, np.full((fleets, STREAMS), np.inf)
    for place in range(1, length + 1):
        failed = rng.random((fleets, STREAMS)) < rates
        values = (values + 1) * np.where(failed[:, :, None], win, lose)
        means = values.mean(axis=2)
        ordered = -np.sort(-means, axis=1)
        reached = ordered >= limits
        if not reached.any():
            continue
        most = STREAMS - reached[:, ::-1].argmax(axis=1)
        smallest = np.take_along_axis(ordered, (most - 1)[:, None], axis=1)
        alarmed = reached.any(axis=1)[:, None] & (means >= smallest)
        raised += int(alarmed.sum())
        waited[alarmed] = np.minimum(waited[alarmed], place)
        values[alarmed] = 0
    return raised, waited[:, :10].ravel()
