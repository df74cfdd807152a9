"""What a person asks of the store: the same answers from the daemon and without one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from monitor.app import store_of
from monitor.clock import Clock
from monitor.config import Config
from monitor.errors import StoreError, UnsureError, UsageError
from monitor.findings import Findings, findings_in
from monitor.reports.audit import AuditReport, audit_report
from monitor.reports.findings import finding_lines, findings_lines, resolved_line
from monitor.reports.trial import trial_lines
from monitor.store import Store


class Desk(Protocol):
    """What is asked, and the answers: lines to print, or a report. All may raise ``UsageError``."""

    def explain(self, trial: str) -> list[str]:
        """Return everything known of a trial."""

    def findings(self) -> list[str]:
        """Return every open finding, worst first."""

    def finding(self, finding_id: str) -> list[str]:
        """Return one open finding with its strata and trials."""

    def resolve(self, finding_id: str, who: str, why: str) -> list[str]:
        """Close a finding as mended."""

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

    def findings(self) -> list[str]:
        """Return every open finding, worst first."""
        return findings_lines(self._findings.list_open())

    def finding(self, finding_id: str) -> list[str]:
        """Return one open finding with its strata and trials."""
        return finding_lines(self._findings.list_open(), finding_id)

    def resolve(self, finding_id: str, who: str, why: str) -> list[str]:
        """Close a finding as mended."""
        return [resolved_line(self._findings.resolve(finding_id, who, why, self._clock.now()))]

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
