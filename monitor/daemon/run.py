"""The daemon's life: open, serve, schedule, and on SIGTERM stop with nothing lost."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from random import SystemRandom

import uvicorn

from monitor.app import Installation, open_installation
from monitor.clock import Clock
from monitor.config import Config, resolve_secret
from monitor.config.schema import Listen
from monitor.daemon.scheduler import ProbeSchedule
from monitor.daemon.server import make_server
from monitor.daemon.watch import Watch
from monitor.errors import UsageError

log = logging.getLogger(__name__)

TOKEN_FILE = "api.token"  # noqa: S105 - a file's name
STOP_GRACE_SECONDS = 30.0
_POLL_SECONDS = 0.05


async def run_daemon(config: Config, clock: Clock) -> None:
    """Run until SIGTERM or SIGINT. Trials under way may finish; then everything is written."""
    token = api_token(config)
    watch = Watch(clock)
    installation = open_installation(config, clock, log_verdicts=True, sinks=[watch])
    try:
        await _serve(installation, watch, token)
    finally:
        await installation.aclose()
        log.info("stopped; everything acknowledged is in the store")


async def _serve(installation: Installation, watch: Watch, token: str) -> None:
    listen = installation.config.listen
    listener = listening(listen)
    schedule = ProbeSchedule(
        installation, watch, jitter=lambda most: SystemRandom().uniform(0, most)
    )
    ending = asyncio.Event()
    server = _QuietServer(
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
        url = url_of(listen)
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


def url_of(listen: Listen) -> str:
    """Return where the daemon answers on this machine; every address is reached by loopback."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(listen.host, listen.host)  # noqa: S104
    return f"http://[{host}]:{listen.port}" if ":" in host else f"http://{host}:{listen.port}"


def listening(listen: Listen) -> socket.socket:
    """Return a socket that listens there. Raises ``UsageError`` if that cannot be."""
    family = socket.AF_INET6 if ":" in listen.host else socket.AF_INET
    listener = socket.socket(family)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((listen.host, listen.port))
    except OSError as error:
        listener.close()
        msg = (
            f"cannot serve on {listen.host}:{listen.port}: {error.strerror or error} "
            "(change listen.host or listen.port)"
        )
        raise UsageError(msg) from error
    return listener


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


class _QuietServer(uvicorn.Server):
    """uvicorn without its own signal handlers: stopping is ours, in our order."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals alone."""
        yield


def api_token(config: Config) -> str:
    """Return the configured token, or one of this installation's own, made on first use."""
    if config.listen.token is not None:
        return resolve_secret(config.listen.token)
    return own_token(config.storage_path)


def own_token(folder: Path) -> str:
    """Read the token file, or write a new one that only its owner may read."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / TOKEN_FILE
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as handle:
            handle.write(secrets.token_urlsafe(32))
    return file.read_text("ascii").strip()
