"""How often bounds on a rate are ever wrong, for somebody who looks after every score."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from monitor.detect.binomial import tail_probability
from tests.bench.detect.failures import Failures, Floats, Ints, drawn

RATES = (0.001, 0.01, 0.1)
LENGTH, LEVEL = 10_000, 0.05


@dataclass(frozen=True)
class Coverage:
    """In how many of so many streams a bound excluded the true rate at any of the scores."""

    rate: float
    streams: int
    sequence: int
    fixed: int


def measure(scale: float, seed: int) -> list[Coverage]:
    """Look at confidence sequences, and at exact intervals for a fixed number."""
    rng = np.random.default_rng(seed)
    streams = max(50, int(scale * 4000))
    found = []
    for rate in RATES:
        failures = drawn(rate, streams, LENGTH, rng)
        wrong = _sequence_wrong(failures, rate), _fixed_wrong(failures, rate)
        found.append(Coverage(rate, streams, *(int(each.sum()) for each in wrong)))
    return found


def _looks(failures: Failures) -> tuple[Ints, Ints, Ints]:
    """Return stream, scores and failures at every failure, just before each, and at the end.

    Between failures what a bettor has is convex in the number of scores, and an interval moves one
    way, so that a rate excluded anywhere is excluded at one of these.
    """
    so_far = failures.so_far()
    ends = np.arange(failures.streams)
    totals = np.bincount(failures.stream, minlength=failures.streams)
    return (
        np.concatenate([failures.stream, failures.stream, ends]),
        np.concatenate([failures.place, failures.place - 1, np.full(len(ends), failures.length)]),
        np.concatenate([so_far, so_far - 1, totals]),
    )


def _sequence_wrong(failures: Failures, rate: float) -> np.ndarray:
    stream, scores, failed = _looks(failures)
    logs = _log_factorials(failures.length + 2)
    beta = logs[failed] + logs[scores - failed] - logs[scores + 1]
    bettor = beta - failed * math.log(rate) - (scores - failed) * math.log1p(-rate)
    return _any(failures, stream, bettor >= math.log(1 / LEVEL))


def _log_factorials(most: int) -> Floats:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])


def _fixed_wrong(failures: Failures, rate: float) -> np.ndarray:
    stream, scores, failed = _looks(failures)
    most = int(failed.max(initial=0)) + 1
    latest = np.array([_turn(k, rate, LEVEL / 2, many=True) for k in range(most + 1)])
    earliest = np.array([_turn(k, rate, LEVEL / 2, many=False) for k in range(most + 1)])
    too_many = (failed > 0) & (scores <= latest[failed])
    too_few = scores >= earliest[failed]
    return _any(failures, stream, (scores > 0) & (too_many | too_few))


def _turn(failed: int, rate: float, level: float, *, many: bool) -> int:
    """Return until which score so many failures are too many, or from which on too few."""
    low, high = max(failed - 1, 0), LENGTH + 1
    while high - low > 1:
        middle = (low + high) // 2
        if many:
            short = failed > 0 and tail_probability(failed, middle, rate) < level
        else:
            tail = tail_probability(failed + 1, middle, rate) if failed < middle else 0.0
            short = 1 - tail >= level
        low, high = (middle, high) if short else (low, middle)
    return low if many else high


def _any(failures: Failures, stream: Ints, wrong: np.ndarray) -> np.ndarray:
    return np.bincount(stream[wrong], minlength=failures.streams) > 0
