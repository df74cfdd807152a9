"""What a person asks of the store: the same answers from the daemon and without one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Protocol

from monitor.app import store_of
from monitor.clock import Clock
from monitor.config import Config
from monitor.errors import StoreError, UnsureError, UsageError
from monitor.findings import Findings, findings_in, from_row
from monitor.reports.audit import AuditReport, audit_report
from monitor.reports.findings import decided_line, finding_lines, findings_lines
from monitor.reports.trial import trial_lines
from monitor.store import Store


class Decision(StrEnum):
    """What a person may decide about an open finding."""

    CONFIRM = "confirm"
    DISMISS = "dismiss"
    RESOLVE = "resolve"


class Desk(Protocol):
    """What is asked, and the answers: lines to print, or a report. All may raise ``UsageError``."""

    def explain(self, trial: str) -> list[str]:
        """Return everything known of a trial."""

    def findings(self, *, closed: bool = False) -> list[str]:
        """Return every open finding, worst first; with ``closed`` ones all, newest first."""

    def finding(self, finding_id: str) -> list[str]:
        """Return one finding, open or not, with its strata, trials and history."""

    def decide(self, decision: Decision, finding_id: str, who: str, why: str) -> list[str]:
        """Confirm, dismiss or resolve a finding."""

    def audit(self, published: str | None, last: int) -> AuditReport:
        """Verify the audit chain. Raises ``UnsureError`` if it cannot be read."""


class StoreDesk:
    """Answers from an open store."""

    def __init__(self, store: Store, findings: Findings, clock: Clock) -> None:
        self._store = store
        self._findings = findings
        self._clock = clock

    def explain(self, trial: str) -> list[str]:
        """Return everything known of a trial."""
        self._store.flush()
        known = self._store.reader.trial(trial)
        if known is None:
            msg = f"{trial}: the store knows no such trial"
            raise UsageError(msg)
        return trial_lines(known)

    def findings(self, *, closed: bool = False) -> list[str]:
        """Return every open finding, worst first; with ``closed`` ones all, newest first."""
        if not closed:
            return findings_lines(self._findings.list_open())
        self._store.flush()
        every = [from_row(row) for row in self._store.reader.findings()]
        return findings_lines(every, none="no finding")

    def finding(self, finding_id: str) -> list[str]:
        """Return one finding, open or not, with its strata, trials and history."""
        self._store.flush()
        found = self._store.reader.finding(finding_id)
        if found is None:
            msg = f"{finding_id}: no finding has this id (davylamp findings list --all)"
            raise UsageError(msg)
        return finding_lines(from_row(found), self._store.reader.finding_history(finding_id))

    def decide(self, decision: Decision, finding_id: str, who: str, why: str) -> list[str]:
        """Confirm, dismiss or resolve a finding."""
        if not (who.strip() and why.strip()):
            msg = f"{finding_id}: say who decides and why (--who, --why)"
            raise UsageError(msg)
        decide = {
            Decision.CONFIRM: self._findings.confirm,
            Decision.DISMISS: self._findings.dismiss,
            Decision.RESOLVE: self._findings.resolve,
        }[decision]
        return [decided_line(decide(finding_id, who, why, self._clock.now()))]

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
        yield StoreDesk(store, findings, clock)
