"""The daemon's life: open, serve, schedule, and on SIGTERM stop with nothing lost."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import AsyncIterator, Coroutine
from random import SystemRandom

import uvicorn

from monitor.app import Installation, open_installation
from monitor.clock import Clock
from monitor.config import Config
from monitor.daemon.gpus import reading_gpus
from monitor.daemon.reporting import reporting
from monitor.daemon.scheduler import ProbeSchedule
from monitor.daemon.server import make_server
from monitor.daemon.standing import OLDEST
from monitor.daemon.token import api_token
from monitor.daemon.watch import Watch
from monitor.paging import RecentAnswers, open_pager
from monitor.serving import QuietServer, listening, url_of
from monitor.sqlhttp import sql_server

log = logging.getLogger(__name__)

STOP_GRACE_SECONDS = 30.0
_POLL_SECONDS = 0.05


async def run_daemon(config: Config, clock: Clock) -> None:
    """Run until SIGTERM or SIGINT. Trials under way may finish; then everything is written."""
    token = api_token(config)
    watch, recent = Watch(clock), RecentAnswers()
    installation = open_installation(
        config, clock, log_verdicts=True, first=[recent], sinks=[watch], watched=True
    )
    try:
        watch.verdicts.recall(installation.store.reader.last_scheduled(clock.now() - OLDEST))
        async with (
            _readers_served(installation),
            paging(installation, recent),
            reading_nodes(installation, watch),
            reading_gpus(installation),
            reporting(config, installation.store, clock, installation.metrics),
        ):
            await _serve(installation, watch, token)
    finally:
        await installation.aclose()
        log.info("stopped; nothing that was acknowledged is lost")


@contextlib.asynccontextmanager
async def _readers_served(installation: Installation) -> AsyncIterator[None]:
    """Serve the embedded store's readers meanwhile; a server of your own serves its own."""
    config, data = installation.config, installation.store.location.path
    if data is None or not config.storage.sql.enabled:
        yield
        return
    counted = installation.counters.count_statement
    readers = sql_server(config, installation.clock, on_result=counted)
    try:
        await asyncio.to_thread(readers.start, data)
        log.info("serving readers' SQL at %s", readers.url)
        yield
    finally:
        await asyncio.to_thread(readers.stop)


@contextlib.asynccontextmanager
async def paging(installation: Installation, recent: RecentAnswers) -> AsyncIterator[None]:
    """Tell the configured receivers of findings meanwhile. A pager that crashes ends the daemon."""
    of = installation
    pager = open_pager(of.config, of.store, of.findings, recent, of.metrics, of.clock)
    if pager is None:
        yield
        return
    running = _beside(pager.run())
    try:
        yield
    finally:
        try:
            await _ended(running)
            await pager.finish()
        finally:
            await pager.aclose()


@contextlib.asynccontextmanager
async def reading_nodes(installation: Installation, watch: Watch) -> AsyncIterator[None]:
    """Read the nodes of every target meanwhile. A reading that crashes ends the daemon."""

    def press(target: str, pressure: float) -> None:
        watch.backoff(target).pressure = pressure

    if installation.nodes is None:
        yield
        return
    running = _beside(installation.nodes.run(press))
    try:
        yield
    finally:
        await _ended(running)


def _beside(work: Coroutine[None, None, None]) -> asyncio.Task[None]:
    """Start what runs for ever. If it ends by itself it has crashed, and so does its owner."""
    running, owner = asyncio.create_task(work), asyncio.current_task()

    def crashed(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and owner is not None:
            owner.cancel()

    running.add_done_callback(crashed)
    return running


async def _ended(running: asyncio.Task[None]) -> None:
    """End what runs for ever. Raises what it crashed of, if it did."""
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running


async def _serve(installation: Installation, watch: Watch, token: str) -> None:
    listen = installation.config.listen
    listener = listening(listen.host, listen.port, "listen.host or listen.port")
    schedule = ProbeSchedule(
        installation, watch, jitter=lambda most: SystemRandom().uniform(0, most)
    )
    ending = asyncio.Event()
    server = QuietServer(
        uvicorn.Config(
            make_server(installation, schedule, token, ending),
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=5,
        )
    )
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    stopping = asyncio.create_task(stop.wait())
    try:
        await _until_started(server, serving)
        url = url_of(listen.host, listen.port)
        if installation.store.lock is not None:
            installation.store.lock.announce(url)
        await schedule.start()
        log.info("serving %s/metrics, watching %d targets", url, len(installation.targets))
        await asyncio.wait({stopping, serving}, return_when=asyncio.FIRST_COMPLETED)
        schedule.pause()
        await _drain(schedule, installation.clock)
    finally:
        stopping.cancel()
        schedule.stop()
        ending.set()
        server.should_exit = True
        with contextlib.suppress(asyncio.CancelledError):
            await serving


async def _until_started(server: uvicorn.Server, serving: asyncio.Task[None]) -> None:
    # uvicorn sets a flag, not an event.
    while not server.started and not serving.done():  # noqa: ASYNC110
        await asyncio.sleep(_POLL_SECONDS)
    if serving.done():
        await serving


async def _drain(schedule: ProbeSchedule, clock: Clock) -> None:
    """Let trials under way come to their end, for a while."""
    deadline = clock.monotonic() + STOP_GRACE_SECONDS
    while schedule.under_way and clock.monotonic() < deadline:
        await clock.sleep(_POLL_SECONDS)
