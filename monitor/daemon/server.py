"""What the daemon serves on loopback: metrics, health, and checks for whoever has the token."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel, ValidationError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from monitor.app import Installation
from monitor.calibrating import Calibrate, CalibrationStep, calibrate, shown_calibration
from monitor.checking import Selection, Step, run_check
from monitor.configured import selected
from monitor.context import Asked as Climb
from monitor.context import LadderStep, verify_context
from monitor.daemon.bodies import (
    CalibrateRequest,
    CheckRequest,
    ContextRequest,
    ProbeNowRequest,
    ResolveRequest,
    ScanRequest,
)
from monitor.daemon.desk import StoreDesk
from monitor.daemon.hosts import KnownHost, known_hosts
from monitor.daemon.probing import ProbeNow, probe_now
from monitor.daemon.scandesk import StoreScanDesk
from monitor.daemon.scheduler import ProbeSchedule
from monitor.errors import DavylampError, UnsureError
from monitor.logs import crash_words
from monitor.planning import profile_choices
from monitor.scanning import Reported

log = logging.getLogger(__name__)

Asked = TypeVar("Asked", bound=BaseModel)
AnyStep = Step | LadderStep | CalibrationStep
Put = Callable[[AnyStep], None]
Work = Callable[[Put], Awaitable[dict[str, object]]]
MAX_BODY_BYTES = 65_536
MAX_SCAN_BYTES = 128_000_000
_BROKEN_OFF = "the daemon is stopping: what was asked of it did not come to its end"
# How often a check under way gives a sign of life; its caller waits five seconds for one.
ALIVE_SECONDS = 1.0
# How long what is under way may take to come to its end once the daemon stops: with a sign of life
# before it, less than its caller waits, and less than connections are given.
LAST_SECONDS = 3.0


def make_server(
    installation: Installation, schedule: ProbeSchedule, token: str, stopping: asyncio.Event
) -> Starlette:
    """Return the application. Everything that spends or reveals needs the token.

    Once ``stopping`` is set, what is under way is soon broken off, and whoever asked is told.
    """
    pages = _Pages(installation, schedule, token, stopping)
    hosts = known_hosts(installation.config.listen)
    return Starlette(
        routes=[
            Route("/metrics", pages.metrics),
            Route("/healthz", pages.healthz),
            Route("/readyz", pages.readyz),
            Route("/api/check", pages.check, methods=["POST"]),
            Route("/api/probe-now", pages.probe_now, methods=["POST"]),
            Route("/api/context", pages.context, methods=["POST"]),
            Route("/api/scan", pages.scan, methods=["POST"]),
            Route("/api/calibrate", pages.calibrate, methods=["POST"]),
            Route("/api/calibrations/{target}", pages.calibration),
            Route("/api/trials/{trial}", pages.explain),
            Route("/api/findings", pages.findings),
            Route("/api/findings/{finding}", pages.finding),
            Route("/api/findings/{finding}/resolve", pages.resolve, methods=["POST"]),
        ],
        middleware=[Middleware(KnownHost, hosts=hosts)],
    )


class _Pages:
    def __init__(
        self,
        installation: Installation,
        schedule: ProbeSchedule,
        token: str,
        stopping: asyncio.Event,
    ) -> None:
        self._installation = installation
        self._schedule = schedule
        self._token = token
        self._stopping = stopping
        self._checking = asyncio.Lock()
        self._climbing = asyncio.Lock()
        self._calibrating = asyncio.Lock()
        self._probing: dict[str, asyncio.Task[dict[str, object]]] = {}
        self._desk = StoreDesk(installation.store, installation.findings, installation.clock)
        self._scan_desk = StoreScanDesk(installation.config, installation.scanner)

    async def metrics(self, request: Request) -> Response:
        """Prometheus text."""
        page = await asyncio.to_thread(generate_latest, self._installation.metrics)
        return Response(page, media_type=CONTENT_TYPE_LATEST)

    async def healthz(self, request: Request) -> Response:
        """The process is alive. Never wire this, or anything of ours, to a model's liveness."""
        return PlainTextResponse("ok\n")

    async def readyz(self, request: Request) -> Response:
        """The schedule runs and the store takes rows."""
        stats = self._installation.store.writer.stats()
        ready = self._schedule.running
        body = {"ready": ready, "queued_rows": stats.queued_rows}
        return JSONResponse(body, status_code=200 if ready else 503)

    async def check(self, request: Request) -> Response:
        """Run one pass and stream its steps, then its report, as JSON lines."""
        asked = await self._body(request, CheckRequest)
        if isinstance(asked, Response):
            return asked
        selection = Selection(**asked.model_dump())
        return self._streamed(lambda put: self._run(selection, put))

    async def context(self, request: Request) -> Response:
        """Climb one target's ladder and stream its steps, then its report, as JSON lines."""
        asked = await self._body(request, ContextRequest)
        if isinstance(asked, Response):
            return asked
        climb = Climb(**asked.model_dump())
        return self._streamed(lambda put: self._climb(climb, put))

    async def probe_now(self, request: Request) -> Response:
        """Ask a target at once because something happened to it: for pipelines and people."""
        body = await self._body(request, ProbeNowRequest)
        if isinstance(body, Response):
            return body
        asked = ProbeNow(target=body.target, probes=body.probes, reason=body.reason)
        if body.wait:
            return self._streamed(lambda put: self._probe(asked, put))
        try:
            selected(self._installation.config, (asked.target,))
            profile_choices("quick", asked.probes)
        except DavylampError as error:
            return _refused(404, str(error))
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
                _outcome(task)

        task.add_done_callback(ended)
        return True

    async def scan(self, request: Request) -> Response:
        """Judge answers that somebody reports; what is found opens findings."""
        asked = await self._body(request, ScanRequest, most_bytes=MAX_SCAN_BYTES)
        if isinstance(asked, Response):
            return asked
        return self._streamed(lambda _put: self._scan(asked))

    async def calibrate(self, request: Request) -> Response:
        """Record a healthy target and stream the steps, then the report, as JSON lines."""
        asked = await self._body(request, CalibrateRequest)
        if isinstance(asked, Response):
            return asked
        wanted = Calibrate(**asked.model_dump())
        return self._streamed(lambda put: self._calibrate(wanted, put))

    async def calibration(self, request: Request) -> Response:
        """How the calibration of one target stands."""
        if not self._authorised(request):
            return _refused(401, "a token is needed")
        name = request.path_params["target"]
        try:
            shown = await asyncio.to_thread(shown_calibration, self._installation, name)
        except DavylampError as error:
            return _refused(404, str(error))
        return JSONResponse({"report": shown.model_dump(mode="json", by_alias=True)})

    async def explain(self, request: Request) -> Response:
        """Everything known of one trial."""
        trial = request.path_params["trial"]
        return await self._answer(request, lambda: self._desk.explain(trial))

    async def findings(self, request: Request) -> Response:
        """Every open finding."""
        return await self._answer(request, self._desk.findings)

    async def finding(self, request: Request) -> Response:
        """One open finding."""
        finding = request.path_params["finding"]
        return await self._answer(request, lambda: self._desk.finding(finding))

    async def resolve(self, request: Request) -> Response:
        """Close a finding as mended."""
        asked = await self._body(request, ResolveRequest)
        if isinstance(asked, Response):
            return asked
        finding = request.path_params["finding"]
        return await self._answer(
            request, lambda: self._desk.resolve(finding, asked.who, asked.why)
        )

    async def _answer(self, request: Request, ask: Callable[[], list[str]]) -> Response:
        """Ask the desk off the loop: it reads the store."""
        if not self._authorised(request):
            return _refused(401, "a token is needed")
        try:
            return JSONResponse({"lines": await asyncio.to_thread(ask)})
        except DavylampError as error:
            return _refused(404, str(error))

    def _streamed(self, work: Work) -> Response:
        lines = _lines(work, self._stopping)
        return StreamingResponse(lines, media_type="application/x-ndjson")

    async def _body(
        self, request: Request, model: type[Asked], *, most_bytes: int = MAX_BODY_BYTES
    ) -> Asked | Response:
        if not self._authorised(request):
            return _refused(401, "a token is needed")
        body = await request.body()
        if len(body) > most_bytes:
            return _refused(413, "the request is too large")
        try:
            return model.model_validate_json(body)
        except ValidationError as error:
            return _refused(400, _wrong(error))

    def _authorised(self, request: Request) -> bool:
        given = request.headers.get("authorization", "").encode("utf-8", "replace")
        return hmac.compare_digest(given, f"Bearer {self._token}".encode())

    async def _run(self, selection: Selection, put: Put) -> dict[str, object]:
        try:
            async with self._checking:
                report = await run_check(self._installation, selection, put)
        except DavylampError as error:
            return _error(error)
        return {"report": report.model_dump(mode="json", by_alias=True)}

    async def _probe(self, asked: ProbeNow, put: Put) -> dict[str, object]:
        try:
            async with self._checking:
                report = await probe_now(self._installation, self._schedule.changes, asked, put)
        except DavylampError as error:
            return _error(error)
        return {"report": report.model_dump(mode="json", by_alias=True)}

    async def _calibrate(self, asked: Calibrate, put: Put) -> dict[str, object]:
        try:
            async with self._calibrating:
                report = await calibrate(self._installation, asked, put)
        except DavylampError as error:
            return _error(error)
        self._schedule.recalibrated(asked.target)
        return {"report": report.model_dump(mode="json", by_alias=True)}

    async def _scan(self, asked: ScanRequest) -> dict[str, object]:
        reported = [Reported(**each.model_dump()) for each in asked.answers]
        try:
            reports = await self._scan_desk.scan(reported, asked.target, asked.source)
        except DavylampError as error:
            return _error(error)
        return {"report": [each.model_dump(mode="json", by_alias=True) for each in reports]}

    async def _climb(self, climb: Climb, put: Put) -> dict[str, object]:
        try:
            async with self._climbing:
                report = await verify_context(self._installation, climb, put)
        except DavylampError as error:
            return _error(error)
        return {"report": report.model_dump(mode="json", by_alias=True)}


def _error(error: DavylampError) -> dict[str, object]:
    return {"error": str(error), "unsure": isinstance(error, UnsureError)}


def _wrong(error: ValidationError) -> str:
    """Return what is wrong with a body, without the values that were given."""
    rows = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(": ".join([*map(str, row["loc"][:1]), row["msg"]]) for row in rows[:8])


async def _lines(work: Work, stopping: asyncio.Event) -> AsyncIterator[str]:
    """Yield the steps as they come, a sign of life in between, and the report."""
    yield _line({"accepted": True})
    steps: asyncio.Queue[AnyStep] = asyncio.Queue()
    task = asyncio.ensure_future(work(steps.put_nowait))
    try:
        while not (task.done() or stopping.is_set()) or not steps.empty():
            yield await _next_line(steps)
        if not task.done():
            await asyncio.wait({task}, timeout=LAST_SECONDS)
        yield _line(_outcome(task) if task.done() else {"error": _BROKEN_OFF})
    finally:
        task.cancel()


def _outcome(task: asyncio.Future[dict[str, object]]) -> dict[str, object]:
    """Return what the work came to; a crash is ours, and must not look like silence."""
    error = task.exception()
    if error is None:
        return task.result()
    log.error("what was asked of the API crashed: %s", crash_words(error))
    return {"crashed": crash_words(error)}


def _refused(status: int, why: str) -> Response:
    return JSONResponse({"error": why}, status_code=status)


async def _next_line(steps: asyncio.Queue[AnyStep]) -> str:
    try:
        step = await asyncio.wait_for(steps.get(), ALIVE_SECONDS)
    except TimeoutError:
        return _line({"alive": True})
    words = {"target": step.target, "words": step.words}
    return _line({"step": words | {"done": step.done, "total": step.total}})


def _line(value: dict[str, object]) -> str:
    return json.dumps(value, ensure_ascii=True) + "\n"
