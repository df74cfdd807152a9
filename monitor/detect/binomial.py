"""Exact binomial tails and bounds: what k failures of n say, and what n clean answers do not."""

from __future__ import annotations

from math import exp, lgamma, log, log1p, sqrt

CONFIDENCE = 0.95
EXCEEDED_LEVEL = 0.01
_BISECTION_STEPS = 60
_Z_95 = 1.959963984540054


def tail_probability(failures: int, exchanges: int, rate: float) -> float:
    """Return P(at least ``failures`` of ``exchanges``) at a true failure rate in [0, 1].

    Raises ``ValueError`` if there are more failures than exchanges, or the rate is no rate.
    """
    if not 0 <= failures <= exchanges or not 0 <= rate <= 1:
        msg = f"no such tail: {failures} of {exchanges} at {rate}"
        raise ValueError(msg)
    if failures == 0 or rate == 1:
        return 1.0
    if rate == 0:
        return 0.0
    terms = (
        exp(
            lgamma(exchanges + 1)
            - lgamma(k + 1)
            - lgamma(exchanges - k + 1)
            + k * log(rate)
            + (exchanges - k) * log1p(-rate)
        )
        for k in range(failures, exchanges + 1)
    )
    return min(1.0, sum(terms))


def exceeds(
    failures: int, exchanges: int, tolerance: float, *, level: float = EXCEEDED_LEVEL
) -> bool:
    """True if so many failures are not explained by the tolerance.

    False-alarm rate: below ``level`` for a target whose true rate is at its tolerance.
    """
    return failures > 0 and tail_probability(failures, exchanges, tolerance) < level


def upper_bound(failures: int, exchanges: int, confidence: float = CONFIDENCE) -> float:
    """Return the exact (Clopper-Pearson) one-sided upper bound on the failure rate.

    1.0 when nothing was asked: nothing is then known. Zero failures in n give about 3 / n at 95 %.
    The bound holds for exchanges like those that were sent, not for others.
    """
    if exchanges in (0, failures):
        return 1.0
    low, high = failures / exchanges, 1.0
    for _ in range(_BISECTION_STEPS):
        middle = (low + high) / 2
        if 1 - tail_probability(failures + 1, exchanges, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def wilson(successes: int, runs: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share; everything is possible if nothing was run.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
    JASA 22 (1927). Raises ``ValueError`` for more successes than runs.
    """
    if not 0 <= successes <= runs:
        msg = f"no such share: {successes} of {runs}"
        raise ValueError(msg)
    if runs == 0:
        return 0.0, 1.0
    share, square = successes / runs, _Z_95**2
    middle = (share + square / (2 * runs)) / (1 + square / runs)
    half = _Z_95 / (1 + square / runs) * sqrt(share * (1 - share) / runs + square / (4 * runs**2))
    low = 0.0 if successes == 0 else max(0.0, middle - half)
    high = 1.0 if successes == runs else min(1.0, middle + half)
    return low, high
