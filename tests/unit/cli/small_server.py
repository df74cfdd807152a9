"""A small HTTP server on a free port, answering with a function of path and headers."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.utils import formatdate


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server says; a ``date`` of ``None`` is left out."""

    status: int = 200
    body: str = ""
    date: str | None = field(default_factory=lambda: formatdate(usegmt=True))

    def wire(self) -> bytes:
        """The answer as it is sent."""
        date = "" if self.date is None else f"Date: {self.date}\r\n"
        body = self.body.encode()
        head = f"HTTP/1.1 {self.status} X\r\n{date}Content-Length: {len(body)}\r\n\r\n"
        return head.encode() + body


Handler = Callable[[str, Mapping[str, str]], Answer]


@asynccontextmanager
async def serving(handler: Handler, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Serve until the block ends, then hang up on everybody; gives the port."""
    talking: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            first, *rest = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            pairs = (line.split(": ", 1) for line in rest if ": " in line)
            headers = {key.lower(): value for key, value in pairs}
            writer.write(handler(first.split(" ")[1], headers).wire())
            await writer.drain()
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()

    def welcome(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talking[asyncio.create_task(talk(reader, writer))] = writer

    server = await asyncio.start_server(welcome, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield server.sockets[0].getsockname()[1]
        for writer in talking.values():
            writer.close()
        await asyncio.gather(*talking)
