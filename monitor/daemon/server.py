"""What the daemon serves on loopback: metrics, health, and checks for whoever has the token."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import AsyncIterator

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from monitor.app import Installation
from monitor.checking import Selection, Step, run_check
from monitor.daemon.scheduler import ProbeSchedule
from monitor.errors import DavylampError

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
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=allowed)],
    )


class _Pages:
    def __init__(self, installation: Installation, schedule: ProbeSchedule, token: str) -> None:
        self._installation = installation
        self._schedule = schedule
        self._token = token
        self._checking = asyncio.Lock()

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
        if not self._authorised(request):
            return JSONResponse({"error": "a token is needed"}, status_code=401)
        body = await request.body()
        if len(body) > MAX_BODY_BYTES:
            return JSONResponse({"error": "the request is too large"}, status_code=413)
        try:
            asked = CheckRequest.model_validate_json(body)
        except ValidationError:
            return JSONResponse({"error": "not a check request"}, status_code=400)
        selection = Selection(**asked.model_dump())
        return StreamingResponse(self._lines(selection), media_type="application/x-ndjson")

    def _authorised(self, request: Request) -> bool:
        given = request.headers.get("authorization", "").encode("utf-8", "replace")
        return hmac.compare_digest(given, f"Bearer {self._token}".encode())

    async def _lines(self, selection: Selection) -> AsyncIterator[str]:
        """Yield the steps as they come, a sign of life in between, and the report."""
        yield _line({"accepted": True})
        steps: asyncio.Queue[Step] = asyncio.Queue()
        task = asyncio.create_task(self._run(selection, steps))
        try:
            while not task.done() or not steps.empty():
                yield await _next_line(steps)
            yield _line(task.result())
        finally:
            task.cancel()

    async def _run(self, selection: Selection, steps: asyncio.Queue[Step]) -> dict[str, object]:
        try:
            async with self._checking:
                report = await run_check(self._installation, selection, steps.put_nowait)
        except DavylampError as error:
            return {"error": str(error)}
        return {"report": report.model_dump(mode="json", by_alias=True)}


async def _next_line(steps: asyncio.Queue[Step]) -> str:
    try:
        step = await asyncio.wait_for(steps.get(), ALIVE_SECONDS)
    except TimeoutError:
        return _line({"alive": True})
    words = {"target": step.target, "words": step.words}
    return _line({"step": words | {"done": step.done, "total": step.total}})


def _line(value: dict[str, object]) -> str:
    return json.dumps(value, ensure_ascii=True) + "\n"
