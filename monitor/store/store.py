"""Open and close the store: directory, lock, key, schema, writer and reader, in that order."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from monitor.canaries import InstallationKey
from monitor.clock import Clock, SystemClock
from monitor.config.storage import Retention
from monitor.errors import StoreError
from monitor.store.audit import AuditLog
from monitor.store.client import Client, Location, connect
from monitor.store.holds import Holds
from monitor.store.links import Action
from monitor.store.lock import StoreLock
from monitor.store.markers import MarkerStore
from monitor.store.mending import strike_out_lost_blocks
from monitor.store.migrate import OnStatement, Standing, bring_up, standing
from monitor.store.private import EvidenceHasher
from monitor.store.reader import Reader
from monitor.store.rebuilding import drop_rebuilt
from monitor.store.snapshot import drop_snapshot
from monitor.store.spool import Spool, WriterLimits
from monitor.store.unfinished import refuse_unfinished
from monitor.store.writer import Writer

KEY_FILE = "installation.key"
DATA_DIRECTORY = "data"
SPOOL_DIRECTORY = "spool"
# Here the daemon leaves a backup for whoever asked for it to take away.
WAITING_DIRECTORY = "backups"
_OWNER_ONLY = 0o700


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """An open store. Close it: what was put is then in the database, or waits in the spool.

    ``location`` is for a client of one's own, to be closed before the store. ``brought`` is what
    separated it from this version and its configuration when it was opened.
    """

    location: Location
    key: InstallationKey
    hasher: EvidenceHasher
    writer: Writer
    reader: Reader
    markers: MarkerStore
    audit: AuditLog
    holds: Holds
    lock: StoreLock
    brought: Standing
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
    cluster: str | None = None,
    retention: Retention | None = None,
    limits: WriterLimits | None = None,
    clock: Clock | None = None,
    on_statement: OnStatement | None = None,
) -> Store:
    """Open the store of an installation, made or migrated if need be.

    ``path`` is the data directory: it holds the installation key, our lock, the spool and, without
    a ``url``, the embedded database. What an earlier process left in the spool is written first.
    Rows are kept as long as ``retention`` says; left out, as long as until now. ``on_statement`` is
    told how far migrations have come. Raises ``StoreBusyError`` naming the process that has the
    directory, else ``StoreError``: also while a broken-off restore has left the store half full.
    """
    limits, clock = limits or WriterLimits(), clock or SystemClock()
    with ExitStack() as resources:
        make_private(path)
        lock = StoreLock.take(path)
        resources.callback(lock.release)
        key = InstallationKey.load_or_create(path / KEY_FILE)
        location = replace(
            located(path, url, password=password, cluster=cluster),
            answer_seconds=limits.answer_seconds,
        )
        shutil.rmtree(path / WAITING_DIRECTORY, ignore_errors=True)
        spool = Spool.opened(path / SPOOL_DIRECTORY, clock, limits)
        if location.path is not None:
            make_private(location.path)
            if spool.sealed:
                strike_out_lost_blocks(location.path)
        client = connect(location)
        resources.callback(client.close)
        brought = _whole(client, location, retention, on_statement)
        reader = Reader(connect(location, read_only=True))
        resources.callback(reader.close)
        writer = Writer(client, spool, limits, clock)
        resources.callback(writer.close)
        writer.start()
        audit = AuditLog(key, writer, reader)
        _record(audit, brought, clock)
        holds = Holds(location, writer, reader)
        resources.callback(holds.close)
        return Store(
            location=location,
            key=key,
            hasher=EvidenceHasher(key),
            writer=writer,
            reader=reader,
            markers=MarkerStore(key, writer, reader, location, audit),
            audit=audit,
            holds=holds,
            lock=lock,
            brought=brought,
            _resources=resources.pop_all(),
        )


def _whole(
    client: Client,
    location: Location,
    retention: Retention | None,
    on_statement: OnStatement | None,
) -> Standing:
    """Bring a database up, unless a restore left it half full; return what was done."""
    refuse_unfinished(client, location)
    drop_snapshot(client)
    drop_rebuilt(client)
    return bring_up(client, retention, location.cluster, on_statement, location)


def located(path: Path, url: str | None, *, password: str, cluster: str | None) -> Location:
    """Return where the data of an installation is: below its folder, or on its server."""
    if url is not None:
        return Location(url=url, password=password, cluster=cluster)
    return Location(path=path / DATA_DIRECTORY)


def standing_of(path: Path, location: Location, retention: Retention) -> Standing:
    """Return what opening a store would change in it; changes and makes nothing.

    Raises ``StoreBusyError`` naming the process that has the directory, else ``StoreError``.
    """
    with ExitStack() as resources:
        if path.is_dir():
            resources.callback(StoreLock.take(path).release)
        return standing(location, retention)


def _record(audit: AuditLog, brought: Standing, clock: Clock) -> None:
    """Append to the audit chain, once it is read, what was changed in a store that was there."""
    audit.reread()
    if brought.is_new:
        return
    if brought.migrations:
        names = tuple(migration.name for migration in brought.migrations)
        audit.append(
            Action.MIGRATE, "schema", actor="davylamp", at=clock.now(), details={"applied": names}
        )
    if brought.terms:
        days = {change.term.table: change.term.days for change in brought.terms}
        before = {
            change.term.table: change.days_in_force
            for change in brought.terms
            if change.days_in_force is not None
        }
        audit.append(
            Action.RETENTION,
            "storage.retention",
            actor="davylamp",
            at=clock.now(),
            details={"days": days, "days_before": before},
        )


def make_private(directory: Path) -> None:
    """Make a directory that only its owner may enter."""
    try:
        directory.mkdir(mode=_OWNER_ONLY, parents=True, exist_ok=True)
        directory.chmod(_OWNER_ONLY)
    except OSError as error:
        msg = f"{directory}: the store cannot use this directory: {error.strerror}"
        raise StoreError(msg) from error
