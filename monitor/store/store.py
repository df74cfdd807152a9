"""Open and close the store: directory, lock, key, schema, writer and reader, in that order."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from monitor.canaries import InstallationKey
from monitor.clock import Clock, SystemClock
from monitor.errors import StoreError
from monitor.store.audit import AuditLog
from monitor.store.client import Location, connect
from monitor.store.lock import StoreLock
from monitor.store.markers import MarkerStore
from monitor.store.mending import strike_out_lost_blocks
from monitor.store.migrate import migrate
from monitor.store.private import EvidenceHasher
from monitor.store.reader import Reader
from monitor.store.spool import Spool, WriterLimits
from monitor.store.writer import Writer

KEY_FILE = "installation.key"
DATA_DIRECTORY = "data"
SPOOL_DIRECTORY = "spool"
_OWNER_ONLY = 0o700


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """An open store. Close it: what was put is then in the database, or waits in the spool.

    ``location`` is for a client of one's own, to be closed before the store.
    """

    location: Location
    key: InstallationKey
    hasher: EvidenceHasher
    writer: Writer
    reader: Reader
    markers: MarkerStore
    audit: AuditLog
    lock: StoreLock
    _resources: ExitStack

    def flush(self) -> None:
        """Return once everything acknowledged so far is in the database and can be read."""
        self.writer.flush()

    def close(self) -> None:
        """Write what waits, then let go of everything; safe to call twice."""
        self._resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def open_store(
    path: Path,
    url: str | None = None,
    *,
    password: str = "",
    limits: WriterLimits | None = None,
    clock: Clock | None = None,
) -> Store:
    """Open the store of an installation, made or migrated if need be.

    ``path`` is the data directory: it holds the installation key, our lock, the spool and, without
    a ``url``, the embedded database. What an earlier process left in the spool is written first.
    Raises ``StoreBusyError`` naming the process that has the directory, else ``StoreError``.
    """
    limits, clock = limits or WriterLimits(), clock or SystemClock()
    with ExitStack() as resources:
        _make_private(path)
        lock = StoreLock.take(path)
        resources.callback(lock.release)
        key = InstallationKey.load_or_create(path / KEY_FILE)
        location = Location(url=url, password=password)
        if url is None:
            location = Location(path=path / DATA_DIRECTORY)
            _make_private(path / DATA_DIRECTORY)
        spool = Spool.opened(path / SPOOL_DIRECTORY, clock, limits)
        if url is None and spool.sealed:
            strike_out_lost_blocks(path / DATA_DIRECTORY)
        client = connect(location)
        resources.callback(client.close)
        migrate(client)
        reader = Reader(connect(location, read_only=True))
        resources.callback(reader.close)
        writer = Writer(client, spool, limits, clock)
        resources.callback(writer.close)
        writer.start()
        return Store(
            location=location,
            key=key,
            hasher=EvidenceHasher(key),
            writer=writer,
            reader=reader,
            markers=MarkerStore(key, writer, reader),
            audit=AuditLog(key, writer, reader),
            lock=lock,
            _resources=resources.pop_all(),
        )


def _make_private(directory: Path) -> None:
    """Make a directory that only its owner may enter."""
    try:
        directory.mkdir(mode=_OWNER_ONLY, parents=True, exist_ok=True)
        directory.chmod(_OWNER_ONLY)
    except OSError as error:
        msg = f"{directory}: the store cannot use this directory: {error.strerror}"
        raise StoreError(msg) from error
