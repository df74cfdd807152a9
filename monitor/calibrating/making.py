"""From what was recorded to a calibration: which prompts are set aside, and which tolerances. Pure.

Each probe's answers have a tolerance of their own, and so has each group of them that may be broken
by itself. One tolerance for the target would be that of its many golden prompts, and what its rarer
and harder probes get wrong while healthy would then be called bad.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from monitor.calibrating.recording import Judged, PromptKey, Recording
from monitor.calibration import subject_of
from monitor.detect.binomial import CONFIDENCE, upper_bound
from monitor.detect.tolerance import group_tolerance, is_not_mastered, tolerance_from
from monitor.model import DEFAULT_TOLERANCE, Calibration, GroupBaseline
from monitor.reports.answers import MOST_TOLERANCE

# A target that misses more of its golden prompts than this is not healthy, or not to be judged.
MOST_QUARANTINED = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a calibration is made by: a tolerance that is ``configured``, a floor and a margin."""

    configured: float | None
    floor: float
    margin: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """Who makes a calibration of what, and why."""

    id: str
    target: str
    model: str
    made_at: datetime
    made_by: str
    reason: str
    checks_version: str
    parts: tuple[tuple[str, str], ...]


def not_mastered(
    counts: Mapping[PromptKey, tuple[int, int]], configured: float | None
) -> frozenset[PromptKey]:
    """Return the golden prompts whose (missed, asked) say that the target does not master them.

    Each is compared with what the target is held to: what is configured, else the default, or what
    it misses of all prompts where that is more. Were a weak target compared with the default, its
    unlucky prompts would be set aside, and what is left would look better than it is.
    """
    allowed = configured
    if allowed is None:
        allowed = min(MOST_TOLERANCE, max(DEFAULT_TOLERANCE, missed_at_most(counts)))
    return _above(counts, allowed)


def misses_most(counts: Mapping[PromptKey, tuple[int, int]], configured: float | None) -> int:
    """Return how many prompts are missed more than is allowed if these are most, else 0."""
    missed = len(_above(counts, DEFAULT_TOLERANCE if configured is None else configured))
    return missed if missed > MOST_QUARANTINED * len(counts) else 0


def _above(counts: Mapping[PromptKey, tuple[int, int]], allowed: float) -> frozenset[PromptKey]:
    return frozenset(
        key for key, (missed, asked) in counts.items() if is_not_mastered(missed, asked, allowed)
    )


def missed_at_most(counts: Mapping[PromptKey, tuple[int, int]]) -> float:
    """Return the upper bound on the share of all golden prompts' answers that are missed."""
    missed = sum(missed for missed, _ in counts.values())
    return upper_bound(missed, sum(asked for _, asked in counts.values()), CONFIDENCE)


def make(recording: Recording, maker: Maker, rules: Rules) -> Calibration:
    """Return the calibration, not signed yet; what is set aside counts in no tolerance."""
    counts = recording.counts()
    quarantined = not_mastered(counts, rules.configured)
    answers = [answer for answer in recording.answers if answer.prompt not in quarantined]
    failed = sum(answer.failed for answer in answers)
    whole = tolerance_from(failed, len(answers), floor=rules.floor, margin=rules.margin)
    return Calibration(
        id=maker.id,
        target=maker.target,
        model=maker.model,
        made_at=maker.made_at,
        made_by=maker.made_by,
        reason=maker.reason,
        subject=subject_of(maker.parts),
        checks_version=maker.checks_version,
        tolerance=whole,
        missed_at_most=missed_at_most(counts) if counts else 0.0,
        confidence=CONFIDENCE,
        margin=rules.margin,
        parts=maker.parts,
        prompts=recording.prompts(quarantined),
        groups=tuple(_groups(answers, whole, rules)),
        first_tokens=recording.first_tokens(),
        scripts=recording.scripts(),
        names_per_answer=recording.names_per_answer,
        best_prefill_tokens_per_second=recording.best_prefill,
    )


def _groups(answers: Sequence[Judged], whole: float, rules: Rules) -> Iterator[GroupBaseline]:
    """Yield the tolerance of each probe, then of each group of its answers."""
    probes: dict[str, list[Judged]] = defaultdict(list)
    for answer in answers:
        probes[answer.probe].append(answer)
    for probe, members in sorted(probes.items()):
        baseline = _group(probe, "", members, max(DEFAULT_TOLERANCE, whole), rules)
        yield baseline
        groups: dict[str, list[Judged]] = defaultdict(list)
        for answer in members:
            for group in answer.groups:
                groups[group].append(answer)
        for group, some in sorted(groups.items()):
            yield _group(probe, group, some, baseline.tolerance, rules)


def _group(
    probe: str, group: str, members: Sequence[Judged], above: float, rules: Rules
) -> GroupBaseline:
    failed = sum(answer.failed for answer in members)
    return GroupBaseline(
        probe=probe,
        group=group,
        judged=len(members),
        failed=failed,
        tolerance=group_tolerance(
            failed, len(members), above=above, floor=rules.floor, margin=rules.margin
        ),
    )
