"""Desired state: what the incidents of a finding should say, against what was last said.

Nothing here depends on how a change came about, or on whether the process that saw it lives: a
crash between keeping a finding and keeping its event loses nothing and doubles nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from monitor.chain import instant_text
from monitor.conventions.pages import PageAction
from monitor.findings import Finding
from monitor.paging.outbox import Incident
from monitor.paging.policy import severity_of


def due(
    finding: Finding, said: Incident | None, *, direct: bool, held: bool
) -> Sequence[PageAction]:
    """Return what is to be said of a finding to one who was told ``said`` of it.

    ``direct``: Davylamp itself tells of it, as it stands; ``held``: pages of it wait. What was
    triggered is resolved once a person closes it, whatever the routes or windows are by then.
    """
    if said is None:
        return (PageAction.TRIGGER,) if direct and not held else ()
    if not finding.is_open:
        return (PageAction.RESOLVE,)
    actions = []
    if direct and not held and told_of(finding) != said.told:
        actions.append(PageAction.TRIGGER)
    if decision_of(finding) not in ("", said.decision):
        actions.append(PageAction.ACKNOWLEDGE)
    return tuple(actions)


def told_of(finding: Finding) -> str:
    """Return how a finding stands, as far as a change of it is told: never its count."""
    again = "reproduced" if finding.reproduced else ""
    urgent = "urgent" if finding.urgent else ""
    strata = str(len(finding.children) + 1)
    out = ""
    if finding.out_of_rotation_at is not None:
        back = finding.back_in_rotation_at
        out = f"out/{instant_text(finding.out_of_rotation_at)}" if back is None else "back"
    parts = (severity_of(finding).value, finding.verdict_class.label, strata, urgent, again, out)
    return " ".join(part for part in parts if part)


def decision_of(finding: Finding) -> str:
    """Return when a person last decided about a finding; empty if nobody did.

    The time stands before the reason; the reason itself is not kept a second time.
    """
    return finding.why.partition(" ")[0] if finding.who else ""
