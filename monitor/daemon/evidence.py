"""How the streams of a target stand: told by the daemon that watches them, or by what was kept."""

from __future__ import annotations

import asyncio
from datetime import datetime

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from monitor.app import Installation
from monitor.checks import CHECKS_VERSION
from monitor.configured import selected
from monitor.daemon.bodies import EndAlarmRequest
from monitor.daemon.pages import Pages, error_line, refused
from monitor.errors import DavylampError
from monitor.reports.evidence import EvidenceReport, evidence_report
from monitor.store import Store
from monitor.streams import StreamKey
from monitor.watching import Ending, alarm_of, keep_ended, place_of, read


class EvidencePages(Pages):
    """The pages of a target's streams: how they stand, and the end of an alarm."""

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

    async def resolve(self, request: Request) -> Response:
        """End one alarm of a target."""
        asked = await self.body(request, EndAlarmRequest)
        if isinstance(asked, Response):
            return asked
        ending = Ending(target=request.path_params["target"], **asked.model_dump())
        return self.streamed(lambda _put: self._end(ending))

    async def _end(self, ending: Ending) -> dict[str, object]:
        """End it off the loop: it waits for the disk."""
        try:
            lines = await asyncio.to_thread(end_alarm, self._installation, ending)
        except DavylampError as error:
            return error_line(error)
        return {"report": lines}


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


def end_alarm(installation: Installation, ending: Ending) -> list[str]:
    """End an alarm as it is watched now, if anybody watches; return what to print.

    Raises ``UsageError`` for a target that is not configured, and if not just one alarm is meant.
    """
    selected(installation.config, (ending.target,))
    if installation.watching is None:
        return end_stored_alarm(installation.store, ending, installation.clock.now())
    return _ended_lines(installation.watching.end(ending))


def end_stored_alarm(store: Store, ending: Ending, now: datetime) -> list[str]:
    """End an alarm of what was last kept; return what to print.

    Raises ``UsageError`` if not just one is meant.
    """
    store.flush()
    standings, _ = read(store.reader.detector_states([ending.target]), CHECKS_VERSION)
    before = alarm_of(standings, ending)
    keep_ended(store.audit, before, ending, now)
    return _ended_lines(before.key)


def _ended_lines(key: StreamKey) -> list[str]:
    return [f"the alarm of {place_of(key)} is over, its evidence begins anew"]
