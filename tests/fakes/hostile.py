"""A raw HTTP server that misbehaves on purpose: it writes exactly the bytes it is told to.

A behaviour is a function that writes one reply; the connection closes after it. ``HostileServer``
plays its behaviours in order, the last one for ever after.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import socket
import struct
import zlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Self

JSON_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
_BIG_PIECE = b"x" * 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request as the server got it."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes = field(repr=False)

    def json(self) -> dict[str, object]:
        """Return the body, which must be a JSON object."""
        document = json.loads(self.body)
        assert isinstance(document, dict)
        return document


Behaviour = Callable[[Received, asyncio.StreamWriter], Awaitable[None]]


class HostileServer:
    """Serves on a free port of the loopback while entered."""

    def __init__(self, *behaviours: Behaviour) -> None:
        self._behaviours = behaviours
        self._server: asyncio.Server | None = None
        self._handlers: set[asyncio.Task[None]] = set()
        self.received: list[Received] = []
        self.connections = 0
        self.left = asyncio.Event()  # set once a client has closed its connection before us

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server
        self._server.close()
        for handler in self._handlers:
            handler.cancel()
        await asyncio.gather(*self._handlers, return_exceptions=True)

    @property
    def root(self) -> str:
        """The server's own address."""
        assert self._server
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    @property
    def url(self) -> str:
        """The base URL of its API."""
        return f"{self.root}/v1"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._handlers.add(task)
        task.add_done_callback(self._handlers.discard)
        self.connections += 1
        watch = None
        try:
            request = await _read(reader)
            watch = asyncio.create_task(self._watch(reader))
            played = min(len(self.received), len(self._behaviours) - 1)
            self.received.append(request)
            await self._behaviours[played](request, writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client has seen enough, or the test has
        finally:
            if watch:
                watch.cancel()
            writer.close()

    async def _watch(self, reader: asyncio.StreamReader) -> None:
        with contextlib.suppress(ConnectionError):
            await reader.read(1)
        self.left.set()


async def _read(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ")
    headers = {
        name.lower(): value.strip()
        for name, _, value in (line.partition(":") for line in head[1:] if line)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method=method, path=path, headers=headers, body=body)


def raw(*pieces: bytes) -> Behaviour:
    """Write ``pieces`` as they are, each on its own."""

    async def behave(_: Received, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)

    return behave


def reply(
    body: bytes | object,
    *,
    status: int = 200,
    content_type: str | None = "application/json",
    headers: Iterable[tuple[str, str]] = (),
    length: int | None = None,
) -> Behaviour:
    """Write a well-formed reply; ``length`` is the Content-Length to claim instead of the true."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} Whatever", "Connection: close"]
    lines += [f"Content-Type: {content_type}"] if content_type else []
    lines += [f"Content-Length: {len(content) if length is None else length}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return raw("\r\n".join([*lines, "", ""]).encode("latin-1") + content)


def stream(*events: object, done: bool = True, between: bytes = b"\n\n") -> Behaviour:
    """Write ``events`` (bytes as they are, else as JSON) as an event stream, one at a time."""
    datas = [event if isinstance(event, bytes) else json.dumps(event).encode() for event in events]
    datas += [b"[DONE]"] if done else []
    return raw(STREAM_HEAD, *(b"data: " + data + between for data in datas))


def cut(*pieces: bytes) -> Behaviour:
    """Write a chunked event stream of ``pieces`` and close without the last chunk."""
    head = STREAM_HEAD.replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n")
    return raw(head, *(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces))


def reset(*pieces: bytes) -> Behaviour:
    """Write ``pieces`` and then reset the connection."""

    async def behave(request: Received, writer: asyncio.StreamWriter) -> None:
        await raw(*pieces)(request, writer)
        socket_ = writer.get_extra_info("socket")
        socket_.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    return behave


def hang(*pieces: bytes) -> Behaviour:
    """Write ``pieces`` and then nothing, for ever."""

    async def behave(request: Received, writer: asyncio.StreamWriter) -> None:
        await raw(*pieces)(request, writer)
        await asyncio.Event().wait()

    return behave


def endless(head: bytes, piece: bytes) -> Behaviour:
    """Write ``head`` and then ``piece`` until the client leaves."""

    async def behave(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while not writer.is_closing():
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)

    return behave


def endless_stream(piece: bytes) -> Behaviour:
    """Write an event stream of ``piece`` without end."""
    return endless(STREAM_HEAD, piece)


def big_body(total_bytes: int) -> Behaviour:
    """Write a JSON string of ``total_bytes``, announced truly, a piece at a time."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"

    async def behave(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(head % total_bytes)
        for _piece in range(total_bytes // len(_BIG_PIECE)):
            writer.write(_BIG_PIECE)
            await writer.drain()

    return behave


@cache
def gzip_bomb(plain_bytes: int) -> Behaviour:
    """Write one gzip stream that inflates to ``plain_bytes``."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    zeros = bytes(1_000_000)
    body = b"".join(squeeze.compress(zeros) for _ in range(plain_bytes // len(zeros)))
    return compressed(body + squeeze.flush(), plain=False)


def compressed(body: bytes, *, encoding: str = "gzip", plain: bool = True) -> Behaviour:
    """Write ``body`` under a Content-Encoding the client did not ask for."""
    content = gzip.compress(body) if plain else body
    return reply(content, headers=[("Content-Encoding", encoding)])
