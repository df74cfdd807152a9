"""What a detector sees: how rare a fault may be, and how long it takes at most.

All of it is proven rather than simulated, so it errs to the safe side. Whatever came before, the
value of a detector is at least the mean over its bets of the product of what each gained over the
last n scores (``esr``), and that depends only on how many of the n failed. So ``s`` failures of n
are enough in any order, and a fault of rate q raises the alarm within n scores at least with the
chance that a binomial of n and q reaches ``s``. Simulated delays are shorter, by a third to a
half.
"""

from __future__ import annotations

import math

from monitor.detect.binomial import CONFIDENCE, upper_bound
from monitor.detect.esr import rate_bets

# Beyond so many scores nobody waits for an answer.
MOST_SCORES = 10_000_000
# A failure more allows for more scores; the best is among the last few such steps.
_STEPS = 4


def failures_enough(y0: float, threshold: float, scores: int) -> int | None:
    """Return how many failures of so many scores alarm, in any order and whatever came before.

    ``None`` if not even all of them would.
    """
    if not _enough(y0, threshold, scores, scores):
        return None
    low, high = 0, scores
    while high - low > 1:
        middle = (low + high) // 2
        if _enough(y0, threshold, middle, scores):
            high = middle
        else:
            low = middle
    return high


def least_detectable(
    y0: float, threshold: float, scores: int, chance: float = CONFIDENCE
) -> float | None:
    """Return the least failure rate that surely alarms within so many scores with this chance.

    ``None`` if no rate does. Never below some 1.4 times ``y0``: the smallest bet is on twice that
    rate, and loses there.
    """
    most = failures_enough(y0, threshold, scores)
    if most is None:
        return None
    rates = []
    for failures in range(max(1, most - _STEPS), most + 1):
        within = _most_scores(y0, threshold, failures, scores)
        if within:
            rates.append(upper_bound(failures - 1, within, chance))
    return min(rates)


def scores_to_detect(
    rate: float, y0: float, threshold: float, chance: float = CONFIDENCE
) -> int | None:
    """Return within how many scores a fault of this rate surely alarms with this chance.

    ``None`` for one at or below ``y0``, and for one that takes more than ``MOST_SCORES``.
    """
    if rate <= y0:
        return None
    high = 1
    while not _detected(rate, y0, threshold, high, chance):
        high *= 2
        if high > MOST_SCORES:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if _detected(rate, y0, threshold, middle, chance):
            high = middle
        else:
            low = middle
    return high


def _detected(rate: float, y0: float, threshold: float, scores: int, chance: float) -> bool:
    least = least_detectable(y0, threshold, scores, chance)
    return least is not None and least <= rate


def _most_scores(y0: float, threshold: float, failures: int, scores: int) -> int:
    """Return among how many scores, at most all, so many failures are enough; 0 for none."""
    if not _enough(y0, threshold, failures, failures):
        return 0
    low, high = failures, scores + 1
    while high - low > 1:
        middle = (low + high) // 2
        if _enough(y0, threshold, failures, middle):
            low = middle
        else:
            high = middle
    return low


def _enough(y0: float, threshold: float, failures: int, scores: int) -> bool:
    bets, clean = rate_bets(y0), scores - failures
    logs = [failures * math.log1p(b * (1 / y0 - 1)) + clean * math.log1p(-b) for b in bets]
    largest = max(logs)
    mean = math.fsum(math.exp(each - largest) for each in logs) / len(bets)
    return largest + math.log(mean) >= math.log(threshold)
