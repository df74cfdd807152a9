"""What the daemon serves on loopback: metrics, health, and checks for whoever has the token."""

from __future__ import annotations

import asyncio

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from monitor.app import Installation
from monitor.calibrating import Calibrate, calibrate, shown_calibration
from monitor.checking import Selection, run_check
from monitor.configured import selected
from monitor.context import Asked as Climb
from monitor.context import verify_context
from monitor.daemon.bodies import (
    CalibrateRequest,
    CheckRequest,
    ContextRequest,
    ProbeNowRequest,
    ScanRequest,
)
from monitor.daemon.certificates import CertificatePages
from monitor.daemon.evidence import EvidencePages
from monitor.daemon.findingpages import FindingPages
from monitor.daemon.nodepages import NodePages
from monitor.daemon.pages import Pages, Put, error_line, outcome, refused
from monitor.daemon.probepages import ProbePages
from monitor.daemon.probing import ProbeNow, probe_now
from monitor.daemon.scandesk import StoreScanDesk
from monitor.daemon.scheduler import ProbeSchedule
from monitor.daemon.storepages import StorePages
from monitor.errors import DavylampError
from monitor.findings import Decision, Rotation
from monitor.planning import profile_choices
from monitor.scanning import Reported
from monitor.serving import KnownHost, own_names
from monitor.weekly.schedule import ReportSchedule

MAX_SCAN_BYTES = 128_000_000
# They hold neither secrets nor text, and a scraper calls them by whatever name it found.
OPEN_PATHS = frozenset({"/metrics", "/healthz", "/readyz"})


def make_server(
    installation: Installation, schedule: ProbeSchedule, token: str, stopping: asyncio.Event
) -> Starlette:
    """Return the application. Everything that spends or reveals needs the token.

    Once ``stopping`` is set, what is under way is soon broken off, and whoever asked is told.
    """
    pages = _Pages(installation, schedule, token, stopping)
    kept = StorePages(installation, token, stopping)
    found = FindingPages(installation, token, stopping)
    evidence = EvidencePages(installation, token, stopping)
    listen = installation.config.listen
    hosts = own_names(listen.host, listen.hosts)
    return Starlette(
        routes=[
            Route("/metrics", pages.metrics),
            Route("/healthz", pages.healthz),
            Route("/readyz", pages.readyz),
            Route("/probe", ProbePages(installation, schedule, token, stopping).probe),
            Route("/api/check", pages.check, methods=["POST"]),
            Route("/api/probe-now", pages.probe_now, methods=["POST"]),
            Route("/api/context", pages.context, methods=["POST"]),
            Route("/api/scan", pages.scan, methods=["POST"]),
            Route("/api/calibrate", pages.calibrate, methods=["POST"]),
            Route("/api/calibrations/{target}", pages.calibration),
            Route("/api/evidence/{target}", evidence.show),
            Route("/api/evidence/{target}/resolve", evidence.resolve, methods=["POST"]),
            Route("/api/nodes", NodePages(installation, token, stopping).nodes),
            Route("/api/trials/{trial}", kept.explain),
            Route("/api/findings", found.findings),
            Route("/api/findings/{finding}", found.finding),
            Route("/api/findings/{finding}/verify", found.verify, methods=["POST"]),
            Route("/api/findings/{finding}/localise", found.localise, methods=["POST"]),
            *(
                Route(f"/api/findings/{{finding}}/{decision}", found.decide, methods=["POST"])
                for decision in Decision
            ),
            *(
                Route(f"/api/findings/{{finding}}/{rotation}", found.rotate, methods=["POST"])
                for rotation in Rotation
            ),
            Route("/api/audit", kept.audit, methods=["POST"]),
            Route(
                "/api/certificate",
                CertificatePages(installation, token, stopping).issue,
                methods=["POST"],
            ),
            Route("/api/forget", kept.forget, methods=["POST"]),
            Route("/api/backup", kept.backup, methods=["POST"]),
        ],
        middleware=[Middleware(KnownHost, hosts=hosts, open_paths=OPEN_PATHS)],
    )


class _Pages(Pages):
    def __init__(
        self,
        installation: Installation,
        schedule: ProbeSchedule,
        token: str,
        stopping: asyncio.Event,
    ) -> None:
        super().__init__(token, stopping)
        self._installation = installation
        self._schedule = schedule
        self._checking = asyncio.Lock()
        self._climbing = asyncio.Lock()
        self._calibrating = asyncio.Lock()
        self._probing: dict[str, asyncio.Task[dict[str, object]]] = {}
        self._scan_desk = StoreScanDesk(installation.config, installation.scanner)

    async def metrics(self, request: Request) -> Response:
        """Prometheus text."""
        page = await asyncio.to_thread(generate_latest, self._installation.metrics)
        return Response(page, media_type=CONTENT_TYPE_LATEST)

    async def healthz(self, request: Request) -> Response:
        """The process is alive. Never wire this, or anything of ours, to a model's liveness."""
        return PlainTextResponse("ok\n")

    async def readyz(self, request: Request) -> Response:
        """The schedule runs and there is room for rows, whether or not the database takes them."""
        stats = self._installation.store.writer.stats()
        ready = self._schedule.running and stats.spool_bytes < stats.spool_limit_bytes
        body = {
            "ready": ready,
            "queued_rows": stats.queued_rows,
            "spool_bytes": stats.spool_bytes,
            "oldest_row_seconds": round(stats.oldest_seconds, 3),
            **await asyncio.to_thread(self._reports_owed),
        }
        return JSONResponse(body, status_code=200 if ready else 503)

    def _reports_owed(self) -> dict[str, int]:
        """Count what of weekly reports is owed. It makes nothing less ready: probing goes on."""
        schedule = ReportSchedule.of(self._installation.config)
        if schedule is None:
            return {}
        now = self._installation.clock.now()
        return {
            "reports_missing": len(schedule.missing(now)),
            "reports_untold": len(schedule.untold(now)),
        }

    async def check(self, request: Request) -> Response:
        """Run one pass and stream its steps, then its report, as JSON lines."""
        asked = await self.body(request, CheckRequest)
        if isinstance(asked, Response):
            return asked
        selection = Selection(**asked.model_dump())
        return self.streamed(lambda put: self._run(selection, put))

    async def context(self, request: Request) -> Response:
        """Climb one target's ladder and stream its steps, then its report, as JSON lines."""
        asked = await self.body(request, ContextRequest)
        if isinstance(asked, Response):
            return asked
        climb = Climb(**asked.model_dump())
        return self.streamed(lambda put: self._climb(climb, put))

    async def probe_now(self, request: Request) -> Response:
        """Ask a target at once because something happened to it: for pipelines and people."""
        body = await self.body(request, ProbeNowRequest)
        if isinstance(body, Response):
            return body
        asked = ProbeNow(target=body.target, probes=body.probes, reason=body.reason)
        if body.wait:
            return self.streamed(lambda put: self._probe(asked, put))
        try:
            selected(self._installation.config, (asked.target,))
            profile_choices("quick", asked.probes)
        except DavylampError as error:
            return refused(404, str(error))
        return JSONResponse(
            {"accepted": True, "already_running": not self._begin(asked)}, status_code=202
        )

    def _begin(self, asked: ProbeNow) -> bool:
        """Probe in the background, once at a time for each target."""
        if asked.target in self._probing:
            return False
        task = asyncio.create_task(self._probe(asked, lambda _: None))
        self._probing[asked.target] = task

        def ended(task: asyncio.Task[dict[str, object]]) -> None:
            self._probing.pop(asked.target, None)
            if not task.cancelled():
                outcome(task)

        task.add_done_callback(ended)
        return True

    async def scan(self, request: Request) -> Response:
        """Judge answers that somebody reports; what is found opens findings."""
        asked = await self.body(request, ScanRequest, most_bytes=MAX_SCAN_BYTES)
        if isinstance(asked, Response):
            return asked
        return self.streamed(lambda _put: self._scan(asked))

    async def calibrate(self, request: Request) -> Response:
        """Record a healthy target and stream the steps, then the report, as JSON lines."""
        asked = await self.body(request, CalibrateRequest)
        if isinstance(asked, Response):
            return asked
        wanted = Calibrate(**asked.model_dump())
        return self.streamed(lambda put: self._calibrate(wanted, put))

    async def calibration(self, request: Request) -> Response:
        """How the calibration of one target stands."""
        if not self.authorised(request):
            return refused(401, "a token is needed")
        name = request.path_params["target"]
        try:
            shown = await asyncio.to_thread(shown_calibration, self._installation, name)
        except DavylampError as error:
            return refused(404, str(error))
        return JSONResponse({"report": shown.model_dump(mode="json", by_alias=True)})

    async def _run(self, selection: Selection, put: Put) -> dict[str, object]:
        try:
            async with self._checking:
                report = await run_check(self._installation, selection, put)
        except DavylampError as error:
            return error_line(error)
        return {"report": report.model_dump(mode="json", by_alias=True)}

    async def _probe(self, asked: ProbeNow, put: Put) -> dict[str, object]:
        try:
            async with self._checking:
                report = await probe_now(self._installation, self._schedule.changes, asked, put)
        except DavylampError as error:
            return error_line(error)
        return {"report": report.model_dump(mode="json", by_alias=True)}

    async def _calibrate(self, asked: Calibrate, put: Put) -> dict[str, object]:
        try:
            async with self._calibrating:
                report = await calibrate(self._installation, asked, put)
        except DavylampError as error:
            return error_line(error)
        self._schedule.recalibrated(asked.target)
        return {"report": report.model_dump(mode="json", by_alias=True)}

    async def _scan(self, asked: ScanRequest) -> dict[str, object]:
        reported = [Reported(**each.model_dump()) for each in asked.answers]
        try:
            reports = await self._scan_desk.scan(reported, asked.target, asked.source)
        except DavylampError as error:
            return error_line(error)
        return {"report": [each.model_dump(mode="json", by_alias=True) for each in reports]}

    async def _climb(self, climb: Climb, put: Put) -> dict[str, object]:
        try:
            async with self._climbing:
                report = await verify_context(self._installation, climb, put)
        except DavylampError as error:
            return error_line(error)
        return {"report": report.model_dump(mode="json", by_alias=True)}
