"""The statistics of the drill: intervals, what the sent exchanges allow, and whether it was kept.

Pure functions of counts and rates; nothing here knows a fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, lgamma, log, log1p

from monitor.detect.binomial import exceeds

# The level at which "fewer detections than the exchanges explain" is called a broken promise.
FEWER_LEVEL = 0.01


def allowed(rate: float, exchanges: int) -> float:
    """Return 1 - (1 - rate)^exchanges: the chance that so many exchanges meet the fault at all."""
    return 1.0 - (1.0 - rate) ** exchanges


def power(rate: float, exposed: int, valid: int, tolerance: float) -> float:
    """Return the chance that ordinary mistakes of a fault exceed a tolerance.

    ``exposed`` of ``valid`` exchanges fail at ``rate``, the others never; the rule is the one for
    all answers of a pass. Single probes are held to the tolerance too, so this is a lower bound.
    """
    members = max(valid, exposed)
    needed = next((k for k in range(1, exposed + 1) if exceeds(k, members, tolerance)), exposed + 1)
    return sum(_binomial(k, exposed, rate) for k in range(needed, exposed + 1))


def fewer_probability(detected: int, chances: Sequence[float]) -> float:
    """Return P(at most ``detected``) of independent runs with these chances (Poisson-binomial).

    Small values say that fewer runs were detected than their exchanges allow.
    """
    distribution = [1.0]
    for chance in chances:
        longer = [0.0] * (len(distribution) + 1)
        for count, probability in enumerate(distribution):
            longer[count] += probability * (1.0 - chance)
            longer[count + 1] += probability * chance
        distribution = longer
    return min(1.0, sum(distribution[: detected + 1]))


def median(values: Sequence[float]) -> float | None:
    """Return the middle value, the lower of two; ``None`` of none."""
    return sorted(values)[(len(values) - 1) // 2] if values else None


def _binomial(successes: int, trials: int, rate: float) -> float:
    if rate in (0.0, 1.0):
        return float(successes == round(trials * rate))
    ways = lgamma(trials + 1) - lgamma(successes + 1) - lgamma(trials - successes + 1)
    return exp(ways + successes * log(rate) + (trials - successes) * log1p(-rate))
