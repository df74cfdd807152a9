"""Split conformal prediction: how odd a value is among healthy ones, with no assumption of shape.

The p-value is that of Vovk, Gammerman and Shafer, *Algorithmic Learning in a Random World* (2005),
as used for outliers by Bates, Candès, Lei, Romano and Sesia (2021, arXiv 2104.08279): if a healthy
value is exchangeable with the recorded ones, P(p <= level) <= level, whatever their distribution.
The bound is over the draw of the recorded values too: given one recording, the true rate varies
around the level (a Beta distribution), the less the more values there are.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence

from monitor.detect.binomial import upper_bound


def least_recorded(level: float) -> int | None:
    """Return how many recorded values it takes to reach ``level`` at all; none reach 0.

    The smallest p-value is 1/(n + 1): fewer than 1/level - 1 values can never show anything.
    """
    if level <= 0:
        return None
    # 1/0.02 must be 50, not the 50.000000000000004 of a float.
    return max(0, math.ceil(round(1 / level, 9)) - 1)


def low_p_value(recorded: Sequence[float], value: float) -> float:
    """Return the p-value of a value being too *low*: (1 + how many are no higher) / (n + 1).

    ``recorded`` is ascending. Equal values count as no higher, which errs towards healthy.
    """
    return (1 + bisect_right(recorded, value)) / (len(recorded) + 1)


def share_below(recorded: int, level: float, confidence: float = 0.99) -> float:
    """Return at which rate, at most, healthy values have a p-value of at most ``level``.

    A stream of such scores is held to it (``y0``): the level itself is met over all recordings, and
    a single one may be worse. Its true rate follows a Beta(l, n + 1 - l), l the largest rank
    that reaches the level, whose quantile at ``confidence`` this is. 0.0 if no value reaches it.
    Equal values among the recorded make it smaller.
    """
    rank = math.floor(round((recorded + 1) * level, 9))
    return upper_bound(rank - 1, recorded, confidence) if rank else 0.0
