"""What the answers of a pass say: how many are wrong, and does the tolerance explain them? Pure.

With a calibration every answer brings the tolerance of its own probe and group, so a pass of mostly
hard questions is not held to what easy ones allow. A group, and the whole, is held to the mean over
its answers: the chance of K failures or more among answers of different rates is at most that
at their mean rate, from one failure above the mean on (W. Hoeffding, "On the distribution of the
number of successes in independent trials", Ann. Math. Stat. 27, 1956).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from monitor.detect.binomial import EXCEEDED_LEVEL, exceeds, tail_probability
from monitor.model import ExchangeVerdict, Outcome
from monitor.passes import Done
from monitor.reports.check import AnswersReport
from monitor.reports.contrasts import contrasts_of
from monitor.reports.groups import Judged, groups_of

# Above this a target is not judged by its tolerated failures at all.
MOST_TOLERANCE = 0.5

ToleranceOf = Callable[[str, str], float]
"""The tolerance of a group of a probe's answers; the group is empty for all of them."""


def judged_of(done: Sequence[Done]) -> list[Judged]:
    """Return every exchange of these trials with its verdict."""
    return [
        (item, exchange, verdict)
        for item in done
        for exchange, verdict in zip(item.trial.exchanges, item.verdict.exchanges, strict=True)
    ]


def counted_of(judged: Sequence[Judged]) -> list[Judged]:
    """Return what counts in rates: scheduled, and not broken off on purpose."""
    return [entry for entry in judged if entry[0].verdict.scheduled and entry[2].counted]


def answers_of(
    done: Sequence[Done], tolerance: float, tolerance_of: ToleranceOf | None = None
) -> AnswersReport:
    """Hold what counts of a pass, whole or up to some trial, against the target's tolerance.

    A side of the traffic that fails more than the other exceeds any. Where groups have tolerances
    of their own, ``tolerance`` is for a pass without any answer.
    """
    counted = counted_of(judged_of(done))
    groups = groups_of(counted)
    verdicts = {group: [verdict for _, _, verdict in members] for group, members in groups.items()}
    own: dict[str, float] = {}
    if tolerance_of is not None:
        of = cache(tolerance_of)
        own = {group: _mean(members, group, of, tolerance) for group, members in groups.items()}
        tolerance = _mean(counted, "", of, tolerance)
    said = answers_report([verdict for _, _, verdict in counted], verdicts, tolerance, own)
    valid = [entry for entry in counted if is_valid(entry[2])]
    found = contrasts_of(valid, [bool(tolerated([verdict])[0]) for _, _, verdict in valid])
    return said.model_copy(update={"contrasts": found, "exceeded": said.exceeded or bool(found)})


def _mean(members: Sequence[Judged], group: str, of: ToleranceOf, otherwise: float) -> float:
    valid = [item.trial.probe for item, _, verdict in members if is_valid(verdict)]
    found = [of(probe, "" if group == probe else group) for probe in valid]
    return sum(found) / len(found) if found else otherwise


def answers_report(
    verdicts: Sequence[ExchangeVerdict],
    groups: Mapping[str, Sequence[ExchangeVerdict]],
    tolerance: float,
    own: Mapping[str, float] | None = None,
) -> AnswersReport:
    """Count wrong answers, and hold the tolerated ones against the target's tolerance.

    All answers together at 1 %, and each group's at 1 % divided by the number of groups, so that
    one broken probe, tenant, length, batch size, state of the cache, suite or transport is not lost
    among many good answers: below 2 % false alarms a pass, if answers fail independently. A group
    of all answers is no other than the whole. A group may have an ``own`` tolerance; one above 50 %
    leaves nothing to judge.
    """
    counts = {group: tolerated(members) for group, members in groups.items()}
    valid = [v for v in verdicts if is_valid(v)]
    parts = {group: (k, n) for group, (k, n) in counts.items() if n < len(valid)}
    failed, _ = tolerated(verdicts)
    judged = tolerance <= MOST_TOLERANCE
    level = EXCEEDED_LEVEL / max(1, len(parts))
    held = {group: (own or {}).get(group, tolerance) for group in counts}
    over = [
        group
        for group, (k, n) in parts.items()
        if held[group] <= MOST_TOLERANCE and exceeds(k, n, held[group], level=level)
    ]
    too_many = exceeds(failed, len(valid), tolerance) or bool(over)
    return AnswersReport(
        valid=len(valid),
        wrong=sum(v.outcome is Outcome.BAD for v in valid),
        proven=sum(v.hard for v in valid),
        tolerance=tolerance,
        group_tolerances=dict(sorted((own or {}).items())),
        probability=tail_probability(failed, len(valid), tolerance),
        exceeded=judged and too_many,
        exceeded_probes=sorted(over) if judged else [],
        judged=judged,
    )


def is_valid(verdict: ExchangeVerdict) -> bool:
    """True if an exchange could be told good or bad."""
    return verdict.outcome in (Outcome.GOOD, Outcome.BAD)


def tolerated(verdicts: Sequence[ExchangeVerdict]) -> tuple[int, int]:
    """Return how many valid exchanges failed in a tolerated way only, and how many are valid."""
    valid = [v for v in verdicts if is_valid(v)]
    return sum(v.tolerated and not v.hard for v in valid), len(valid)
