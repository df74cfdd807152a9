"""A number of the design study beside ours, and whether they agree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.bench.detect.failures import Floats


@dataclass(frozen=True)
class Number:
    """What was said, what comes out here, and the standard error of that.

    ``error`` is 0 for arithmetic. Both were simulated, so they agree within three standard errors
    of a difference, and half of the last digit that was printed.
    """

    about: str
    theirs: float
    ours: float
    error: float = 0.0
    digits: int = 0
    note: str = ""

    @property
    def agrees(self) -> bool:
        """True if the difference is within what chance and rounding explain."""
        rounding = 0.51 * 10.0**-self.digits
        return abs(self.ours - self.theirs) <= 3 * 2**0.5 * self.error + rounding


def share(about: str, theirs: float, hits: int, runs: int, note: str = "") -> Number:
    """Return a share with the standard error of a binomial (of one hit more, so never 0)."""
    smoothed = (hits + 1) / (runs + 2)
    error = (smoothed * (1 - smoothed) / runs) ** 0.5
    return Number(about, theirs, hits / runs, error, digits=2, note=note)


def rate(about: str, theirs: float, events: int, periods: float, note: str = "") -> Number:
    """Return a count a period with the standard error of a Poisson count."""
    digits = 0 if theirs >= 10 else 1 if theirs >= 1 else 2
    return Number(about, theirs, events / periods, max(1, events) ** 0.5 / periods, digits, note)


def median(about: str, theirs: float, waited: Floats, note: str = "") -> Number:
    """Return a median with a standard error from its order statistics."""
    ordered, runs = np.sort(waited), len(waited)
    half = 0.5 * runs**0.5
    low, high = (ordered[int(np.clip(runs / 2 + s * half, 0, runs - 1))] for s in (-1, 1))
    with np.errstate(invalid="ignore"):
        error = float(high - low) / 2 if np.isfinite(high) else float("inf")
    middle = float(ordered[runs // 2])
    return Number(about, theirs, middle, max(0.5, error), note=note)
