"""Small HTTP servers of nodes' pages, many in one process, that count what they are asked for.

They keep connections open as real servers do. A ``gate`` sees each request before it is answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.fakes.node_pages import Page, Pages

_NOWHERE = Page(body=b'{"detail": "Not Found"}', status=404)
_REFUSED = Page(body=b'{"error": "unauthorized"}', status=401)
Gate = Callable[["NodeServer"], Awaitable[None]]


async def _open(node: NodeServer) -> None:
    return


@dataclass(slots=True)
class NodeServer:
    """One node: its pages, the token it wants (open without one), and what it was asked for."""

    pages: Pages
    token: str | None = field(default=None, repr=False)
    gate: Gate = _open
    url: str = ""
    asked: Counter[str] = field(default_factory=Counter)
    under_way: int = 0
    _connections: set[asyncio.Task[None]] = field(default_factory=set, repr=False)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection until the client leaves."""
        task = asyncio.current_task()
        assert task
        self._connections.add(task)
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                while True:
                    what, headers = _head(await reader.readuntil(b"\r\n\r\n"))
                    await reader.readexactly(int(headers.get("content-length", "0")))
                    writer.write(_reply(await self._answer(what, headers)))
                    await writer.drain()
        finally:
            self._connections.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def hang_up(self) -> None:
        """Close every connection that clients left open."""
        tasks = list(self._connections)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _answer(self, what: str, headers: Mapping[str, str]) -> Page:
        self.asked[what] += 1
        self.under_way += 1
        try:
            await self.gate(self)
        finally:
            self.under_way -= 1
        if self.token and headers.get("authorization") != f"Bearer {self.token}":
            return _REFUSED
        return self.pages.get(what, _NOWHERE)


@contextlib.asynccontextmanager
async def listening(nodes: Sequence[NodeServer]) -> AsyncIterator[None]:
    """Serve nodes on free ports of the loopback while entered, in the loop that runs."""
    async with contextlib.AsyncExitStack() as stack:
        for node in nodes:
            server = await asyncio.start_server(node.serve, "127.0.0.1", 0)
            stack.push_async_callback(server.wait_closed)
            stack.push_async_callback(node.hang_up)
            stack.callback(server.close)
            node.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield


@contextlib.contextmanager
def serving(*nodes: NodeServer) -> Iterator[list[str]]:
    """Serve nodes in a thread of their own while entered; their URLs in order."""
    ready, loop = threading.Event(), asyncio.new_event_loop()
    leave = asyncio.Event()

    async def stay() -> None:
        async with listening(nodes):
            ready.set()
            await leave.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(stay(),), daemon=True)
    thread.start()
    ready.wait()
    try:
        yield [node.url for node in nodes]
    finally:
        loop.call_soon_threadsafe(leave.set)
        thread.join()
        loop.close()


def _head(raw: bytes) -> tuple[str, dict[str, str]]:
    first, *lines = raw.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    return f"{method} {target.partition('?')[0]}", headers


def _reply(page: Page) -> bytes:
    head = (
        f"HTTP/1.1 {page.status} X\r\nContent-Type: {page.kind}\r\n"
        f"Content-Length: {len(page.body)}\r\n\r\n"
    )
    return head.encode("ascii") + page.body
