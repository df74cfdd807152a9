"""What people page on without a detector: burn rates, peeking at a test, control charts, latency.

Each is a rule with a level; more of it is stricter. A level counts failures in windows, so a rule
can only fire at a failure. Counts are coarse: a false-alarm rate that lies between two levels is
met by using the looser one in some of the runs and the stricter one in the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from monitor.detect.binomial import tail_probability
from tests.bench.detect.failures import Failures, Floats

Bools = NDArray[np.bool_]
Rule = Callable[[Failures, float, float], Bools]
# A score every five minutes.
HOUR, DAY = 12, 288


def burn_rates(failures: Failures, y0: float, level: float, hour: int = HOUR) -> Bools:
    """Multiwindow, multi-burn-rate alerts (SRE Workbook, chapter 5), times ``level``.

    14.4 in an hour and 5 minutes, or 6 in 6 hours and 30 minutes; so many scores are an hour.
    """
    fast = _burn(failures, hour, y0, 14.4 * level) & _burn(failures, hour // 12, y0, 14.4 * level)
    slow = _burn(failures, 6 * hour, y0, 6 * level) & _burn(failures, hour // 2, y0, 6 * level)
    return fast | slow


def _burn(failures: Failures, window: int, y0: float, burn: float) -> Bools:
    # A float just above a whole number of failures must not ask for one more.
    return failures.in_last(window) >= burn * y0 * window - 1e-9


def peeking(failures: Failures, y0: float, level: float) -> Bools:
    """A test of the last day's failures that was made for one look, after every score."""
    return failures.in_last(DAY) >= level


def control_chart(failures: Failures, y0: float, level: float) -> Bools:
    """The last hour's share of failures above the tolerance by ``level`` standard deviations."""
    sigma = np.sqrt(HOUR * y0 * (1 - y0))
    return failures.in_last(HOUR) >= HOUR * y0 + level * sigma - 1e-9


RULES: dict[str, tuple[Rule, Callable[[float], Floats]]] = {
    "burn rates": (burn_rates, lambda y0: np.geomspace(0.02, 1 / (6 * y0), 400)),
    "peeking": (peeking, lambda y0: np.arange(1.0, DAY)),
    "3 sigma": (
        control_chart,
        lambda y0: (np.arange(1.0, HOUR + 1) - HOUR * y0) / np.sqrt(HOUR * y0 * (1 - y0)),
    ),
}
AS_PUBLISHED: dict[str, Callable[[float], float]] = {
    "burn rates": lambda y0: 1.0,
    "peeking": lambda y0: float(_critical(DAY, y0, 0.01)),
    "3 sigma": lambda y0: 3.0,
}


def _critical(scores: int, y0: float, level: float) -> int:
    return next(k for k in range(1, scores) if tail_probability(k, scores, y0) < level)


def episodes(failures: Failures, fires: Bools, quiet: int = DAY) -> int:
    """Return how often a rule fired; what comes within ``quiet`` scores is the same time."""
    line = failures.line[fires]
    return int((np.diff(line, prepend=-(10**18)) > quiet).sum())


@dataclass(frozen=True)
class Matched:
    """Two neighbouring levels of a rule, and in which share of runs the stricter one is used."""

    looser: float
    stricter: float
    share: float
    # Expected in the scores it was matched on.
    false_alarms: float


def expected(rule: Rule, at: Matched, failures: Failures, y0: float) -> float:
    """Return how many alarms to expect of mixed levels."""
    looser, stricter = (
        episodes(failures, rule(failures, y0, level)) for level in (at.looser, at.stricter)
    )
    return at.share * stricter + (1 - at.share) * looser


def matched(rule: Rule, levels: Floats, null: Failures, y0: float, target: float) -> Matched:
    """Return the levels at which a rule has ``target`` false alarms on ``null``."""
    low, high = 0, len(levels) - 1
    counts: dict[int, int] = {}

    def count(place: int) -> int:
        if place not in counts:
            counts[place] = episodes(null, rule(null, y0, levels[place]))
        return counts[place]

    while high - low > 1:
        middle = (low + high) // 2
        if count(middle) > target:
            low = middle
        else:
            high = middle
    many, few = count(low), count(high)
    share = min(1.0, max(0.0, (many - target) / (many - few))) if many > few else 1.0
    return Matched(levels[low], levels[high], share, share * few + (1 - share) * many)


def delays(
    rule: Rule, at: Matched, failures: Failures, y0: float, onset: int, rng: np.random.Generator
) -> Floats:
    """Return after how many scores of a fault each stream fires; inf if it does not."""
    by_level = [_first(failures, rule(failures, y0, lv), onset) for lv in (at.looser, at.stricter)]
    stricter = rng.random(failures.streams) < at.share
    return np.where(stricter, by_level[1], by_level[0]) - onset


def _first(failures: Failures, fires: Bools, onset: int) -> Floats:
    firsts = np.full(failures.streams, np.inf)
    counted = fires & (failures.place > onset)
    np.minimum.at(firsts, failures.stream[counted], failures.place[counted])
    return firsts


def latency_level(false_alarms_per_score: float, rng: np.random.Generator, scores: int) -> float:
    """Return at how many sigma the mean latency of an hour alarms so often while nothing changes.

    Extrapolated where it is rarer than can be simulated: the log of the rate is about linear in the
    square of the level.
    """
    means = _hourly(rng.standard_normal((1, scores)))[0]
    levels = np.linspace(2.5, 4.0, 7)
    rates = []
    for level in levels:
        places = np.flatnonzero(means > level)
        rates.append(((np.diff(places, prepend=-(10**9)) > DAY).sum() + 0.5) / scores)
    slope, offset = np.polyfit(levels**2, np.log(rates), 1)
    return float(np.sqrt(max(0.0, (np.log(false_alarms_per_score) - offset) / slope)))


def latency_delays(level: float, runs: int, length: int, rng: np.random.Generator) -> Floats:
    """Return when status codes and latency alarm after answers went wrong and nothing else did.

    Every status is 200 and latencies are what they were, so this is when they would have alarmed
    anyway.
    """
    over = _hourly(rng.standard_normal((runs, length))) > level
    return np.where(over.any(axis=1), over.argmax(axis=1) + 1.0, np.inf)


def _hourly(latencies: Floats) -> Floats:
    sums = np.cumsum(latencies, axis=1)
    sums[:, HOUR:] = sums[:, HOUR:] - sums[:, :-HOUR]
    return sums / np.sqrt(HOUR)
