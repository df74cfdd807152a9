"""Does one side fail more than the other among like questions? An exact test, without a tolerance.

Within a stratum of like units it is chance which of them are on the one side, if both sides are
served alike. So the failures on that side, given all there are, come from drawing as many units
without replacement (R. A. Fisher's exact test, stratified as in N. Mantel and W. Haenszel, JNCI 22,
1959), however often the units fail. A unit is what fails together, so it scores its failures; where
a unit is one answer, a stratum is hypergeometric.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """Like units on both sides of an axis: how many failures each of them has."""

    one: tuple[int, ...]
    other: tuple[int, ...]

    @property
    def tells(self) -> bool:
        """True if there are units on both sides, and any failure."""
        return bool(self.one) and bool(self.other) and any((*self.one, *self.other))


def contrast_probability(strata: Iterable[Stratum]) -> float:
    """Return the chance of at least as many failures on the one side if both are served alike.

    1 where nothing tells. False-alarm rate: at most p for a result of at most p, if units of a
    stratum are exchangeable: they may fail at any rate, and together with others of their trial on
    the other side, but not together with other units on their own.
    """
    import numpy as np

    telling = [stratum for stratum in strata if stratum.tells]
    chances = np.ones(1)
    for stratum in telling:
        chances = np.convolve(chances, _sums(stratum))
    observed = sum(sum(stratum.one) for stratum in telling)
    return min(1.0, float(chances[observed:].sum())) if telling else 1.0


def _sums(stratum: Stratum) -> NDArray[np.float64]:
    """Return the chance of each sum over the one side, by the sum.

    Units are dealt in turn: the next is on the one side with the chance of its places that are
    left. What did not fail adds nothing and need not be dealt.
    """
    import numpy as np

    places, units = len(stratum.one), len(stratum.one) + len(stratum.other)
    failed = [score for score in (*stratum.one, *stratum.other) if score]
    chances = np.zeros((places + 1, sum(failed) + 1))
    chances[0, 0] = 1.0
    for dealt, score in enumerate(failed):
        left = (places - np.arange(places + 1)) / (units - dealt)
        taken = chances * np.clip(left, 0.0, 1.0)[:, None]
        chances -= taken
        chances[1:, score:] += taken[:-1, :-score]
    return np.asarray(chances.sum(axis=0))
