"""Whether the target of a finding is out of rotation, as somebody told: since when, by whom.

Davylamp takes nothing out of rotation and sees nobody do it. What it is told changes what belongs
to a finding: a fault that shows in a further stratum of a drained target is not the one known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from monitor.chain import instant_text
from monitor.errors import UsageError
from monitor.findings.finding import Finding
from monitor.findings.said import hold_to_bounds
from monitor.findings.versions import changed


class Rotation(StrEnum):
    """What may be told of a finding's target: it was taken out of rotation, or put back."""

    DRAINED = "drained"
    RETURNED = "returned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What somebody tells: what happened when; who tells it, and why, if they say.

    ``told_at`` is now; ``at`` is when it happened, ``None`` if just now. Raises ``UsageError`` for
    longer words than are kept.
    """

    rotation: Rotation
    who: str
    told_at: datetime
    why: str = ""
    at: datetime | None = None

    def __post_init__(self) -> None:
        """Hold the words to what is kept."""
        hold_to_bounds(self.who, self.why)


def turned(finding: Finding, turn: Turn) -> Finding:
    """Return an open finding whose target was taken out of rotation, or put back.

    Raises ``UsageError`` if it stands so already, or for a time that cannot be: one to come, or
    before the onset, a return before the target was out, or taken out before it was put back.
    """
    at = _instant(finding, turn)
    told = replace(changed(finding, turn.told_at), rotation_by=turn.who, rotation_why=turn.why)
    if turn.rotation is Rotation.DRAINED:
        if finding.is_out_of_rotation:
            msg = (
                f"{finding.id}: {_stands(finding)} (davylamp findings returned {finding.id}, if "
                "it was put back or that time is wrong)"
            )
            raise UsageError(msg)
        return replace(told, out_of_rotation_at=at, back_in_rotation_at=None)
    if not finding.is_out_of_rotation:
        msg = (
            f"{finding.id}: nobody told that its target is out of rotation now "
            f"(davylamp findings drained {finding.id} --at TIME)"
        )
        raise UsageError(msg)
    return replace(told, back_in_rotation_at=at)


def counted_back(finding: Finding, who: str, now: datetime) -> Finding:
    """Return a finding that is opened again: its target counts as in rotation from now on.

    Nobody tells of a finding that is closed when its target is put back. A clock that jumped back
    puts no target back before it was out.
    """
    out = finding.out_of_rotation_at
    if out is None or not finding.is_out_of_rotation:
        return finding
    back = max(now, out)
    return replace(finding, back_in_rotation_at=back, rotation_by=who, rotation_why="reopened")


def takes_children(finding: Finding, at: datetime) -> bool:
    """Return true if what shows in a further stratum then still belongs to a finding."""
    out = finding.out_of_rotation_at
    return out is None or not finding.is_out_of_rotation or at <= out


def _instant(finding: Finding, turn: Turn) -> datetime:
    """Return when it happened; refuse a time that cannot be.

    A clock that jumped back does not turn what happened round: just now is after the onset.
    """
    earliest, what = _earliest(finding, turn.rotation)
    if turn.at is None:
        return max(turn.told_at, earliest)
    begins = f"{finding.id}: {instant_text(turn.at)} is"
    if turn.at > turn.told_at:
        msg = (
            f"{begins} still to come, now is {instant_text(turn.told_at)}: tell it once it has "
            "happened; --at is when it did"
        )
        raise UsageError(msg)
    # By the millisecond, as the store keeps instants and as they are shown.
    if instant_text(turn.at) < instant_text(earliest):
        msg = f"{begins} before {what}, {instant_text(earliest)}: give --at a time since then"
        raise UsageError(msg)
    return turn.at


def _earliest(finding: Finding, rotation: Rotation) -> tuple[datetime, str]:
    """Return since when it can have happened, and what was then.

    One that was put back when it was taken out was not out: its time was wrong, and counts not.
    """
    out, back = finding.out_of_rotation_at, finding.back_in_rotation_at
    if rotation is Rotation.RETURNED and out is not None and back is None:
        return out, "its target was taken out of rotation"
    if rotation is Rotation.DRAINED and out is not None and back is not None and back > out:
        return back, "its target was put back"
    return finding.first_seen, "its onset"


def _stands(finding: Finding) -> str:
    out = finding.out_of_rotation_at
    since = f" since {instant_text(out)}" if out is not None else ""
    by = f", as {finding.rotation_by} told" if finding.rotation_by else ""
    return f"its target is out of rotation already{since}{by}"
