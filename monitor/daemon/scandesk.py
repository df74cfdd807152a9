"""Who scans reported answers: the same over an open store and inside the daemon."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import Protocol

from monitor.app import opened_storage
from monitor.clock import Clock
from monitor.config import Config
from monitor.configured import judge_settings
from monitor.errors import UsageError
from monitor.findings import findings_in
from monitor.reports.scan import ScanReport, scan_report
from monitor.scanning import Reported, ScannedTarget, Scanner, scanner_over
from monitor.scorers import scorer_of


class ScanDesk(Protocol):
    """Scans answers of one target. Raises ``UsageError`` for an unknown target or tenant."""

    async def scan(
        self, reported: Sequence[Reported], target: str, source: str
    ) -> list[ScanReport]:
        """Return one report an answer, in order."""


class StoreScanDesk:
    """Scans with what one process has open: registry, findings, store and scorer."""

    def __init__(self, config: Config, scanner: Scanner) -> None:
        self._config = config
        self._scanner = scanner

    async def scan(
        self, reported: Sequence[Reported], target: str, source: str
    ) -> list[ScanReport]:
        """Return one report an answer, in order."""
        known = self._config.target(target)
        if known is None:
            names = ", ".join(each.name for each in self._config.targets)
            msg = f"no target {target!r} (use one of: {names})"
            raise UsageError(msg)
        tenants = [tenant.name for tenant in known.tenants]
        if any(each.tenant and each.tenant not in tenants for each in reported):
            # Whoever is nobody of ours is told every marker as another tenant's.
            msg = f"no such tenant of {target!r} (use one of: {', '.join(tenants)})"
            raise UsageError(msg)
        asked = ScannedTarget(
            name=known.name, model=known.model, judging=judge_settings(self._config, known)
        )
        return [scan_report(await self._scanner.scan(each, asked, source)) for each in reported]


@contextmanager
def own_scan_desk(config: Config, clock: Clock) -> Iterator[ScanDesk]:
    """Open the store of an installation whose daemon does not run; no credential is needed."""
    with ExitStack() as resources:
        store, registry = opened_storage(config, resources)
        findings = findings_in(store, clock.now())
        scorer = resources.enter_context(closing(scorer_of(config)))
        yield StoreScanDesk(config, scanner_over(store, registry, findings, clock, scorer))
