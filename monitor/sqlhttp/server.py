"""Serving readers beside whatever else the process does: in a thread and a loop of their own.

Their answers must not hold up the loop that sends probes and measures how long answers take.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from monitor.clock import Clock
from monitor.config import Config
from monitor.config.storage import Sql
from monitor.conventions import SqlResult
from monitor.errors import StoreError, UsageError
from monitor.serving import QuietServer, listening, own_names, url_of
from monitor.sqlhttp.access import reader_token
from monitor.sqlhttp.app import OnResult, SqlPages
from monitor.sqlhttp.engine import Limits, SqlEngine

log = logging.getLogger(__name__)

_HIGHEST_PORT = 65_535
_MOST_READERS = 4
_MOST_HEAD_BYTES = 1024 * 1024
_STOP_SECONDS = 3
_KEYS = "storage.sql.host or storage.sql.port, or set storage.sql.enabled: false"


class SqlServer:
    """A server of readers that has its port; ``start`` it over a store's data, then ``stop`` it."""

    def __init__(
        self, config: Config, listener: socket.socket, token: str, clock: Clock, on_result: OnResult
    ) -> None:
        self.url = url_of(*listener.getsockname()[:2])
        self._config = config
        self._listener = listener
        self._token = token
        self._clock = clock
        self._on_result = on_result
        self._engine: SqlEngine | None = None
        self._executor: ThreadPoolExecutor | None = None
        self._server: _ReadyServer | None = None
        self._thread: threading.Thread | None = None
        self._ready = threading.Event()

    def start(self, data: Path) -> None:
        """Serve the embedded data of a store that this process owns, from when this returns.

        Raises ``StoreError`` if the engine refuses.
        """
        sql, limits = self._config.storage.sql, _limits(self._config.storage.sql)
        self._engine = SqlEngine(data, self._config.storage_path, limits)
        self._engine.open()
        self._executor = ThreadPoolExecutor(limits.readers, thread_name_prefix="sql-reader")
        pages = SqlPages(self._engine, self._token, self._clock, self._executor, self._on_result)
        app = pages.application(own_names(sql.host, self._config.listen.hosts))
        self._server = _ReadyServer(_settings(app), self._ready)
        self._thread = threading.Thread(target=self._serve, name="sql-http", daemon=True)
        self._thread.start()
        self._ready.wait()
        if not self._server.started:
            self.stop()
            msg = "readers cannot be served: the server did not start, see the log"
            raise StoreError(msg)

    def stop(self) -> None:
        """End what runs, break off what is being sent, let go of the store and of the port."""
        if self._server is not None:
            self._server.should_exit = True
        if self._engine is not None:
            self._engine.close()  # from now on it tells everybody that it stops
        if self._thread is not None:
            self._thread.join()
        if self._executor is not None:
            self._executor.shutdown()
        self._listener.close()

    def _serve(self) -> None:
        try:
            if self._server is not None:
                asyncio.run(self._server.serve(sockets=[self._listener]))
        finally:
            self._ready.set()


class _ReadyServer(QuietServer):
    def __init__(self, config: uvicorn.Config, ready: threading.Event) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Tell whoever waits that it serves."""
        await super().startup(sockets=sockets)
        self._ready.set()


def sql_port(config: Config) -> int:
    """Return where readers are served: as configured, else one above the daemon's own port."""
    port = config.storage.sql.port or config.listen.port + 1
    if port > _HIGHEST_PORT:
        msg = f"there is no port above listen.port {config.listen.port}: set storage.sql.port"
        raise UsageError(msg)
    return port


def sql_server(
    config: Config, clock: Clock, *, port: int | None = None, on_result: OnResult | None = None
) -> SqlServer:
    """Return a server that has its port and its password, and waits to be started.

    Raises ``UsageError`` if the port is taken, ``ConfigError`` for a password that cannot be read.
    """
    token = reader_token(config)
    listener = listening(config.storage.sql.host, port or sql_port(config), _KEYS)
    return SqlServer(config, listener, token, clock, on_result or _unheard)


def _settings(app: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        http="h11",
        ws="none",
        server_header=False,
        h11_max_incomplete_event_size=_MOST_HEAD_BYTES,
        timeout_graceful_shutdown=_STOP_SECONDS,
    )


def _limits(sql: Sql) -> Limits:
    cores = os.cpu_count() or 1
    return Limits(
        max_seconds=sql.max_seconds,
        max_memory_bytes=sql.max_memory_mb * 1024 * 1024,
        max_rows=sql.max_rows,
        readers=min(_MOST_READERS, max(2, cores)),
        threads=min(_MOST_READERS, cores),
    )


def _unheard(result: SqlResult) -> None:
    """Nobody counts."""
