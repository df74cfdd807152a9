"""``davylamp db serve``: the readers' SQL of the embedded store, while no daemon runs."""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import Annotated

import typer

from monitor.app import store_of
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption
from monitor.clock import SystemClock
from monitor.config import Config
from monitor.configured import read_config
from monitor.errors import StoreBusyError, UsageError
from monitor.logs import set_up_logs
from monitor.serving import url_of
from monitor.sqlhttp import TOKEN_FILE, USER, sql_port, sql_server
from monitor.store import owner_of

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("serve")
def serve(
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65_535, help="Instead of storage.sql.port."),
    ] = None,
    config: ConfigOption = DEFAULT_CONFIG,
) -> None:
    """Serve read-only SQL over ClickHouse's HTTP interface until SIGTERM or Ctrl-C.

    Grafana, curl and any client of ClickHouse's HTTP interface can ask. A daemon serves the same
    while it runs. Exit 2 if a daemon or another process owns the store, or the port is taken.
    """
    settings = read_config(str(config))
    set_up_logs(settings.log.level, settings.log.format)
    if settings.storage.url is not None:
        msg = "storage.url names a ClickHouse server of your own: ask that (nothing to serve here)"
        raise UsageError(msg)
    _refuse_an_owned_store(settings)
    readers = sql_server(settings, SystemClock(), port=port)
    ending = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ending.set())
    with contextlib.ExitStack() as resources:
        # Stopped before the store is let go of, and also if that cannot be opened.
        resources.callback(readers.stop)
        store = resources.enter_context(store_of(settings))
        resources.callback(readers.stop)
        data = store.location.path
        if data is None:  # the URL was looked at above
            raise UsageError("the store is not embedded")
        readers.start(data)
        typer.echo(f"serving {readers.url} to user {USER}; password: {_password(settings)}")
        ending.wait()


def _refuse_an_owned_store(settings: Config) -> None:
    owner = owner_of(settings.storage_path)
    if owner is None:
        return
    sql = settings.storage.sql
    msg = f"{settings.storage_path}: process {owner.pid} owns this store"
    if owner.url is None:
        msg += " and is no daemon: wait for it, or ask it if it is another `db serve`"
        raise StoreBusyError(msg)
    msg += f"; its daemon at {owner.url}"
    if sql.enabled:
        msg += f" serves readers already, at {url_of(sql.host, sql_port(settings))}"
    else:
        msg += " could serve readers itself: set storage.sql.enabled: true and start it again"
    raise StoreBusyError(msg)


def _password(settings: Config) -> str:
    token = settings.storage.sql.token
    return f"in {settings.storage_path / TOKEN_FILE}" if token is None else f"from {token}"
