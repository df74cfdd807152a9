"""How pages of the daemon take a request and answer it: token, body, and streams of steps."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from monitor.calibrating import CalibrationStep
from monitor.checking import Step
from monitor.context import LadderStep
from monitor.daemon.backups import BackupStep
from monitor.daemon.forgetting import ErasedStep
from monitor.errors import DavylampError, UnsureError
from monitor.examining import ExaminationStep
from monitor.logs import crash_words

log = logging.getLogger(__name__)

Asked = TypeVar("Asked", bound=BaseModel)
AnyStep = Step | LadderStep | CalibrationStep | BackupStep | ErasedStep | ExaminationStep
Put = Callable[[AnyStep], None]
Work = Callable[[Put], Awaitable[dict[str, object]]]
MAX_BODY_BYTES = 65_536
_BROKEN_OFF = "the daemon is stopping: what was asked of it did not come to its end"
# How often a check under way gives a sign of life; its caller waits five seconds for one.
ALIVE_SECONDS = 1.0
# How long what is under way may take to come to its end once the daemon stops: with a sign of life
# before it, less than its caller waits, and less than connections are given.
LAST_SECONDS = 3.0


class Pages:
    """What every group of pages can do. Everything that spends or reveals asks for the token.

    Once ``stopping`` is set, what is under way is soon broken off, and whoever asked is told.
    """

    def __init__(self, token: str, stopping: asyncio.Event) -> None:
        self._token = token
        self._stopping = stopping

    async def answer(self, request: Request, ask: Callable[[], list[str]]) -> Response:
        """Answer with the lines that ``ask`` returns, off the loop: it reads the store."""
        if not self.authorised(request):
            return refused(401, "a token is needed")
        try:
            return JSONResponse({"lines": await asyncio.to_thread(ask)})
        except DavylampError as error:
            return refused(404, str(error))

    def streamed(self, work: Work) -> Response:
        """Answer with steps as they come, signs of life, and what the work came to."""
        lines = _lines(work, self._stopping)
        return StreamingResponse(lines, media_type="application/x-ndjson")

    async def body(
        self, request: Request, model: type[Asked], *, most_bytes: int = MAX_BODY_BYTES
    ) -> Asked | Response:
        """Return the body as ``model``, or the refusal to answer with."""
        if not self.authorised(request):
            return refused(401, "a token is needed")
        body = await request.body()
        if len(body) > most_bytes:
            return refused(413, "the request is too large")
        try:
            return model.model_validate_json(body)
        except ValidationError as error:
            return refused(400, _wrong(error))

    def authorised(self, request: Request) -> bool:
        """True if the request holds the token."""
        given = request.headers.get("authorization", "").encode("utf-8", "replace")
        return hmac.compare_digest(given, f"Bearer {self._token}".encode())


def error_line(error: DavylampError) -> dict[str, object]:
    """Return the last line of a stream that ends in an error of ours."""
    return {"error": str(error), "unsure": isinstance(error, UnsureError)}


def refused(status: int, why: str) -> Response:
    """Return a refusal."""
    return JSONResponse({"error": why}, status_code=status)


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
        yield _line(outcome(task) if task.done() else {"error": _BROKEN_OFF})
    finally:
        task.cancel()


def outcome(task: asyncio.Future[dict[str, object]]) -> dict[str, object]:
    """Return what the work came to; a crash is ours, and must not look like silence."""
    error = task.exception()
    if error is None:
        return task.result()
    log.error("what was asked of the API crashed: %s", crash_words(error))
    return {"crashed": crash_words(error)}


async def _next_line(steps: asyncio.Queue[AnyStep]) -> str:
    try:
        step = await asyncio.wait_for(steps.get(), ALIVE_SECONDS)
    except TimeoutError:
        return _line({"alive": True})
    words = {"target": step.target, "words": step.words}
    return _line({"step": words | {"done": step.done, "total": step.total}})


def _line(value: dict[str, object]) -> str:
    return json.dumps(value, ensure_ascii=True) + "\n"
