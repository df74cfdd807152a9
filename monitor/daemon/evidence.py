"""How the streams of a target stand: told by the daemon that watches them, or by what was kept."""

from __future__ import annotations

import asyncio
from datetime import datetime

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from monitor.app import Installation
from monitor.checks import CHECKS_VERSION
from monitor.configured import selected
from monitor.daemon.pages import Pages, refused
from monitor.errors import DavylampError
from monitor.reports.evidence import EvidenceReport, evidence_report
from monitor.store import Store
from monitor.watching import read


class EvidencePages(Pages):
    """The page of a target's streams."""

    def __init__(self, installation: Installation, token: str, stopping: asyncio.Event) -> None:
        super().__init__(token, stopping)
        self._installation = installation

    async def show(self, request: Request) -> Response:
        """How the streams of one target stand now."""
        if not self.authorised(request):
            return refused(401, "a token is needed")
        target = request.path_params["target"]
        try:
            report = await asyncio.to_thread(live_evidence, self._installation, target)
        except DavylampError as error:
            return refused(404, str(error))
        return JSONResponse({"report": report.model_dump(mode="json")})


def live_evidence(installation: Installation, target: str) -> EvidenceReport:
    """Return how the streams of a target stand, as they are watched now if anybody watches.

    Raises ``UsageError`` for a target that is not configured.
    """
    selected(installation.config, (target,))
    now = installation.clock.now()
    if installation.watching is None:
        return stored_evidence(installation.store, target, now)
    standings = installation.watching.standings({target})
    return evidence_report(target, standings, (), at=now, live=True)


def stored_evidence(store: Store, target: str, now: datetime) -> EvidenceReport:
    """Return how the streams of a target stood when they were last kept."""
    store.flush()
    standings, unreadable = read(store.reader.detector_states([target]), CHECKS_VERSION)
    return evidence_report(target, standings, unreadable, at=now, live=False)
