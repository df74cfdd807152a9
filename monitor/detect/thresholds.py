"""How high each stream's threshold is, so that the whole installation rarely alarms for nothing.

An allowance is for the whole installation: one false page in 90 days, one false ticket in 7. It is
shared out by weight. A detector's value M grows by at most one a score while all is well, and an
alarm takes it from its threshold c to 0; so each score costs at most 1/c of an alarm, whatever
came before and however streams hang together:

    expected false alarms  <=  sum over all scores of 1/c, with the c in force at that score.

(With c in force M/c is what counts, so M is scaled with c when c changes: ``State.scaled``.) Where
the streams of a day have weights w that sum to 1, r scores each and c = days r / (alarms w), that
day costs the sum of r/c, which is alarms/days: its even part of the allowance. This holds day by
day, whichever streams there are, so that one that is new, retired or asked more often breaks
nothing: the other thresholds are worked out again, and what was spent is spent. See e-detector
Bonferroni in Dandapanthula and Ramdas (arXiv 2501.04130).

The bound counts from a stream's first score. Over a window that begins later it holds on average
over such windows; in the worst case a stream brings one alarm along that it is about to raise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

# Detectors stop counting at 1e200; a threshold near that is one that nothing reaches.
LARGEST = 1e100

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """How many false alarms the whole installation may expect in so many days."""

    alarms: float
    days: float

    def __post_init__(self) -> None:
        if not (0 < self.alarms < math.inf and 0 < self.days < math.inf):
            raise ValueError(f"no such allowance: {self.alarms} in {self.days} days")


FALSE_PAGES = Allowance(alarms=1, days=90)
FALSE_TICKETS = Allowance(alarms=1, days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A stream's part of an allowance: how important it is, and how many scores a day it takes.

    Weights count relative to each other. A stream of weight 0 never alarms. More scores than were
    said cost more than the stream's part, in proportion.
    """

    weight: float
    scores_per_day: float

    def __post_init__(self) -> None:
        if not (0 <= self.weight < math.inf and 0 <= self.scores_per_day < math.inf):
            raise ValueError(f"no such share: {self.weight} of {self.scores_per_day} a day")


def thresholds(shares: Mapping[Key, Share], allowance: Allowance) -> dict[Key, float | None]:
    """Return each stream's threshold, at least 1; ``None`` for one that cannot alarm.

    Those are streams without weight or scores, whose part goes to the others, and streams of a
    weight so small that nothing would reach their threshold.
    """
    counted = {k: s for k, s in shares.items() if s.weight > 0 and s.scores_per_day > 0}
    # Relative to the largest, so that weights of any size have a finite sum.
    largest = max((share.weight for share in counted.values()), default=1.0)
    whole = math.fsum(share.weight / largest for share in counted.values())
    days = allowance.days / allowance.alarms
    found: dict[Key, float | None] = dict.fromkeys(shares)
    for key, share in counted.items():
        part = share.weight / largest / whole
        threshold = days * share.scores_per_day / part if part > 0 else math.inf
        found[key] = max(1.0, threshold) if threshold <= LARGEST else None
    return found


def most_false_alarms(scores: Iterable[tuple[float, float | None]]) -> float:
    """Return how many false alarms so many scores at such thresholds come to at most, expected.

    ``scores`` are pairs of a number of scores and the threshold that was in force; ``None`` cannot
    alarm.
    """
    return math.fsum(many / threshold for many, threshold in scores if threshold is not None)
