"""How slow a target is beside what it was: seconds to the first token for each input token.

Each stratum is compared with itself, so a change of what is asked is no change of the target. A
shift is told when the median of the last 20 is twice, or half, the median of the 200 before. If
single values scatter by a factor of e^0.5 around their level, the median of 20 scatters by 0.14 in
the logarithm, and a factor of two (0.69) is nearly five standard errors off: below one false alarm
in a million looks, one look every 20 values. What remains are true slow-downs under load, and
their price is a day's rates within the same budgets, never a page.
"""

from __future__ import annotations

import math
from array import array
from statistics import median

RECENT, BEFORE = 20, 200
FACTOR = 2.0
# What is far above usual right now, told from few values, since it only holds trials back.
LAST = 5
# A stratum's level is the mean of its first values, and then follows slowly: a shift must not
# have become the level before it is told.
_WARM = 10
_MEMORY = 400
_MAX_STRATA = 256


class Latency:
    """The recent latencies of one target."""

    __slots__ = ("_levels", "_new", "_window")

    def __init__(self) -> None:
        self._levels: dict[str, tuple[int, float]] = {}
        self._window = array("d")
        self._new = 0

    def note(self, stratum: str, first_token_seconds: float, input_tokens: int) -> float | None:
        """Take a value; return the factor of a shift if it shows one, else ``None``."""
        value = math.log(max(first_token_seconds, 1e-6) / max(input_tokens, 1))
        count, level = self._levels.get(stratum, (0, value))
        if count == 0 and len(self._levels) >= _MAX_STRATA:
            return None
        share = 1 / (count + 1) if count < _WARM else 1 / _MEMORY
        self._levels[stratum] = (count + 1, level + (value - level) * share)
        if count < _WARM:
            return None
        self._window.append(value - level)
        del self._window[: -(RECENT + BEFORE)]
        self._new += 1
        return self._shift()

    def slowness(self) -> float:
        """Return how many times slower than usual the last few were; 1 if too few are known."""
        if len(self._window) < RECENT:
            return 1.0
        return math.exp(median(self._window[-LAST:]) - median(self._window[:-LAST]))

    def _shift(self) -> float | None:
        if self._new < RECENT or len(self._window) < RECENT + BEFORE:
            return None
        self._new = 0
        change = median(self._window[-RECENT:]) - median(self._window[:-RECENT])
        if abs(change) < math.log(FACTOR):
            return None
        # What it is now is its level from here on.
        self._levels.clear()
        self._window = array("d")
        return math.exp(change)
