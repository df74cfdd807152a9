"""What a target may get wrong, by what it got wrong while it was healthy. Pure.

A tolerance is an upper bound, never a mean: a mean lies below the true rate half of the time. The
bound is Clopper and Pearson's ("The use of confidence or fiducial limits", Biometrika 26, 1934),
one-sided at ``CONFIDENCE``: of all calibrations at most 5 % give a bound below the true rate. Rates
that differ from prompt to prompt make it wider than need be, never narrower (W. Hoeffding, "On the
distribution of the number of successes in independent trials", Ann. Math. Stat. 27, 1956).
A declared margin comes on top, for what one sitting cannot show: other hours, other days.
"""

from __future__ import annotations

from monitor.detect.binomial import CONFIDENCE, EXCEEDED_LEVEL, tail_probability, upper_bound

# Fewer answers, all right, leave more than 9.5 % possible: they say less than the default does.
FEW_ANSWERS = 30
# A group of few answers leaves the tolerance above it if its failures have a smaller chance there.
CONTRADICTED_LEVEL = 0.05
# A prompt is called not mastered by mistake in fewer than one of a hundred cases.
QUARANTINE_LEVEL = EXCEEDED_LEVEL


def is_not_mastered(missed: int, asked: int, allowed: float) -> bool:
    """True if a prompt's misses are not explained by the failure rate that is ``allowed``.

    False-alarm rate: below ``QUARANTINE_LEVEL`` for a prompt that is missed as often as allowed,
    and far lower for one that is missed less often. At 10 % it takes 3 misses of 3, 5 of 10, 7 of
    20 or 11 of 50.
    """
    return missed > 0 and tail_probability(missed, asked, allowed) < QUARANTINE_LEVEL


def tolerance_from(failed: int, judged: int, *, floor: float, margin: float) -> float:
    """Return the tolerance that ``failed`` of ``judged`` answers give: bound plus margin.

    At least ``floor`` (1 - objective), at most 1. Without any answer it is 1: nothing is known.
    """
    return min(1.0, max(floor, upper_bound(failed, judged, CONFIDENCE) + margin))


def group_tolerance(
    failed: int, judged: int, *, above: float, floor: float, margin: float
) -> float:
    """Return the tolerance of a group within what ``above`` is the tolerance of.

    Its own, by its own answers, from ``FEW_ANSWERS`` on. Fewer say nothing that ``above`` does not
    say better, unless the failures among them contradict it.
    """
    own = tolerance_from(failed, judged, floor=floor, margin=margin)
    few = judged < FEW_ANSWERS
    if few and tail_probability(failed, judged, above) >= CONTRADICTED_LEVEL:
        return min(own, above)
    return own
