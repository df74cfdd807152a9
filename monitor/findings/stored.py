"""Findings over the store: how each stands, every change it went through, and who decided."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields
from datetime import datetime

from monitor.chain import instant_text
from monitor.errors import UsageError
from monitor.findings.book import Findings
from monitor.findings.finding import Decision, Finding, FindingState
from monitor.findings.rotation import Rotation
from monitor.store import Action, Store
from monitor.store.audit import Detail
from monitor.store.decode import class_of
from monitor.store.rows import AnyRow, FindingChangeRow, FindingRow

# Enough of an id to be told apart in a list that a person reads.
_SHOWN_IDS = 5
# Fewer letters are a slip of the hand, or an empty variable: any finding could be meant.
_BEGINNING = re.compile(r"F-[0-9A-Z]{3,62}", re.ASCII)


class StoredFindings:
    """``FindingStore`` over an open store: every change is kept, none is ever dropped."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def load(self, since: datetime) -> Iterable[Finding]:
        """Return the findings that are open, were first seen since then, or suppress still."""
        reader = self._store.reader
        rows = (*reader.open_findings(), *reader.findings_since(since))
        return tuple({row.id: from_row(row) for row in rows}.values())

    def fetch(self, finding_id: str) -> Finding | None:
        """Return a finding as it stands, however long it has been closed."""
        self._store.flush()
        row = self._store.reader.finding(finding_id)
        return None if row is None else from_row(row)

    def save(self, finding: Finding) -> None:
        """Keep a finding as it stands now."""
        self._store.writer.put(_rows(finding))

    def decide(self, finding: Finding, decision: Decision) -> None:
        """Keep what a person decided together with a link of the audit chain.

        Their reason stays with the finding; the link has a keyed hash of it.
        """
        audit = self._store.audit
        details: dict[str, Detail] = {
            "class": finding.verdict_class.label,
            "target": finding.target,
            "version": finding.version,
            "why": audit.private(finding.why),
        }
        if finding.suppressed_until is not None:
            details["suppressed_until"] = f"{finding.suppressed_until:%Y-%m-%dT%H:%M:%SZ}"
            details["signals"] = finding.signals
        audit.append(
            Action(decision.value),
            finding.id,
            actor=finding.who,
            at=finding.changed_at,
            details=details,
            rows=_rows(finding),
        )
        self._store.holds.settle_soon()

    def rotate(self, finding: Finding, rotation: Rotation) -> None:
        """Keep what was told of a finding's target together with a link of the audit chain."""
        audit, out = self._store.audit, rotation is Rotation.DRAINED
        happened_at = finding.out_of_rotation_at if out else finding.back_in_rotation_at
        details: dict[str, Detail] = {
            "class": finding.verdict_class.label,
            "happened_at": None if happened_at is None else instant_text(happened_at),
            "target": finding.target,
            "version": finding.version,
            "why": audit.private(finding.rotation_why) if finding.rotation_why else "",
        }
        audit.append(
            Action(rotation.value),
            finding.id,
            actor=finding.rotation_by,
            at=finding.changed_at,
            details=details,
            rows=_rows(finding),
        )


def findings_in(store: Store, now: datetime) -> Findings:
    """Return the findings of an open store."""
    return Findings(StoredFindings(store), now)


def beginning_of_id(given: str) -> str:
    """Return what was given as an id of a finding, or as the beginning of one, as ids are written.

    Raises ``UsageError`` unless it is ``F-`` and at least three letters or digits.
    """
    written = given.strip().upper()
    if _BEGINNING.fullmatch(written):
        return written
    msg = (
        f"{given!r} is no id of a finding: give F- and at least the next 3 characters of it "
        "(davylamp findings list --all)"
    )
    raise UsageError(msg)


def finding_named(store: Store, given: str) -> Finding:
    """Return the finding of an id, or of the beginning of one if no other id begins so.

    Raises ``UsageError`` if there is none, or more than one, or as ``beginning_of_id``.
    """
    beginning = beginning_of_id(given)
    store.flush()
    rows = store.reader.findings_named(beginning, _SHOWN_IDS + 1)
    if not rows:
        msg = f"{given}: no finding has this id (davylamp findings list --all)"
        raise UsageError(msg)
    if len(rows) > 1:
        ids = [row.id for row in rows]
        shown = ", ".join([*ids[:_SHOWN_IDS], *(["…"] if len(ids) > _SHOWN_IDS else [])])
        msg = f"{given}: several findings begin so: {shown}"
        raise UsageError(msg)
    return from_row(rows[0])


def _rows(finding: Finding) -> list[AnyRow]:
    change = FindingChangeRow(
        finding=finding.id,
        version=finding.version,
        changed_at=finding.changed_at,
        target=finding.target,
        shape=finding.shape,
        stratum=finding.stratum,
        verdict_class=finding.verdict_class.label,
        state=finding.state.value,
        last_seen=finding.last_seen,
        count=finding.count,
        confirmations=finding.confirmations,
        reproduced=finding.reproduced,
        child_count=len(finding.children),
        trial_count=len(finding.trials),
        who=finding.who,
        why=finding.why,
        urgent=finding.urgent,
        suppressed_until=finding.suppressed_until,
        suppressed=finding.suppressed,
        out_of_rotation_at=finding.out_of_rotation_at,
        back_in_rotation_at=finding.back_in_rotation_at,
        rotation_by=finding.rotation_by,
        rotation_why=finding.rotation_why,
    )
    return [to_row(finding), change]


def to_row(finding: Finding) -> FindingRow:
    """Return a finding as the store keeps it: the same fields, names for enums."""
    named = {
        "verdict_class": finding.verdict_class.label,
        "opened_class": finding.opened_class.label,
        "state": finding.state.value,
    }
    return FindingRow(**({f.name: getattr(finding, f.name) for f in fields(finding)} | named))


def from_row(row: FindingRow) -> Finding:
    """Return the finding a row holds."""
    enums = {
        "verdict_class": class_of(row.verdict_class),
        "opened_class": class_of(row.opened_class),
        "state": FindingState(row.state),
    }
    return Finding(**({f.name: getattr(row, f.name) for f in fields(row)} | enums))
