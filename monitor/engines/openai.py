"""The OpenAI chat-completions dialect, which nearly every engine and gateway speaks."""

from __future__ import annotations

from dataclasses import replace

from monitor.engines.base import Discovery, Reply
from monitor.engines.discovery import discover
from monitor.engines.faults import Fault, FaultList
from monitor.engines.identity import identity_headers, request_id
from monitor.engines.openai_body import Parsed, parse_completion
from monitor.engines.openai_request import OpenAIOptions, encode_request
from monitor.engines.openai_stream import StreamReader
from monitor.engines.refusals import classify_status
from monitor.engines.sse import SseParser
from monitor.engines.tokenize import Tokenizer
from monitor.engines.wire import bearer
from monitor.http import HttpClient, RawReply
from monitor.model import Failure, FailureKind, Request, Response, Timing

__all__ = ["OpenAIEngine", "OpenAIOptions"]

_EVENT_STREAM = "text/event-stream"
MAX_OTHER_BYTES = 256_000


class OpenAIEngine:
    """One target behind ``<base_url>/chat/completions``; ``base_url`` mostly ends in ``/v1``."""

    def __init__(
        self, *, base_url: str, model: str, http: HttpClient, options: OpenAIOptions | None = None
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._model = model
        self._http = http
        self._options = options or OpenAIOptions()
        self._tokenizer = Tokenizer(base_url=self._base_url, model=model, http=http)

    async def ask(
        self, request: Request, *, credential: str | None, timeout_seconds: float
    ) -> Reply:
        """Ask once and return what came; a cut or late answer keeps its part beside the failure."""
        stream = _Stream(self._http, self._options) if request.stream else None
        raw = await self._http.send(
            "POST",
            f"{self._base_url}/chat/completions",
            headers={**bearer(credential), "Accept": _EVENT_STREAM if stream else "*/*"},
            body=encode_request(request, model=self._model, options=self._options),
            timeout_seconds=timeout_seconds,
            on_chunk=stream.take if stream else None,
        )
        faults = stream.reader.faults if stream else FaultList()
        response, failure = _read(raw, stream, faults)
        if raw.status is not None:
            response = replace(
                response or Response(text=""),
                headers=identity_headers(raw),
                protocol_faults=faults.codes(),
                other_text=_everything(raw),
            )
        return Reply(
            response=response,
            failure=failure,
            http_status=raw.status,
            request_id=request_id(raw, response.response_id if response else None),
            timing=Timing(
                started_at=raw.started_at,
                total_seconds=raw.total_seconds,
                first_token_seconds=stream.reader.first_token_seconds if stream else None,
            ),
        )

    async def discover(self, *, credential: str | None) -> Discovery:
        """Read what the target says of itself, with GET requests alone."""
        return await discover(
            self._http, base_url=self._base_url, model=self._model, credential=credential
        )

    async def count_tokens(self, text: str, *, credential: str | None) -> int | None:
        """Return the target's own count of ``text``, without template or special tokens."""
        return await self._tokenizer.count(text, credential=credential)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._http.aclose()


class _Stream:
    """The event stream of one reply, read as it arrives."""

    def __init__(self, http: HttpClient, options: OpenAIOptions) -> None:
        self._parser = SseParser(line_bytes=http.limits.line_bytes)
        self.reader = StreamReader(usage_expected=options.include_usage)

    @property
    def overflowed(self) -> bool:
        """True if reading stopped at a line that is too long."""
        return self._parser.overflowed

    def take(self, chunk: bytes, seconds: float) -> bool:
        for event in self._parser.feed(chunk):
            self.reader.take(event, seconds)
        return self.reader.finished or self.overflowed

    def result(self, raw: RawReply) -> Parsed:
        """Return the answer; the end of a body that was not cut completes a last event."""
        if raw.failure is None:
            for event in self._parser.finish():
                self.reader.take(event, raw.total_seconds)
        return self.reader.result(raw.failure or self._overflow())

    def _overflow(self) -> Failure | None:
        if not self.overflowed:
            return None
        return Failure(kind=FailureKind.OVER_BYTE_LIMIT, detail="a line of the stream is too long")


def _read(raw: RawReply, stream: _Stream | None, faults: FaultList) -> Parsed:
    if raw.status is None:
        return None, raw.failure
    if raw.status >= 400:  # noqa: PLR2004 - HTTP's errors
        return None, classify_status(raw.status, raw.body)
    content_type = (raw.header("content-type") or "").partition(";")[0].strip().lower()
    if stream is not None and _is_event_stream(raw, stream, content_type):
        if content_type != _EVENT_STREAM:
            faults.add(Fault.WRONG_CONTENT_TYPE)
        return stream.result(raw)
    if raw.failure is not None:
        return None, raw.failure
    if content_type != "application/json":
        faults.add(Fault.WRONG_CONTENT_TYPE)
    if stream is not None:
        faults.add(Fault.NOT_STREAMED)
    return parse_completion(raw.body, faults)


def _everything(raw: RawReply) -> str:
    """Return all that came back as text: no answer, but searched for other tenants' text.

    It holds what no parser looks at: error pages, unknown fields, further choices, headers.
    """
    body = raw.body[:MAX_OTHER_BYTES].decode("utf-8", errors="replace")
    return "\n".join([body, *(value for _, value in raw.headers)])


def _is_event_stream(raw: RawReply, stream: _Stream, content_type: str) -> bool:
    """Go by what came; by the content type alone only if nothing tells."""
    if stream.reader.events or stream.overflowed:
        return True
    return content_type == _EVENT_STREAM and not raw.body.lstrip().startswith(b"{")
