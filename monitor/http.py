"""The bounded HTTP client: what a hostile or broken server can cost us is decided here.

One client per target. It sends only to the origins it was given, follows no redirect, keeps no
cookie, reads no proxy or certificate setting from the environment, and makes one attempt; only a
connection that failed before any byte was sent is opened once more. Every request has a fresh
connection, so that no exchange inherits another's, and a load balancer spreads them as it
spreads the users'.

What the server does wrong is a ``Failure`` in the reply, never an exception, and no word of the
server's or of our request (the credential is in it) gets into the failure.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import zlib
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import cast

import httpx

from monitor.clock import Clock
from monitor.inflate import Decoder, UnreadableEncodingError
from monitor.model import Failure, FailureKind

Origin = tuple[str, str, int]
OnChunk = Callable[[bytes, float], bool]
"""Given decoded bytes and the seconds since the start; returns true when it has seen enough."""

Transport = httpx.AsyncBaseTransport
"""What carries requests; others name it from here, so that one module knows the library."""

PLAIN_AGENT = f"python-httpx/{httpx.__version__}"
"""The user agent of a request that says nothing of us."""

_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one reply may cost. ``body_bytes`` counts after decompression, and on the wire too.

    ``line_bytes`` bounds one line of an event stream; whoever reads lines enforces it.
    """

    connect_seconds: float = 5.0
    body_bytes: int = 8_000_000
    line_bytes: int = 1_000_000
    headers: int = 100
    header_chars: int = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RawReply:
    """What came over the wire, bounded and decoded; ``body`` holds what came before a failure.

    ``status`` is ``None`` if no response head came. ``first_byte_seconds`` is when the head came.
    """

    status: int | None
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    body: bytes = field(repr=False)
    failure: Failure | None
    first_byte_seconds: float | None
    total_seconds: float
    started_at: datetime

    def header(self, name: str) -> str | None:
        """Return the first value of the header ``name`` (lower case), if there is one."""
        return next((value for key, value in self.headers if key == name), None)


def origin_of(url: str) -> Origin:
    """Return (scheme, host, port) of ``url``, or raise ``ValueError`` if we would not go there."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        parsed = httpx.URL("")
    if parsed.scheme not in _DEFAULT_PORTS or not parsed.host or parsed.userinfo:
        problem = "not an http or https URL with a host and without a user name"
        raise ValueError(problem)
    return (parsed.scheme, parsed.host, parsed.port or _DEFAULT_PORTS[parsed.scheme])


@cache
def _trust() -> ssl.SSLContext:
    """Return the certificates we trust: read once, for half a megabyte is too much a target."""
    return httpx.create_ssl_context(trust_env=False)


def plain_transport() -> httpx.AsyncHTTPTransport:
    """Return what connects: a fresh connection each time, nothing read from the environment."""
    return httpx.AsyncHTTPTransport(
        verify=_trust(),
        trust_env=False,
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
    )


class ForbiddenAddressError(OSError):
    """The address is not one that a transport may connect to: the cause of its error."""


class HttpClient:
    """One target's client. ``transport`` is the seam for tests and for a private CA.

    ``fixed_headers`` go with every request, and like credentials only to ``origins``;
    ``fixed_names`` are theirs, in lower case.
    """

    def __init__(
        self,
        *,
        origins: frozenset[Origin],
        clock: Clock,
        limits: Limits | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        fixed_headers: Mapping[str, str] | None = None,
    ) -> None:
        self._fixed_headers = dict(fixed_headers or {})
        self.fixed_names = frozenset(name.lower() for name in self._fixed_headers)
        self.limits = limits or Limits()
        self._origins = origins
        self._clock = clock
        self._transport = transport or plain_transport()

    async def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        timeout_seconds: float,
        body: bytes | None = None,
        on_chunk: OnChunk | None = None,
        body_bytes: int | None = None,
        hang_up_seconds: float | None = None,
    ) -> RawReply:
        """Send one request and return what came, within ``timeout_seconds`` in all.

        ``on_chunk`` sees the decoded bytes as they arrive. ``body_bytes`` replaces the client's
        limit for this reply. After ``hang_up_seconds`` the connection is closed on purpose, so
        that the server sees its client gone: the failure is ``CANCELLED`` then.
        """
        started_at = self._clock.now()
        headers = {**self._fixed_headers, **headers}
        receipt = _Receipt(
            clock=self._clock,
            limits=self.limits,
            body_bytes=body_bytes or self.limits.body_bytes,
            on_chunk=on_chunk,
        )
        failure = self._forbidden(url, headers)
        if failure is None:
            request = _build(method, url, headers, body)
            _set_timeouts(request, self.limits.connect_seconds, timeout_seconds)
            failure = await self._within(timeout_seconds, hang_up_seconds, request, receipt)
        return receipt.reply(started_at, failure)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._transport.aclose()

    def _forbidden(self, url: str, headers: Mapping[str, str]) -> Failure | None:
        try:
            origin = origin_of(url)
        except ValueError:
            return _connect("the URL cannot be used")
        if origin not in self._origins:
            return _connect("the origin is not one of this target's")
        if not all(value.isascii() and value.isprintable() for value in headers.values()):
            return _connect("a request header holds characters that cannot be sent")
        return None

    async def _within(
        self,
        timeout_seconds: float,
        hang_up_seconds: float | None,
        request: httpx.Request,
        receipt: _Receipt,
    ) -> Failure | None:
        try:
            async with asyncio.timeout(timeout_seconds):
                if await self._hung_up(hang_up_seconds, request, receipt):
                    return cancelled()
        except (TimeoutError, httpx.TimeoutException) as error:
            return _timed_out(error, timeout_seconds)
        except _StopReadingError as stop:
            return stop.failure
        except (httpx.HTTPError, httpx.StreamError, OSError) as error:
            return _broken(error, receipt)
        return receipt.judgement()

    async def _hung_up(
        self, seconds: float | None, request: httpx.Request, receipt: _Receipt
    ) -> bool:
        """Exchange, and return true if it was broken off after ``seconds``."""
        try:
            async with asyncio.timeout(seconds) as patience:
                await self._exchange(request, receipt)
        except TimeoutError:
            if not patience.expired():
                raise
            return True
        return False

    async def _exchange(self, request: httpx.Request, receipt: _Receipt) -> None:
        response = await self._open(request)
        try:
            receipt.head(response)
            async with aclosing(_chunks(response)) as chunks:
                async for chunk in chunks:
                    if receipt.take(chunk):
                        return
            receipt.end()
        finally:
            await response.aclose()

    async def _open(self, request: httpx.Request) -> httpx.Response:
        try:
            return await self._transport.handle_async_request(request)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            # No byte was sent, so opening it once more asks nothing twice.
            return await self._transport.handle_async_request(request)


class _StopReadingError(Exception):
    """Reading ends here, with this failure."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.detail)
        self.failure = failure


class _Receipt:
    """What has arrived so far; it grows while the reply does, so that a cut keeps what came."""

    def __init__(
        self, *, clock: Clock, limits: Limits, body_bytes: int, on_chunk: OnChunk | None
    ) -> None:
        self._clock = clock
        self._start = clock.monotonic()
        self._limits = limits
        self._body_bytes = body_bytes
        self._on_chunk = on_chunk
        self._decoder: Decoder | None = None
        self._wire_bytes = 0
        self._body = bytearray()
        self._headers: tuple[tuple[str, str], ...] = ()
        self._first_byte_seconds: float | None = None
        self.status: int | None = None

    def head(self, response: httpx.Response) -> None:
        """Note status and headers; stop at an encoding that we cannot read."""
        self._first_byte_seconds = self._elapsed()
        self.status = response.status_code
        self._headers = tuple(
            (name.decode("latin-1").lower(), value.decode("latin-1")[: self._limits.header_chars])
            for name, value in response.headers.raw[: self._limits.headers]
        )
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        try:
            self._decoder = Decoder.named(encoding)
        except UnreadableEncodingError:
            detail = "a content encoding we did not ask for and cannot read"
            raise _StopReadingError(Failure(kind=FailureKind.PROTOCOL, detail=detail)) from None

    def take(self, chunk: bytes) -> bool:
        """Decode and keep ``chunk``; return true if nobody needs more."""
        self._wire_bytes += len(chunk)
        enough = False
        for piece in self._decoded(chunk):
            room = self._body_bytes - len(self._body)
            self._body += piece[:room]
            if self._on_chunk and self._on_chunk(piece[:room], self._elapsed()):
                enough = True
            if len(piece) > room or self._wire_bytes > self._body_bytes:
                self._stop_over_limit()
        if self._wire_bytes > self._body_bytes:
            self._stop_over_limit()
        return enough

    def end(self) -> None:
        """Note that the server ended the body."""
        if self._decoder and not self._decoder.whole:
            raise _StopReadingError(
                Failure(kind=FailureKind.CUT_STREAM, detail="the compressed body was cut")
            )

    def judgement(self) -> Failure | None:
        """Return the failure that a complete reply can still be: a redirect."""
        if self.status is not None and 300 <= self.status < 400:  # noqa: PLR2004 - HTTP's 3xx
            detail = "redirect, not followed"
            return Failure(kind=FailureKind.HTTP_STATUS, detail=detail, code=self.status)
        return None

    def reply(self, started_at: datetime, failure: Failure | None) -> RawReply:
        """Return what arrived, with ``failure``."""
        return RawReply(
            status=self.status,
            headers=self._headers,
            body=bytes(self._body),
            failure=failure,
            first_byte_seconds=self._first_byte_seconds,
            total_seconds=self._elapsed(),
            started_at=started_at,
        )

    def _decoded(self, chunk: bytes) -> Iterator[bytes]:
        if self._decoder is None:
            yield chunk
            return
        try:
            yield from self._decoder.feed(chunk)
        except zlib.error:
            raise _StopReadingError(
                Failure(kind=FailureKind.PROTOCOL, detail="the compressed body is damaged")
            ) from None

    def _stop_over_limit(self) -> None:
        detail = f"the body is over {self._body_bytes} bytes"
        raise _StopReadingError(Failure(kind=FailureKind.OVER_BYTE_LIMIT, detail=detail))

    def _elapsed(self) -> float:
        return self._clock.monotonic() - self._start


def _build(method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> httpx.Request:
    fixed = {"Accept-Encoding": "identity", "Connection": "close"}
    return httpx.Request(method, url, headers={**fixed, **headers}, content=body)


def _set_timeouts(request: httpx.Request, connect: float, total: float) -> None:
    timeout = httpx.Timeout(total, connect=min(connect, total))
    request.extensions["timeout"] = timeout.as_dict()


def cancelled() -> Failure:
    """Return the failure of an exchange that was broken off on purpose."""
    return Failure(kind=FailureKind.CANCELLED, detail="broken off on purpose")


def _connect(detail: str) -> Failure:
    return Failure(kind=FailureKind.CONNECT, detail=detail)


def _timed_out(error: Exception, timeout_seconds: float) -> Failure:
    if isinstance(error, httpx.ConnectTimeout):
        return _connect("the connection was not accepted in time")
    detail = f"no whole answer within {timeout_seconds:g} s"
    return Failure(kind=FailureKind.TIMEOUT, detail=detail)


def _broken(error: Exception, receipt: _Receipt) -> Failure:
    """Say what broke from the kind of ``error`` alone: its text may quote the server or us."""
    if isinstance(error, httpx.ConnectError):
        return _connect(_why_not_connected(error))
    if isinstance(error, httpx.RemoteProtocolError) and not _ended_early(error):
        return Failure(kind=FailureKind.PROTOCOL, detail="the reply is not HTTP/1.1")
    where = "before the answer began" if receipt.status is None else "before the answer ended"
    return Failure(kind=FailureKind.CUT_STREAM, detail=f"the connection closed {where}")


def _ended_early(error: httpx.RemoteProtocolError) -> bool:
    text = str(error)
    return text.startswith(("peer closed connection", "Server disconnected"))


def _why_not_connected(error: BaseException) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ForbiddenAddressError):
            return "its address is not among those that may be read"
        if isinstance(cause, socket.gaierror):
            return "the host name has no address"
        if isinstance(cause, ssl.SSLCertVerificationError):
            return "the certificate was not accepted"
        if isinstance(cause, ssl.SSLError):
            return "the TLS handshake failed"
        if isinstance(cause, ConnectionRefusedError):
            return "the connection was refused"
        cause = cause.__cause__ or cause.__context__
    return "no connection could be made"


def _chunks(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """Return the raw chunks as the generator they are, so that leaving early closes it."""
    return cast(
        "AsyncGenerator[bytes, None]", aiter(cast("httpx.AsyncByteStream", response.stream))
    )
