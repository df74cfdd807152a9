"""Open and close the store: directory, lock, key, schema, writer and reader, in that order."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from monitor.canaries import InstallationKey
from monitor.errors import StoreError
from monitor.store.audit import AuditLog
from monitor.store.client import Location, connect
from monitor.store.lock import StoreLock
from monitor.store.markers import MarkerStore
from monitor.store.migrate import migrate
from monitor.store.private import EvidenceHasher
from monitor.store.reader import Reader
from monitor.store.writer import Writer, WriterLimits

KEY_FILE = "installation.key"
DATA_DIRECTORY = "data"
_OWNER_ONLY = 0o700


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """An open store. Close it: what was acknowledged is written before ``close`` returns."""

    key: InstallationKey
    hasher: EvidenceHasher
    writer: Writer
    reader: Reader
    markers: MarkerStore
    audit: AuditLog
    lock: StoreLock | None
    _resources: ExitStack

    def flush(self) -> None:
        """Return once everything acknowledged so far is in the database and can be read."""
        self.writer.flush()

    def close(self) -> None:
        """Write what is queued, then let go of everything; safe to call twice.

        Raises ``StoreError`` if rows could not be written.
        """
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
    path: Path | None,
    url: str | None = None,
    *,
    password: str = "",
    key: InstallationKey | None = None,
    limits: WriterLimits | None = None,
) -> Store:
    """Open the store of an installation, made or migrated if need be.

    ``path`` is the data directory: it holds the installation key, our lock and, without a
    ``url``, the embedded database. A server store without a directory needs a ``key``.
    Raises ``StoreBusyError`` naming the process that has the directory, else ``StoreError``.
    """
    with ExitStack() as resources:
        lock = None
        if path is not None:
            _make_private(path)
            lock = StoreLock.take(path)
            resources.callback(lock.release)
            key = key or InstallationKey.load_or_create(path / KEY_FILE)
        if key is None:
            msg = "a store on a server still needs a directory for the installation key"
            raise StoreError(msg)
        location = Location(url=url, password=password)
        if url is None and path is not None:
            location = Location(path=path / DATA_DIRECTORY)
            _make_private(path / DATA_DIRECTORY)
        client = connect(location)
        resources.callback(client.close)
        migrate(client)
        reader = Reader(connect(location, read_only=True))
        resources.callback(reader.close)
        writer = Writer(client, limits)
        writer.start()
        resources.callback(writer.close)
        return Store(
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
