"""Numbers of the design study on scores between 0 and 1, such as one less a similarity.

The study does not say how its scores were distributed. A Beta with mean 0.1 and standard deviation
0.07 is the simplest that fits its delays; a score a minute, 30 days, threshold 43,200.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from monitor.detect.esr import SCORE_BETS
from tests.bench.detect.failures import Floats
from tests.bench.detect.numbers import Number, median, share

MEAN, SPREAD, THRESHOLD = 0.1, 0.07, 43_200.0
MONTH, DAY = 43_200, 1440
# The daily cycle measured for a public service, in accuracy.
AMPLITUDE = 0.0146


def beta(mean: float, size: tuple[int, int], rng: np.random.Generator) -> Floats:
    """Draw scores with this mean and the same spread."""
    total = mean * (1 - mean) / SPREAD**2 - 1
    return rng.beta(mean * total, (1 - mean) * total, size)


@dataclass
class Esr:
    """The detector of many streams at once, fed a block of scores at a time."""

    y0: float
    values: Floats

    @classmethod
    def of(cls, y0: float, streams: int) -> Esr:
        """Begin so many streams."""
        return cls(y0, np.zeros((streams, len(SCORE_BETS))))

    def feed(self, block: Floats) -> Floats:
        """Take a row a stream; return its largest value on the way."""
        bets, largest = np.asarray(SCORE_BETS), np.zeros(len(block))
        for y in block.T:
            self.values = (1 + bets * (y[:, None] / self.y0 - 1)) * (self.values + 1)
            largest = np.maximum(largest, self.values.mean(axis=1))
        return largest


def rows(scale: float, seed: int) -> Iterator[Number]:
    """Work them all out."""
    rng = np.random.default_rng(seed)
    runs = max(5, int(scale * 200))
    days = max(1, int(min(1.0, scale * 5) * 30))
    yield from _margins(runs, days, rng)
    yield from _others(runs, days, rng)


def _margins(runs: int, days: int, rng: np.random.Generator) -> Iterator[Number]:
    cases = {
        "its true mean, iid": (0.0, 0.0, 0.52),
        "its true mean, daily cycle": (0.0, AMPLITUDE, 1.0),
        "a point more, daily cycle": (0.01, AMPLITUDE, 0.48),
        "two points more, daily cycle": (0.02, AMPLITUDE, 0.0),
    }
    detectors = {name: Esr.of(MEAN + margin, runs) for name, (margin, _, _) in cases.items()}
    raised = {name: np.zeros(runs, dtype=bool) for name in cases}
    cycle = np.sin(2 * np.pi * np.arange(DAY) / DAY)
    for _ in range(days):
        flat = beta(MEAN, (runs, DAY), rng)
        moved = np.clip(flat + AMPLITUDE * cycle, 0, 1)
        for name, (_, amplitude, _) in cases.items():
            block = moved if amplitude else flat
            raised[name] |= detectors[name].feed(block) >= THRESHOLD
    for name, (_, _, theirs) in cases.items():
        about = f"scores held to {name}: false alarm in 30 days"
        yield share(about, theirs, int(raised[name].sum()), runs)
    for margin, theirs in ((0.0, 39), (0.02, 101)):
        about = f"scores held to their mean and {margin:.2f} more: scores until a drop by 0.05"
        yield median(about, theirs, _waited(MEAN + margin, 0.05, runs, rng))
    about = "scores held to their mean and 0.01 more: scores until a drop by 0.1"
    yield median(about, 23, _waited(MEAN + 0.01, 0.1, runs, rng))


def _waited(y0: float, drop: float, runs: int, rng: np.random.Generator) -> Floats:
    """Return the delay after a healthy day."""
    detector, waited = Esr.of(y0, runs), np.full(runs, np.inf)
    detector.feed(beta(MEAN, (runs, DAY), rng))
    for number, y in enumerate(beta(MEAN + drop, (runs, 2000), rng).T, start=1):
        over = detector.feed(y[:, None]) >= THRESHOLD
        waited = np.where(over, np.minimum(waited, number), waited)
        if np.isfinite(waited).all():
            break
    return waited


def _others(runs: int, days: int, rng: np.random.Generator) -> Iterator[Number]:
    """What is usual: 3 sigma, a CUSUM and an average of Gaussian scores, Page and Hinkley's."""
    raised = dict.fromkeys(("3 sigma", "CUSUM(0.5, 5)", "EWMA(0.05, 3)"), 0)
    for z in _healthy(runs, days, rng):
        for name, over in _charts(z).items():
            raised[name] += bool(over.any())
    for name, hits in raised.items():
        yield share(f"{name} on the same scores: false alarm in 30 days", 1.0, hits, runs)
    waited = []
    for _ in range(runs):
        z = (beta(MEAN + 0.1, (1, 500), rng)[0] - MEAN) / SPREAD
        over = _charts(z)["EWMA(0.05, 3)"]
        waited.append(float(over.argmax() + 1) if over.any() else np.inf)
    about = "EWMA(0.05, 3) on the same scores: scores until a drop by 0.1"
    yield median(about, 8, np.array(waited))
    hits, waited = 0, []
    for z in _healthy(max(5, runs // 5), days, rng):
        hits += int(_page_hinkley(MEAN + SPREAD * z) is not None)
        late = np.concatenate([beta(MEAN, (1, DAY), rng)[0], beta(MEAN + 0.1, (1, 2000), rng)[0]])
        found = _page_hinkley(late)
        waited.append(np.inf if found is None else float(found - DAY))
    many = len(waited)
    yield share("Page-Hinkley on the same scores: false alarm in 30 days", 0.0, hits, many)
    about = "Page-Hinkley on the same scores: scores until a drop by 0.1"
    yield median(about, 616, np.array(waited), "after a healthy day; depends on how long")


def _healthy(runs: int, days: int, rng: np.random.Generator) -> Iterator[Floats]:
    for _ in range(runs):
        yield (beta(MEAN, (1, days * DAY), rng)[0] - MEAN) / SPREAD


def _charts(z: Floats) -> dict[str, np.ndarray]:
    sums = np.cumsum(z - 0.5)
    cusum = sums - np.minimum.accumulate(np.minimum(sums, 0))
    # An average with weights 0.05 (1 - 0.05)^k, cut where they no longer count.
    weights = 0.05 * 0.95 ** np.arange(200)
    ewma = np.convolve(z, weights)[: len(z)] / np.sqrt(0.05 / 1.95)
    return {"3 sigma": z > 3, "CUSUM(0.5, 5)": cusum > 5, "EWMA(0.05, 3)": ewma > 3}


def _page_hinkley(scores: Floats) -> int | None:
    """Return after how many scores Page and Hinkley's test alarms, set as is usual.

    The scores' excess over their running mean and 0.005, summed with a weight that falls by 0.01 %
    a score, exceeds its least value by 50.
    """
    means = np.cumsum(scores) / np.arange(1, len(scores) + 1)
    total = least = 0.0
    for number, excess in enumerate(scores - means - 0.005, start=1):
        total = 0.9999 * total + excess
        least = min(least, total)
        if number > 30 and total - least > 50:
            return number
    return None
