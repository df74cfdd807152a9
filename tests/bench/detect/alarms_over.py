"""What becomes of an alarm: where it says it began, if it stays while it must, and when it is over.

By the product's own watch, a score at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np

from monitor.detect.watch import Thresholds, Watch, begin, step
from tests.bench.detect.delays import fleet_threshold

RATES = (0.03, 0.15, 0.5, 1.0)
TOLERANCES = (0.001, 0.02)
HEALTHY = 1000


@dataclass(frozen=True)
class Over:
    """Of ``runs`` faults of one rate: onset, false resolutions and how long it took afterwards."""

    y0: float
    rate: float
    runs: int
    onset_median: float
    onset_most: float
    # Resolved while the fault went on, and after how many failures that was looked for.
    resolved: int
    failures: int
    needed: float
    over_median: float
    over_most: float


def measure(scale: float, seed: int) -> list[Over]:
    """Follow faults of each rate at each tolerance."""
    runs, going_on = max(1, int(scale * 60)), max(50, int(scale * 6000))
    return [_follow(y0, rate, runs, going_on, Random(seed)) for y0 in TOLERANCES for rate in RATES]


def _follow(y0: float, rate: float, runs: int, going_on: int, rng: Random) -> Over:
    errors, needed, over, resolved, failures = [], [], [], 0, 0
    for _ in range(runs):
        watch = begin(y0, Thresholds(page=fleet_threshold()))
        watch = _scores(watch, y0 / 10, HEALTHY, rng)
        onset = watch.scored + 1
        while watch.alarm is None:
            watch = _scores(watch, rate, 1, rng)
        errors.append(abs(watch.alarm.began - onset))
        needed.append(watch.clean_needed)
        for _ in range(going_on):
            failed = rng.random() < rate
            latched, watch = watch.alarm is not None, step(watch, failed, y0)
            failures += failed
            resolved += latched and watch.alarm is None
        while watch.alarm is None:
            watch = _scores(watch, rate, 1, rng)
        mended = watch.scored
        while watch.alarm is not None:
            watch = _scores(watch, y0 / 10, 1, rng)
        over.append(watch.scored - mended)
    onset_median, onset_most = np.quantile(errors, [0.5, 0.9])
    over_median, over_most = np.quantile(over, [0.5, 0.9])
    return Over(
        y0=y0,
        rate=rate,
        runs=runs,
        onset_median=float(onset_median),
        onset_most=float(onset_most),
        resolved=resolved,
        failures=failures,
        needed=float(np.median(needed)),
        over_median=float(over_median),
        over_most=float(over_most),
    )


def _scores(watch: Watch, rate: float, many: int, rng: Random) -> Watch:
    for _ in range(many):
        watch = step(watch, rng.random() < rate, watch.y0)
    return watch
