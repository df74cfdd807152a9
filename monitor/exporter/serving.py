"""A process of its own on each node: reads GPUs and, if told, the engine, and serves metrics."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from monitor.clock import Clock
from monitor.config.gpu import Gpus
from monitor.exporter.opening import gpu_watch
from monitor.exporter.tokens import tokens_of, unread
from monitor.gpu import GpuCollector, GpuWatch, NodeTokens
from monitor.nodes.reading import NodeAddress, read_nodes
from monitor.nodes.record import NodeSnapshot
from monitor.serving import KnownHost, QuietServer, listening, own_names, url_of

log = logging.getLogger(__name__)

# Neither holds secrets or text, and there is nothing else.
OPEN_PATHS = frozenset({"/metrics", "/healthz"})
_FIRST_SECONDS = 10.0
_STOP_SECONDS = 2
_MOST_CONNECTIONS = 64
_MOST_HEAD_BYTES = 16_384
_EVERY_ADDRESS = frozenset({"0.0.0.0", "::"})  # noqa: S104 - not bound to


@dataclass(frozen=True, slots=True, kw_only=True)
class Exporter:
    """What one exporter does: where it listens, what it reads, and under which ``env``."""

    host: str
    port: int
    env: str
    gpus: Gpus
    folder: Path
    nodes: tuple[NodeAddress, ...] = ()


async def run_exporter(exporter: Exporter, clock: Clock, announce: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT; ``announce`` is told the URL once it answers.

    It serves whatever the driver says: one that is not there is a state in the metrics. Raises
    ``UsageError`` if nothing can listen there, ``ConfigError`` for a missing extra or secret.
    """
    nodes = _Nodes(exporter, clock)
    watch = gpu_watch(exporter.gpus, exporter.folder, clock, lambda: nodes.tokens)
    listener = listening(exporter.host, exporter.port, "--listen")
    try:
        if watch is not None:
            watch.start()
            await asyncio.to_thread(watch.wait_first, _FIRST_SECONDS)
        await nodes.read()
        await _serve(application(exporter, watch), nodes, listener, announce)
    finally:
        if watch is not None:
            await asyncio.to_thread(watch.stop)
        listener.close()
        log.info("stopped")


class _Nodes:
    """The engines on this machine, as they were last read."""

    def __init__(self, exporter: Exporter, clock: Clock) -> None:
        self._addresses = exporter.nodes
        self._interval = exporter.gpus.interval_seconds
        self._clock = clock
        self.tokens: Sequence[NodeTokens] = ()
        self._said: dict[str, str] = {}

    async def read(self) -> None:
        """Read them once."""
        if self._addresses:
            read = await read_nodes(self._addresses, clock=self._clock)
            self.tokens = tuple(tokens_of(each) for each in read)
            for each in read:
                self._say(each)

    def _say(self, read: NodeSnapshot) -> None:
        """Say in the log why a node was not read, whenever that changes."""
        why = unread(read)
        if self._said.get(read.node, "") == why:
            return
        self._said[read.node] = why
        if why:
            log.warning("node %s: %s", read.node, why)
        else:
            log.info("node %s: read", read.node)

    async def run(self) -> None:
        """Read them at each interval, for ever."""
        while True:
            await self._clock.sleep(self._interval)
            await self.read()


def application(exporter: Exporter, watch: GpuWatch | None) -> Starlette:
    """Return the pages: /metrics and /healthz, under any name, since they hold nothing secret.

    It has no ``build_info``: a daemon that is gone would not be missed beside it.
    """
    registry = CollectorRegistry()
    if watch is not None:
        registry.register(GpuCollector(env=exporter.env, page=watch.page))

    async def metrics(request: Request) -> Response:
        page = await asyncio.to_thread(generate_latest, registry)
        return Response(page, media_type=CONTENT_TYPE_LATEST)

    async def healthz(request: Request) -> Response:
        return PlainTextResponse("ok\n")

    return Starlette(
        routes=[Route("/metrics", metrics), Route("/healthz", healthz)],
        middleware=[Middleware(KnownHost, hosts=own_names(exporter.host), open_paths=OPEN_PATHS)],
    )


class _AnnouncedServer(QuietServer):
    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Tell that it serves."""
        await super().startup(sockets=sockets)
        self._announce()


async def _serve(
    app: Starlette, nodes: _Nodes, listener: socket.socket, announce: Callable[[str], None]
) -> None:
    server = _AnnouncedServer(_settings(app), lambda: announce(_place(listener)))
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    stopping, reading = asyncio.create_task(stop.wait()), asyncio.create_task(nodes.run())
    try:
        ended, _ = await asyncio.wait(
            {serving, stopping, reading}, return_when=asyncio.FIRST_COMPLETED
        )
        if reading in ended:
            await reading  # it never ends but by a fault of ours
    finally:
        server.should_exit = True
        for each in (stopping, reading):
            each.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await serving


def _place(listener: socket.socket) -> str:
    """Return the URL of the metrics; where every address is listened to, that too."""
    host, port = listener.getsockname()[:2]
    everywhere = " and at every other address of this machine"
    return f"{url_of(host, port)}/metrics{everywhere if host in _EVERY_ADDRESS else ''}"


def _settings(app: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        http="h11",
        ws="none",
        server_header=False,
        limit_concurrency=_MOST_CONNECTIONS,
        h11_max_incomplete_event_size=_MOST_HEAD_BYTES,
        timeout_graceful_shutdown=_STOP_SECONDS,
    )
