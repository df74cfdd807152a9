"""ClickHouse's HTTP interface, as far as readers use it."""

from __future__ import annotations

import asyncio
import json
import logging
import zlib
from collections.abc import Callable, Collection
from concurrent.futures import Executor
from typing import IO

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from monitor.clock import Clock, new_id
from monitor.conventions import SqlResult
from monitor.serving import KnownHost
from monitor.sqlhttp.access import USER, check_reader
from monitor.sqlhttp.asked import Asked, read_asked, url_parameters
from monitor.sqlhttp.engine import Answer, SqlEngine
from monitor.sqlhttp.failures import Code, RefusedError, SqlError, stopping, too_many
from monitor.sqlhttp.formats import TEXT, content_type
from monitor.sqlhttp.native import hello, is_hello

log = logging.getLogger(__name__)

OPEN_PATHS = frozenset({"/ping", "/replicas_status"})
# Requests that are asked, wait or are being answered; one more is told to come back.
MOST_UNDER_WAY = 64
# A whole answer must be taken within this time.
SEND_SECONDS = 600.0
_CHUNK_BYTES = 262_144
_GZIP = 16 + zlib.MAX_WBITS
_OK = "Ok.\n"


OnResult = Callable[[SqlResult], None]


class SqlPages:
    """The pages, over one engine. What runs in the engine runs in ``executor``."""

    def __init__(
        self,
        engine: SqlEngine,
        token: str,
        clock: Clock,
        executor: Executor,
        on_result: OnResult,
        most_under_way: int = MOST_UNDER_WAY,
        send_seconds: float = SEND_SECONDS,
    ) -> None:
        self._engine = engine
        self._token = token
        self._clock = clock
        self._executor = executor
        self._on_result = on_result
        self._most_under_way = most_under_way
        self._send_seconds = send_seconds
        self._under_way = 0

    def application(self, hosts: Collection[str]) -> Starlette:
        """Return the application that answers under these names."""
        return Starlette(
            routes=[
                Route("/", self.query, methods=["GET", "POST", "OPTIONS"]),
                Route("/ping", self.ping),
                Route("/replicas_status", self.ping),
            ],
            middleware=[Middleware(KnownHost, hosts=hosts, open_paths=OPEN_PATHS)],
        )

    async def ping(self, request: Request) -> Response:
        """It serves."""
        return PlainTextResponse(_OK)

    async def query(self, request: Request) -> Response:
        """Answer one statement."""
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={"Allow": "GET, HEAD, POST, OPTIONS"})
        try:
            url = url_parameters(request)
            if request.method != "POST" and "query" not in url:
                return PlainTextResponse(_OK)
            check_reader(request.headers, url, self._token)
            asked = await read_asked(request, url)
            response = await self._answer(asked)
        except RefusedError as refusal:
            self._on_result(SqlResult.REFUSED)
            return _failed(refusal)
        except SqlError as error:
            self._on_result(SqlResult.FAILED)
            return _failed(error)
        except (ClientDisconnect, asyncio.CancelledError):
            # Nobody is there any more, or the server stops and waited long enough for the request.
            self._on_result(SqlResult.FAILED)
            return _failed(stopping())
        self._on_result(SqlResult.OK)
        return response

    async def _answer(self, asked: Asked) -> Response:
        query_id = asked.query_id or new_id("query")
        headers = {
            "X-ClickHouse-Query-Id": query_id,
            "X-ClickHouse-Server-Display-Name": USER,
            "X-ClickHouse-Timezone": self._engine.timezone,
            "Cache-Control": "no-store",
        }
        if asked.revision and asked.form == "Native" and is_hello(asked.statement):
            body = hello(asked.revision, USER, self._engine.version, self._engine.timezone)
            headers["X-ClickHouse-Format"] = "Native"
            return Response(body, headers=headers, media_type=content_type("Native"))
        if self._under_way >= self._most_under_way:
            raise too_many()
        self._under_way += 1
        try:
            answer = await self._run(asked)
        except BaseException:
            self._under_way -= 1
            raise
        headers |= {
            "Content-Type": content_type(answer.form),
            "X-ClickHouse-Format": answer.form,
            "X-ClickHouse-Summary": _summary(answer),
        }
        return _FileResponse(
            answer, headers, gzip=asked.gzip, seconds=self._send_seconds, on_end=self._ended
        )

    async def _run(self, asked: Asked) -> Answer:
        accepted = self._clock.monotonic()

        def run() -> Answer:
            waited = self._clock.monotonic() - accepted
            patience = self._engine.limits.max_seconds - waited
            if patience < 0:
                raise too_many()
            return self._engine.run(asked.statement, asked.parameters, asked.form, patience)

        return await asyncio.get_running_loop().run_in_executor(self._executor, run)

    def _ended(self) -> None:
        self._under_way -= 1


class _FileResponse(Response):
    """Sends a whole answer from its file, and closes it however the sending ends."""

    def __init__(
        self,
        answer: Answer,
        headers: dict[str, str],
        *,
        gzip: bool,
        seconds: float,
        on_end: Callable[[], None],
    ) -> None:
        self._answer = answer
        self._seconds = seconds
        self._gzip = gzip
        self._on_end = on_end
        extra = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"} if gzip else {}
        if not gzip:
            extra["Content-Length"] = str(answer.bytes)
        super().__init__(headers=headers | extra)
        if gzip:
            del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it. One that is not taken in time is broken off, so that it never looks whole."""
        try:
            async with asyncio.timeout(self._seconds):
                await self._send(scope, send)
        except TimeoutError:
            log.info("an answer was not taken within %.0f s, and broken off", self._seconds)
        except asyncio.CancelledError:
            log.info("an answer was not taken before the server stopped, and broken off")
        finally:
            self._answer.file.close()
            self._on_end()

    async def _send(self, scope: Scope, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        packer = zlib.compressobj(level=1, wbits=_GZIP) if self._gzip else None
        more = scope["method"] != "HEAD"
        while more:
            chunk = await asyncio.to_thread(_next_chunk, self._answer.file, packer)
            more = chunk is not None
            if chunk:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        last = packer.flush() if packer and scope["method"] != "HEAD" else b""
        await send({"type": "http.response.body", "body": last, "more_body": False})


def _next_chunk(file: IO[bytes], packer: zlib._Compress | None) -> bytes | None:
    raw = file.read(_CHUNK_BYTES)
    if not raw:
        return None
    return packer.compress(raw) if packer else raw


def _summary(answer: Answer) -> str:
    return json.dumps(
        {
            "read_rows": str(answer.read_rows),
            "read_bytes": str(answer.read_bytes),
            "written_rows": "0",
            "written_bytes": "0",
            "total_rows_to_read": "0",
            "result_rows": "0",
            "result_bytes": str(answer.bytes),
            "elapsed_ns": str(answer.elapsed_nanoseconds),
        }
    )


def _failed(error: SqlError) -> Response:
    headers = {"X-ClickHouse-Exception-Code": str(error.code), "Cache-Control": "no-store"}
    if error.code == Code.REQUIRED_PASSWORD:
        headers["WWW-Authenticate"] = 'Basic realm="davylamp"'
    if error.code == Code.TOO_MANY_SIMULTANEOUS_QUERIES:
        headers["Retry-After"] = "1"
    body = f"{error}\n".encode("utf-8", "replace")
    return Response(body, status_code=error.status, headers=headers, media_type=TEXT)
