"""A client that reads the rows of an installation, whoever owns its store."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from monitor.app import store_of
from monitor.config import Config, resolve_secret
from monitor.errors import StoreBusyError, StoreError
from monitor.serving import url_of
from monitor.sqlhttp import USER, reader_token, sql_port
from monitor.store import StoreOwner, owner_of
from monitor.store.client import Client, Location, connect
from monitor.store.store import located

# A server keeps the whole of an answer until its end, so that it can say that it failed.
MOST_ROWS_OF_A_SERVER = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A read-only client, the most rows to ask of it at once, and where an engine may be opened.

    ``engine_at`` is the embedded store itself, because a process has one engine; else ``None``.
    """

    client: Client
    most_rows: int | None
    engine_at: Location | None = None

    @contextmanager
    def engine(self) -> Iterator[Client]:
        """Give an embedded engine that may read and write files."""
        if self.engine_at is not None:
            with closing(connect(self.engine_at)) as client:
                yield client
            return
        with (
            tempfile.TemporaryDirectory(prefix="davylamp-engine-") as scratch,
            closing(connect(Location(path=Path(scratch)))) as client,
        ):
            yield client


@contextmanager
def open_reading(config: Config) -> Iterator[Reading]:
    """Give what reads an installation's rows.

    What was acknowledged is among them; but beside another process that owns the store, what it
    took in the last second may still be missing. Raises ``StoreBusyError`` that names a process
    which serves no rows to readers.
    """
    owner = owner_of(config.storage_path)
    if owner is not None:
        with closing(_beside(config, owner)) as client:
            most = min(config.storage.sql.max_rows, MOST_ROWS_OF_A_SERVER)
            yield Reading(client=client, most_rows=most)
        return
    with (
        store_of(config) as store,
        closing(connect(store.location, read_only=True)) as client,
    ):
        store.flush()
        if store.location.url is None:
            yield Reading(client=client, most_rows=None, engine_at=store.location)
        else:
            yield Reading(client=client, most_rows=MOST_ROWS_OF_A_SERVER)


def _beside(config: Config, owner: StoreOwner) -> Client:
    """Return a client of the server, or of the process that has the embedded store."""
    storage, sql = config.storage, config.storage.sql
    if storage.url is not None:
        password = resolve_secret(storage.password) if storage.password else ""
        server = located(
            config.storage_path, storage.url, password=password, cluster=storage.cluster
        )
        return connect(server, read_only=True)
    busy = f"{config.storage_path}: process {owner.pid} owns this store"
    if not sql.enabled:
        msg = f"{busy} and serves no rows to readers: set storage.sql.enabled, or stop it"
        raise StoreBusyError(msg)
    url = url_of(sql.host, sql_port(config)).replace("://", f"://{USER}@") + "?compress=false"
    try:
        return connect(Location(url=url, password=reader_token(config)), read_only=True)
    except StoreError as error:
        msg = f"{busy}, but gives its readers no answer; stop it, or wait for it ({error})"
        raise StoreBusyError(msg) from error
