"""TREND on simulated targets, beside a rolling accuracy held to three standard deviations.

An input is one target: a row of scores (1: wrong) with the age of each exchange since a start.
``python -m tests.bench.checks.trend`` also prints how soon.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from monitor.detect.esr import rate_detector, values_over
from monitor.detect.trend import trend_values
from tests.bench.checks.table import Row

SEED = 18
RUNS = 300
# What is tolerated unless configured, and one false alarm in 30 days at one answer a minute.
Y0, THRESHOLD = 0.10, 43_200
DAY = 288
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """Rates of wrong answers over time, and the age of each exchange."""

    name: str
    rate: Floats
    ages: NDArray[np.int64]
    faulty: bool

    def scores(self) -> Floats:
        """Return the scores of every run."""
        rng = np.random.default_rng(SEED)
        return (rng.random((RUNS, len(self.rate))) < self.rate).astype(float)


def case(name: str, rate: Floats, ages: NDArray[np.int64] | None = None, *, faulty: bool) -> Case:
    """Return a case; without ``ages`` there was no restart."""
    return Case(name, rate, np.arange(len(rate)) if ages is None else ages, faulty)


def lives(life: Floats, count: int) -> tuple[Floats, NDArray[np.int64]]:
    """Return the rates and ages of a target that is started anew so often."""
    return np.tile(life, count), np.tile(np.arange(len(life)), count)


def cases() -> list[Case]:
    """Return what a target may do: it decays, or it does not."""
    healthy, long = np.full(300, 0.05), np.arange(10_000)
    public = np.repeat([0.05, 0.24, 0.49], 50)
    late = np.array([0.05] * 100 + [0.25] * 20)
    return [
        case("the public decay, 150 answers", public, faulty=True),
        case("the same after 300 healthy ones", np.append(healthy, public), faulty=True),
        case("slow: 5 to 30 % over 1,000 answers", np.linspace(0.05, 0.30, 1000), faulty=True),
        case("hidden: the last 20 of 120 a quarter wrong, 25 lives", *lives(late, 25), faulty=True),
        case("5 % wrong, 10,000 answers", np.full(10_000, 0.05), faulty=False),
        case("daily sinus of 1.5 points", _sinus(long, 0.015), faulty=False),
        case("daily sinus of 4.6 points", _sinus(long, 0.046), faulty=False),
        case("at the tolerance of 10 %", np.full(10_000, 0.10), faulty=False),
    ]


def _sinus(instants: NDArray[np.int64], amplitude: float) -> Floats:
    return 0.05 + amplitude * np.sin(2 * np.pi * instants / DAY)


def trend(scores: Floats, ages: NDArray[np.int64]) -> Floats:
    """Return TREND's values."""
    detector = rate_detector(Y0, THRESHOLD)
    return trend_values(detector, scores, np.broadcast_to(ages, scores.shape))


def one_detector(scores: Floats, ages: NDArray[np.int64]) -> Floats:
    """Return the values of the one detector that knows no ages."""
    return values_over(rate_detector(Y0, THRESHOLD), scores)


def naive(scores: Floats, ages: NDArray[np.int64]) -> Floats:
    """Return how far the last 50 answers fall below the first 50, over three sigma of it."""
    window = 50
    sums = np.cumsum(scores, axis=1)
    sums[:, window:] = sums[:, window:] - sums[:, :-window]
    first = sums[:, window - 1, None] / window
    sigma = np.sqrt(np.maximum(first * (1 - first), 0.01) / window)
    above = (sums / window - first) / (3 * sigma)
    above[:, :window] = 0
    return above


def first(values: Floats, threshold: float) -> NDArray[np.int64]:
    """Return after how many answers each run alarms; 0 if it never does."""
    over = values >= threshold
    return np.where(over.any(axis=1), over.argmax(axis=1) + 1, 0)


def rows() -> list[Row]:
    """Return one row a case."""
    found = []
    for each in cases():
        scores = each.scores()
        ours = int((first(trend(scores, each.ages), THRESHOLD) > 0).sum())
        theirs = int((first(naive(scores, each.ages), 1.0) > 0).sum())
        found.append(
            Row(
                check="TREND",
                input_set=f"targets: {each.name}",
                positives=RUNS * each.faulty,
                true_positives=ours * each.faulty,
                negatives=RUNS * (not each.faulty),
                false_positives=ours * (not each.faulty),
                naive_name="the last 50 answers 3 sigma below the first 50",
                naive_true_positives=theirs * each.faulty,
                naive_false_positives=theirs * (not each.faulty),
            )
        )
    return found


def main() -> None:
    """Print the share of targets that alarm, and after how many answers."""
    ways: tuple[tuple[str, Callable[..., Floats], float], ...] = (
        ("TREND", trend, THRESHOLD),
        ("one detector", one_detector, THRESHOLD),
        ("naive", naive, 1.0),
    )
    for each in cases():
        sys.stdout.write(f"{each.name} ({len(each.rate):,} answers; {RUNS} targets)\n")
        for name, way, threshold in ways:
            alarms = first(way(each.scores(), each.ages), threshold)
            when = np.quantile(alarms[alarms > 0], [0.5, 0.95]) if alarms.any() else (0, 0)
            share = (alarms > 0).mean()
            sys.stdout.write(
                f"  {name:<14}{share:>7.1%}   median {when[0]:>6.0f}   95 % {when[1]:>6.0f}\n"
            )


if __name__ == "__main__":
    main()
