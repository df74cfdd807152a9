"""What a finding is: one fault of one target, from its first verdict until a person closes it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from monitor.model import VerdictClass

# The shape of answers that somebody reported. Nothing joins the reports of two people.
REPORTED_SHAPE = "scan"


class FindingState(StrEnum):
    """Where a finding stands. Only a person resolves or dismisses one."""

    NEEDS_REVIEW = "needs_review"
    CONFIRMED = "confirmed"
    DISMISSED = "dismissed"
    RESOLVED = "resolved"

    @property
    def is_open(self) -> bool:
        """True until a person closed it."""
        return self in (FindingState.NEEDS_REVIEW, FindingState.CONFIRMED)


class Decision(StrEnum):
    """What a person may decide: of an open finding the first three, of a closed one the last."""

    CONFIRM = "confirm"
    DISMISS = "dismiss"
    RESOLVE = "resolve"
    REOPEN = "reopen"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One fault. ``children`` are further strata of the same shape; ``trials`` its evidence.

    ``version`` counts its changes, the last of them at ``changed_at``. ``confirmations`` counts the
    trials claimed to confirm it, ``reproduced`` those that gave the fault again; ``count`` leaves
    both out. An ``urgent`` one had a prompt dropped and something else answered: it pages at once.
    ``signals`` are what its verdicts failed in, as ``CODE/variant``. A dismissed one keeps its
    twins from opening a finding until ``suppressed_until``; ``suppressed`` counts those verdicts.
    Of very many ``trials`` it names those that made it worse, the first and the newest. Its target
    was taken out of rotation at ``out_of_rotation_at`` and put back at ``back_in_rotation_at``, if
    somebody told so: ``rotation_by``, for ``rotation_why``.
    """

    id: str
    version: int
    target: str
    shape: str
    stratum: str
    verdict_class: VerdictClass
    opened_class: VerdictClass
    state: FindingState
    first_seen: datetime
    last_seen: datetime
    changed_at: datetime
    count: int = 1
    confirmations: int = 0
    children: tuple[str, ...] = ()
    trials: tuple[str, ...] = ()
    who: str = ""
    why: str = ""
    reproduced: int = 0
    urgent: bool = False
    signals: tuple[str, ...] = ()
    suppressed_until: datetime | None = None
    suppressed: int = 0
    out_of_rotation_at: datetime | None = None
    back_in_rotation_at: datetime | None = None
    rotation_by: str = ""
    rotation_why: str = ""

    @property
    def is_open(self) -> bool:
        """True until a person closed it."""
        return self.state.is_open

    @property
    def is_out_of_rotation(self) -> bool:
        """True from when somebody told that its target was taken out, until it was put back."""
        return self.out_of_rotation_at is not None and self.back_in_rotation_at is None

    @property
    def strata(self) -> tuple[str, ...]:
        """Its trigger stratum and its children's."""
        return (self.stratum, *self.children)
