"""A client that reads the rows of an installation, whoever owns its store."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from monitor.app import store_of
from monitor.config import Config
from monitor.errors import StoreBusyError
from monitor.store import owner_of
from monitor.store.client import Client, Location, connect

# A server keeps the whole of an answer until its end, so that it can say that it failed.
MOST_ROWS_OF_A_SERVER = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A read-only client, the most rows to ask of it at once, and where an engine may be opened.

    ``engine_at`` is the embedded store itself, because a process has one engine; else ``None``.
    """

    client: Client
    most_rows: int | None
    engine_at: Location | None

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
    """Give what reads an installation's rows; everything acknowledged is among them.

    Raises ``StoreBusyError`` that names the process which owns the store.
    """
    owner = owner_of(config.storage_path)
    if owner is not None:
        msg = f"{config.storage_path}: process {owner.pid} owns this store; stop it first"
        raise StoreBusyError(msg)
    with (
        store_of(config) as store,
        closing(connect(store.location, read_only=True)) as client,
    ):
        store.flush()
        embedded = store.location.url is None
        yield Reading(
            client=client,
            most_rows=None if embedded else MOST_ROWS_OF_A_SERVER,
            engine_at=store.location if embedded else None,
        )
