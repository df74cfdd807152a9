"""One exchange with a target, whatever the dialect: send, read as it comes, say what it came to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from secrets import token_hex
from typing import Protocol

from monitor.engines.base import Reply
from monitor.engines.faults import Fault, FaultList
from monitor.engines.identity import identity_headers, request_id
from monitor.engines.openai_body import Parsed
from monitor.engines.pieces import joined_pieces
from monitor.engines.refusals import classify_status
from monitor.engines.retry import retry_after_seconds
from monitor.engines.sse import SseEvent, SseParser
from monitor.engines.wire import bearer
from monitor.http import HttpClient, RawReply, cancelled
from monitor.model import Failure, FailureKind, HangUp, Request, Response, Timing

_EVENT_STREAM = "text/event-stream"
# The usual header by which a client names its request; most servers log it, and many echo it.
REQUEST_ID_HEADER = "X-Request-Id"
_REQUEST_ID_BYTES = 16
MAX_OTHER_BYTES = 256_000


class EventReader(Protocol):
    """Puts one answer together from the events of a stream.

    ``finished`` is true once nothing that follows can matter; ``pieces`` counts the events that
    carried a part of the answer; ``longest_gap_seconds`` is the longest pause between two of them.
    ``result`` is called once, with what broke the wire.
    """

    faults: FaultList
    finished: bool
    events: int
    pieces: int
    first_token_seconds: float | None
    longest_gap_seconds: float | None

    def take(self, event: SseEvent, seconds: float) -> None:
        """Take the next event, which arrived ``seconds`` after the request was sent."""

    def result(self, wire_failure: Failure | None) -> Parsed:
        """Return the answer, whole or partial, and what is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request in a target's dialect, and how its reply is read.

    ``reader`` reads a stream, ``parse`` a body.
    """

    url: str
    request: Request
    body: bytes = field(repr=False)
    parse: Callable[[bytes, FaultList], Parsed]
    reader: EventReader | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


async def exchange(
    http: HttpClient, call: Call, *, credential: str | None, timeout_seconds: float
) -> Reply:
    """Ask once and return what came; a cut or late answer keeps its part beside the failure.

    Every request has a random id of its own, tagged or not: an answer that names another's was
    mixed up on its way. Where the configuration sends such a header, ours is left out.
    """
    own_id = ""
    if REQUEST_ID_HEADER.lower() not in http.fixed_names:
        own_id = token_hex(_REQUEST_ID_BYTES)
    hang_up = call.request.hang_up or HangUp()
    stream = None
    if call.reader is not None:
        stream = _Stream(call.reader, http.limits.line_bytes, hang_up.after_chunks)
    raw = await http.send(
        "POST",
        call.url,
        headers={
            **bearer(credential, tagged=call.request.tagged),
            **call.headers,
            **({REQUEST_ID_HEADER: own_id} if own_id else {}),
            "Accept": _EVENT_STREAM if stream else "*/*",
        },
        body=call.body,
        timeout_seconds=timeout_seconds,
        on_chunk=stream.take if stream else None,
        hang_up_seconds=hang_up.after_seconds,
    )
    faults = stream.reader.faults if stream else FaultList()
    response, failure = _read(raw, stream, call, faults)
    if raw.status is not None:
        response = response or Response(text="")
        response = replace(
            response,
            headers=identity_headers(raw) + response.headers,
            protocol_faults=faults.codes(),
            other_text=_everything(raw, response.written()),
            pieces=stream.reader.pieces if stream else None,
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
            longest_gap_seconds=stream.reader.longest_gap_seconds if stream else None,
        ),
        sent_request_id=own_id,
    )


class _Stream:
    """The event stream of one reply, read as it arrives."""

    def __init__(self, reader: EventReader, line_bytes: int, hang_up_pieces: int | None) -> None:
        self._parser = SseParser(line_bytes=line_bytes)
        self._hang_up_pieces = hang_up_pieces
        self.reader = reader

    @property
    def overflowed(self) -> bool:
        """True if reading stopped at a line that is too long."""
        return self._parser.overflowed

    @property
    def hung_up(self) -> bool:
        """True if enough pieces came to break off; an answer that has ended by then is whole."""
        enough = self._hang_up_pieces is not None and self.reader.pieces >= self._hang_up_pieces
        return enough and not self.reader.finished

    def take(self, chunk: bytes, seconds: float) -> bool:
        """Take what arrived; return true if nothing more is wanted."""
        for event in self._parser.feed(chunk):
            self.reader.take(event, seconds)
        return self.reader.finished or self.overflowed or self.hung_up

    def result(self, raw: RawReply) -> Parsed:
        """Return the answer; the end of a body that was not cut completes a last event."""
        failure = raw.failure or (cancelled() if self.hung_up else None)
        if failure is None:
            for event in self._parser.finish():
                self.reader.take(event, raw.total_seconds)
        return self.reader.result(failure or self._overflow())

    def _overflow(self) -> Failure | None:
        if not self.overflowed:
            return None
        return Failure(kind=FailureKind.OVER_BYTE_LIMIT, detail="a line of the stream is too long")


def _read(raw: RawReply, stream: _Stream | None, call: Call, faults: FaultList) -> Parsed:
    if raw.status is None:
        return None, raw.failure
    if raw.status >= 400:  # noqa: PLR2004 - HTTP's errors
        failure = classify_status(raw.status, raw.body)
        asked = retry_after_seconds(raw.header("retry-after"), raw.started_at)
        return None, replace(failure, retry_after_seconds=asked)
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
    return call.parse(raw.body, faults)


def _everything(raw: RawReply, written: str) -> str:
    """Return all that came back as text: no answer, but searched for other tenants' text.

    It holds what no parser looks at: error pages, unknown fields, further choices, headers. What
    came in pieces follows once more in one, unless it is a part of what was ``written``.
    """
    body = raw.body[:MAX_OTHER_BYTES]
    pieces = (text for text in joined_pieces(body) if text.strip() and text not in written)
    headers = (value for _, value in raw.headers)
    return "\n".join([body.decode("utf-8", errors="replace"), *headers, *pieces])


def _is_event_stream(raw: RawReply, stream: _Stream, content_type: str) -> bool:
    """Go by what came; by the content type alone only if nothing tells."""
    if stream.reader.events or stream.overflowed:
        return True
    return content_type == _EVENT_STREAM and not raw.body.lstrip().startswith(b"{")
