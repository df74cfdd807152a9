"""What the daemon serves on loopback: metrics, health, and checks for whoever has the token."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from monitor.app import Installation
from monitor.checking import Selection, Step, run_check
from monitor.context import Asked as Climb
from monitor.context import LadderStep, verify_context
from monitor.daemon.desk import StoreDesk
from monitor.daemon.scheduler import ProbeSchedule
from monitor.errors import DavylampError

Asked = TypeVar("Asked", bound=BaseModel)
Put = Callable[[Step | LadderStep], None]
MAX_BODY_BYTES = 65_536
# How often a check under way gives a sign of life; its caller waits five seconds for one.
ALIVE_SECONDS = 1.0


class CheckRequest(BaseModel):
    """The body of ``POST /api/check``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    targets: tuple[str, ...] = ()
    probes: tuple[str, ...] = ()
    profile: str | None = None
    require_coverage: bool = False


class ContextRequest(BaseModel):
    """The body of ``POST /api/context``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    target: str
    resolution: float = Field(default=0.01, ge=0.0001, le=0.5)
    repeats: int = Field(default=1, ge=1, le=1000)
    max_tokens: int | None = Field(default=None, ge=1)
    thorough: bool = False
    yes: bool = False


class ResolveRequest(BaseModel):
    """The body of ``POST /api/findings/{id}/resolve``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    who: str = Field(min_length=1, max_length=200)
    why: str = Field(min_length=1, max_length=2000)


def make_server(installation: Installation, schedule: ProbeSchedule, token: str) -> Starlette:
    """Return the application. Everything that spends or reveals needs the token."""
    pages = _Pages(installation, schedule, token)
    host = installation.config.listen.host
    allowed = ["127.0.0.1", "localhost", "[::1]", "::1", host]
    return Starlette(
        routes=[
            Route("/metrics", pages.metrics),
            Route("/healthz", pages.healthz),
            Route("/readyz", pages.readyz),
            Route("/api/check", pages.check, methods=["POST"]),
            Route("/api/context", pages.context, methods=["POST"]),
            Route("/api/trials/{trial}", pages.explain),
            Route("/api/findings", pages.findings),
            Route("/api/findings/{finding}", pages.finding),
            Route("/api/findings/{finding}/resolve", pages.resolve, methods=["POST"]),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=allowed)],
    )


class _Pages:
    def __init__(self, installation: Installation, schedule: ProbeSchedule, token: str) -> None:
        self._installation = installation
        self._schedule = schedule
        self._token = token
        self._checking = asyncio.Lock()
        self._climbing = asyncio.Lock()
        self._desk = StoreDesk(installation.store, installation.findings, installation.clock)

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
        return _streamed(lambda put: self._run(selection, put))

    async def context(self, request: Request) -> Response:
        """Climb one target's ladder and stream its steps, then its report, as JSON lines."""
        asked = await self._body(request, ContextRequest)
        if isinstance(asked, Response):
            return asked
        climb = Climb(**asked.model_dump())
        return _streamed(lambda put: self._climb(climb, put))

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

    async def _body(self, request: Request, model: type[Asked]) -> Asked | Response:
        if not self._authorised(request):
            return _refused(401, "a token is needed")
        body = await request.body()
        if len(body) > MAX_BODY_BYTES:
            return _refused(413, "the request is too large")
        try:
            return model.model_validate_json(body)
        except ValidationError:
            return _refused(400, f"not a {model.__name__}")

    def _authorised(self, request: Request) -> bool:
        given = request.headers.get("authorization", "").encode("utf-8", "replace")
        return hmac.compare_digest(given, f"Bearer {self._token}".encode())

    async def _run(self, selection: Selection, put: Put) -> dict[str, object]:
        try:
            async with self._checking:
                report = await run_check(self._installation, selection, put)
        except DavylampError as error:
            return {"error": str(error)}
        return {"report": report.model_dump(mode="json", by_alias=True)}

    async def _climb(self, climb: Climb, put: Put) -> dict[str, object]:
        try:
            async with self._climbing:
                report = await verify_context(self._installation, climb, put)
        except DavylampError as error:
            return {"error": str(error)}
        return {"report": report.model_dump(mode="json", by_alias=True)}


def _streamed(work: Callable[[Put], Awaitable[dict[str, object]]]) -> Response:
    return StreamingResponse(_lines(work), media_type="application/x-ndjson")


async def _lines(work: Callable[[Put], Awaitable[dict[str, object]]]) -> AsyncIterator[str]:
    """Yield the steps as they come, a sign of life in between, and the report."""
    yield _line({"accepted": True})
    steps: asyncio.Queue[Step | LadderStep] = asyncio.Queue()
    task = asyncio.ensure_future(work(steps.put_nowait))
    try:
        while not task.done() or not steps.empty():
            yield await _next_line(steps)
        yield _line(task.result())
    finally:
        task.cancel()


def _refused(status: int, why: str) -> Response:
    return JSONResponse({"error": why}, status_code=status)


async def _next_line(steps: asyncio.Queue[Step | LadderStep]) -> str:
    try:
        step = await asyncio.wait_for(steps.get(), ALIVE_SECONDS)
    except TimeoutError:
        return _line({"alive": True})
    words = {"target": step.target, "words": step.words}
    return _line({"step": words | {"done": step.done, "total": step.total}})


def _line(value: dict[str, object]) -> str:
    return json.dumps(value, ensure_ascii=True) + "\n"
