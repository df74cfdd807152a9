"""Exact binomial tails and bounds: what k failures of n say, and what n clean answers do not."""

from __future__ import annotations

from math import ceil, exp, expm1, lgamma, log, log1p, sqrt

CONFIDENCE = 0.95
EXCEEDED_LEVEL = 0.01
_BISECTION_STEPS = 60
_NEGLIGIBLE = 1e-17
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
    # Summed away from the mode, so that terms only get smaller and most need not be.
    if failures > exchanges * rate:
        return min(1.0, _sum_up(failures, exchanges, rate))
    return 1 - _sum_down(failures - 1, exchanges, rate)


def _sum_up(failures: int, exchanges: int, rate: float) -> float:
    """Return P(at least so many), above the mode."""
    odds, term = rate / (1 - rate), _chance(failures, exchanges, rate)
    total = 0.0
    while term > total * _NEGLIGIBLE:
        total += term
        term *= (exchanges - failures) / (failures + 1) * odds
        failures += 1
    return total


def _sum_down(failures: int, exchanges: int, rate: float) -> float:
    """Return P(at most so many), below the mode."""
    odds, term = (1 - rate) / rate, _chance(failures, exchanges, rate)
    total = 0.0
    while term > total * _NEGLIGIBLE:
        total += term
        term *= failures / (exchanges - failures + 1) * odds
        failures -= 1
    return total


def _chance(failures: int, exchanges: int, rate: float) -> float:
    """Return P(exactly ``failures``) at a rate strictly between 0 and 1."""
    return exp(
        lgamma(exchanges + 1)
        - lgamma(failures + 1)
        - lgamma(exchanges - failures + 1)
        + failures * log(rate)
        + (exchanges - failures) * log1p(-rate)
    )


def exceeds(
    failures: int, exchanges: int, tolerance: float, *, level: float = EXCEEDED_LEVEL
) -> bool:
    """True if so many failures are not explained by the tolerance.

    False-alarm rate: below ``level`` for a target whose true rate is at its tolerance.
    """
    return failures > 0 and tail_probability(failures, exchanges, tolerance) < level


def upper_bound(failures: int, exchanges: int, confidence: float = CONFIDENCE) -> float:
    """Return the exact (Clopper-Pearson) one-sided upper bound on the failure rate.

    1.0 when nothing was asked: nothing is then known. No failure in n leaves 1 - (1 -
    confidence)^(1/n), about 3 / n at 95 %. The bound holds for exchanges like those that were
    sent, not for others, and for a number of them that was fixed before; who looks after every
    exchange needs ``sequence``.
    """
    if exchanges in (0, failures):
        return 1.0
    if failures == 0:
        return -expm1(log1p(-confidence) / exchanges)
    return _rate_at(failures, exchanges, 1 - confidence)


def lower_bound(failures: int, exchanges: int, confidence: float = CONFIDENCE) -> float:
    """Return the exact (Clopper-Pearson) one-sided lower bound; 0.0 when nothing failed."""
    return _rate_at(failures - 1, exchanges, confidence) if failures else 0.0


def _rate_at(failures: int, exchanges: int, chance: float) -> float:
    """Return the rate at which at most ``failures`` come with this chance."""
    low, high = 0.0, 1.0
    for _ in range(_BISECTION_STEPS):
        middle = (low + high) / 2
        if 1 - tail_probability(failures + 1, exchanges, middle) > chance:
            low = middle
        else:
            high = middle
    return high


def exchanges_to_show(rate: float, miss: float = 1 - CONFIDENCE) -> int:
    """Return after how many exchanges a fault of this rate stays unseen at most with this chance.

    Raises ``ValueError`` for a rate outside (0, 1] or a chance outside (0, 1): a fault that never
    strikes never shows.
    """
    if not (0 < rate <= 1 and 0 < miss < 1):
        raise ValueError(f"never shown: a rate of {rate}, missed with chance {miss}")
    if rate == 1:
        return 1
    # log(0.125)/log(0.5) must be 3, not the 3.0000000000000004 of a float.
    return max(1, ceil(round(log(miss) / log1p(-rate), 9)))


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
