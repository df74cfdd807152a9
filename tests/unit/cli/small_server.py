"""A small HTTP server on a free port, answering with a function of path and headers."""

from __future__ import annotations

import asyncio
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


Handler = Callable[[str, Mapping[str, str]], Answer]


@asynccontextmanager
async def serving(handler: Handler, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Serve until the block ends; gives the port."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        except asyncio.IncompleteReadError:
            writer.close()
            return
        headers = dict(line.split(": ", 1) for line in head[1:] if ": " in line)
        headers = {key.lower(): value for key, value in headers.items()}
        answer = handler(head[0].split(" ")[1], headers)
        date = "" if answer.date is None else f"Date: {answer.date}\r\n"
        body = answer.body.encode()
        writer.write(
            f"HTTP/1.1 {answer.status} X\r\n{date}Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield server.sockets[0].getsockname()[1]
