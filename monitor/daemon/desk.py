"""What a person asks of the store: the same answers from the daemon and without one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from monitor.app import store_of
from monitor.clock import Clock
from monitor.config import Config
from monitor.configured import node_rules
from monitor.errors import ConfigError, StoreError, UnsureError, UsageError
from monitor.findings import (
    Decision,
    Finding,
    Findings,
    FindingState,
    Rotation,
    Turn,
    finding_named,
    findings_in,
    from_row,
)
from monitor.nodewatch.verdicts import SHAPE as NODE_SHAPE
from monitor.reports.audit import AuditReport, audit_report
from monitor.reports.findings import (
    FindingsReport,
    FoundNodeReport,
    ShownFinding,
    decided_line,
    findings_report,
    found_node,
    rotated_lines,
    shown_finding,
)
from monitor.reports.trial import trial_lines
from monitor.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which findings are to be listed: ``closed`` ones too, of one target, in one state."""

    closed: bool = False
    target: str | None = None
    state: FindingState | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a person decides: who, why, and for how long a dismissed finding keeps twins out."""

    who: str
    why: str
    suppress: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What somebody tells of a finding's target: it was drained or returned; by whom, why, when.

    ``at`` is ``None`` if it happened just now.
    """

    rotation: Rotation
    who: str
    why: str = ""
    at: datetime | None = None


class Desk(Protocol):
    """What is asked, and the answers: lines to print, or a report. All may raise ``UsageError``."""

    def explain(self, trial: str) -> list[str]:
        """Return everything known of a trial."""

    def findings(self, wanted: Wanted) -> FindingsReport:
        """Return the open findings, worst first; with closed ones all, newest first."""

    def finding(self, given: str) -> ShownFinding:
        """Return one finding, open or not, by its id or the beginning of it, with its history."""

    def decide(self, decision: Decision, given: str, said: Said) -> list[str]:
        """Confirm, dismiss, resolve or reopen a finding."""

    def rotate(self, given: str, told: Told) -> list[str]:
        """Take down that a finding's target was taken out of rotation, or put back."""

    def audit(self, published: str | None, last: int) -> AuditReport:
        """Verify the audit chain. Raises ``UnsureError`` if it cannot be read."""


class StoreDesk:
    """Answers from an open store."""

    def __init__(self, config: Config, store: Store, findings: Findings, clock: Clock) -> None:
        self._config = config
        self._store = store
        self._findings = findings
        self._clock = clock

    def explain(self, trial: str) -> list[str]:
        """Return everything known of a trial."""
        if trial.upper().startswith("F-"):
            msg = f"{trial} is a finding, not a trial (davylamp findings show {trial})"
            raise UsageError(msg)
        self._store.flush()
        known = self._store.reader.trial(trial)
        if known is None:
            msg = f"{trial}: the store knows no such trial"
            raise UsageError(msg)
        return trial_lines(known)

    def findings(self, wanted: Wanted) -> FindingsReport:
        """Return the open findings, worst first; with closed ones all, newest first."""
        every = self._findings.list_open()
        if wanted.closed or (wanted.state is not None and not wanted.state.is_open):
            self._store.flush()
            every = tuple(from_row(row) for row in self._store.reader.findings())
        suppressing = self._findings.list_suppressing(self._clock.now())
        return findings_report(
            [
                finding
                for finding in every
                if wanted.target in (None, finding.target) and wanted.state in (None, finding.state)
            ],
            [each for each in suppressing if wanted.target in (None, each.target)],
        )

    def finding(self, given: str) -> ShownFinding:
        """Return one finding, open or not, by its id or the beginning of it, with its history."""
        found = finding_named(self._store, given)
        node = self._node(found) if found.shape == NODE_SHAPE else None
        return shown_finding(found, self._store.reader.finding_history(found.id), node)

    def _node(self, found: Finding) -> FoundNodeReport | None:
        """Return what was last said of a finding's node; without links if no rules can be read."""
        said = self._store.reader.last_verdict_of(found.id)
        if said is None:
            return None
        try:
            rules = node_rules(self._config)
        except ConfigError:
            rules = None
        return found_node(said, rules)

    def decide(self, decision: Decision, given: str, said: Said) -> list[str]:
        """Confirm, dismiss, resolve or reopen a finding."""
        if not (said.who.strip() and said.why.strip()):
            msg = f"{given}: say who decides and why (--who, --why)"
            raise UsageError(msg)
        if said.suppress is not None and decision is not Decision.DISMISS:
            msg = f"{given}: only what is dismissed is suppressed"
            raise UsageError(msg)
        finding_id = finding_named(self._store, given).id
        words = (finding_id, said.who, said.why, self._clock.now())
        match decision:
            case Decision.CONFIRM:
                decided = self._findings.confirm(*words)
            case Decision.DISMISS:
                decided = self._findings.dismiss(*words, suppress=said.suppress)
            case Decision.RESOLVE:
                decided = self._findings.resolve(*words)
            case Decision.REOPEN:
                decided = self._findings.reopen(*words)
        return [decided_line(decided, decision)]

    def rotate(self, given: str, told: Told) -> list[str]:
        """Take down that a finding's target was taken out of rotation, or put back."""
        if not told.who.strip():
            msg = f"{given}: say who tells it (--who)"
            raise UsageError(msg)
        finding_id = finding_named(self._store, given).id
        turn = Turn(
            rotation=told.rotation,
            who=told.who,
            why=told.why,
            told_at=self._clock.now(),
            at=told.at,
        )
        rotated = self._findings.rotate(finding_id, turn)
        return rotated_lines(rotated, self._findings.list_open(rotated.target))

    def audit(self, published: str | None, last: int) -> AuditReport:
        """Verify the audit chain, which must hold ``published``; show its ``last`` links."""
        audit = self._store.audit
        try:
            verified, links = audit.verify(published), audit.links(last)
        except StoreError as error:
            msg = f"the audit chain cannot be read: {error}"
            raise UnsureError(msg) from error
        return audit_report(verified, links, self._store.key.fingerprint)


@contextmanager
def own_desk(config: Config, clock: Clock) -> Iterator[Desk]:
    """Open the store of an installation whose daemon does not run."""
    with store_of(config) as store:
        findings = findings_in(store, clock.now())
        store.holds.settle_soon()
        yield StoreDesk(config, store, findings, clock)
