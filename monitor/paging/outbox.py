"""The outbox: events that wait to be sent, and what each incident was last said to be, on disk.

An event and what it says are kept in one transaction, so neither is ever there without the other.
Events of an incident leave in the order they came in; a receiver's incidents do not wait for one
another.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from monitor.conventions.pages import PageAction, Severity
from monitor.errors import StoreError

OUTBOX_FILE = "pages.sqlite"
_VERSION = 1
_BUSY_SECONDS = 5.0
_TABLES = """
CREATE TABLE IF NOT EXISTS incidents
(
    receiver TEXT NOT NULL,
    finding TEXT NOT NULL,
    target TEXT NOT NULL,
    dedup_key TEXT NOT NULL,
    told TEXT NOT NULL,
    decision TEXT NOT NULL,
    rejected INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (receiver, finding)
) STRICT;
CREATE TABLE IF NOT EXISTS events
(
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    receiver TEXT NOT NULL,
    finding TEXT NOT NULL,
    target TEXT NOT NULL,
    dedup_key TEXT NOT NULL,
    action TEXT NOT NULL,
    severity TEXT NOT NULL,
    body BLOB NOT NULL,
    made_at REAL NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    not_before REAL NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX IF NOT EXISTS events_by_incident ON events (receiver, dedup_key, sequence);
"""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """What a receiver was last told of a finding, or will have been once the outbox is empty.

    ``told`` is how the finding stood then, ``decision`` what a person had decided by then.
    """

    receiver: str
    finding: str
    target: str
    dedup_key: str
    told: str
    decision: str
    rejected: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event of an incident, for one receiver; ``body`` holds no secret."""

    id: str
    receiver: str
    finding: str
    target: str
    dedup_key: str
    action: PageAction
    severity: Severity
    body: bytes
    made_at: datetime
    attempts: int = 0
    not_before: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """How many events wait, and since when the oldest does."""

    events: int
    oldest: datetime | None


class Outbox:
    """Safe from several threads of the one process that owns the installation.

    Every method raises ``StoreError`` if the disk does not take or give what is asked.
    """

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._lock = threading.RLock()

    def incidents(self) -> dict[tuple[str, str], Incident]:
        """Return what was said, by receiver and finding."""
        with self._working() as database:
            rows = database.execute(
                "SELECT receiver, finding, target, dedup_key, told, decision, rejected "
                "FROM incidents"
            ).fetchall()
        found = [
            Incident(
                receiver=row[0],
                finding=row[1],
                target=row[2],
                dedup_key=row[3],
                told=row[4],
                decision=row[5],
                rejected=bool(row[6]),
            )
            for row in rows
        ]
        return {(each.receiver, each.finding): each for each in found}

    def enqueue(self, event: Event, incident: Incident | None) -> None:
        """Keep an event and what its incident then is; ``None`` if it is then over."""
        with self._working() as database:
            database.execute(
                "INSERT INTO events (id, receiver, finding, target, dedup_key, action, severity, "
                "body, made_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(event.id, event.receiver, event.finding, event.target, event.dedup_key),
                    *(event.action.value, event.severity.value, event.body),
                    event.made_at.timestamp(),
                ),
            )
            if incident is None:
                database.execute(
                    "DELETE FROM incidents WHERE receiver = ? AND finding = ?",
                    (event.receiver, event.finding),
                )
                return
            database.execute(
                "INSERT INTO incidents (receiver, finding, target, dedup_key, told, decision) "
                "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (receiver, finding) DO UPDATE SET "
                "target = excluded.target, dedup_key = excluded.dedup_key, told = excluded.told, "
                "decision = excluded.decision",
                (
                    *(incident.receiver, incident.finding, incident.target, incident.dedup_key),
                    *(incident.told, incident.decision),
                ),
            )

    def heads(self, receiver: str) -> tuple[Event, ...]:
        """Return the first event of each of a receiver's incidents: pages first, then by age."""
        with self._working() as database:
            rows = database.execute(
                "SELECT id, receiver, finding, target, dedup_key, action, severity, body, made_at, "
                "attempts, not_before FROM events WHERE sequence IN (SELECT min(sequence) FROM "
                "events WHERE receiver = ? GROUP BY dedup_key) "
                "ORDER BY severity != 'critical', sequence",
                (receiver,),
            ).fetchall()
        return tuple(_event(row) for row in rows)

    def begin(self, event: Event) -> int:
        """Note that an event is about to be sent; return which attempt this is, from 1."""
        with self._working() as database:
            database.execute(
                "UPDATE events SET attempts = ? WHERE id = ?", (event.attempts + 1, event.id)
            )
        return event.attempts + 1

    def put_off(self, event: Event, until: datetime) -> None:
        """Let an event, and those of its incident after it, wait until then."""
        with self._working() as database:
            database.execute(
                "UPDATE events SET not_before = ? WHERE id = ?", (until.timestamp(), event.id)
            )

    def done(self, event: Event, *, rejected: bool = False) -> None:
        """Forget an event that was delivered, or never will be.

        An incident whose last trigger was ``rejected`` is remembered as such.
        """
        with self._working() as database:
            database.execute("DELETE FROM events WHERE id = ?", (event.id,))
            if event.action is PageAction.TRIGGER:
                database.execute(
                    "UPDATE incidents SET rejected = ? WHERE receiver = ? AND finding = ?",
                    (int(rejected), event.receiver, event.finding),
                )

    def rejected(self) -> dict[str, int]:
        """Return how many incidents each receiver was told in vain; one that took all is absent."""
        with self._working() as database:
            rows = database.execute(
                "SELECT receiver, count(*) FROM incidents WHERE rejected GROUP BY receiver"
            ).fetchall()
        return {str(receiver): int(count) for receiver, count in rows}

    def forget_rejected(self) -> int:
        """Take what was rejected as never said; return how many incidents that were.

        Whoever mended a key or an endpoint then starts anew and is told.
        """
        with self._working() as database:
            return database.execute("DELETE FROM incidents WHERE rejected").rowcount

    def receivers(self) -> frozenset[str]:
        """Return for whom anything waits, or was said."""
        with self._working() as database:
            rows = database.execute(
                "SELECT receiver FROM events UNION SELECT receiver FROM incidents"
            ).fetchall()
        return frozenset(str(row[0]) for row in rows)

    def forget_incidents_of(self, receiver: str) -> None:
        """Take everything a receiver was told as never said."""
        with self._working() as database:
            database.execute("DELETE FROM incidents WHERE receiver = ?", (receiver,))

    def waiting(self) -> Waiting:
        """Return how many events wait, and for how long."""
        with self._working() as database:
            return _waiting(database)

    def close(self) -> None:
        """Close the file; safe to call twice."""
        with self._lock:
            self._database.close()

    @contextlib.contextmanager
    def _working(self) -> Iterator[sqlite3.Connection]:
        """Give the database for one transaction, kept whole or not at all."""
        try:
            with self._lock, self._database:
                yield self._database
        except sqlite3.Error as error:
            msg = f"the outbox of pages cannot be used: {error}"
            raise StoreError(msg) from error


def waiting_in(folder: Path) -> Waiting | None:
    """Return what waits in an outbox that another process may have, changing nothing.

    ``None`` if there is no outbox. Raises ``StoreError`` if it cannot be read.
    """
    file = folder / OUTBOX_FILE
    if not file.exists():
        return None
    try:
        with contextlib.closing(
            sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=_BUSY_SECONDS)
        ) as database:
            return _waiting(database)
    except sqlite3.Error as error:
        msg = f"{file} cannot be read: {error}"
        raise StoreError(msg) from error


def _waiting(database: sqlite3.Connection) -> Waiting:
    count, oldest = database.execute("SELECT count(), min(made_at) FROM events").fetchone()
    return Waiting(events=count, oldest=None if oldest is None else _instant(oldest))


def open_outbox(folder: Path, now: datetime) -> Outbox:
    """Open the outbox of an installation, or make it.

    One that is damaged is laid aside, loudly: what open findings ask for is then said anew, under
    the same keys. Raises ``StoreError`` if the folder takes none.
    """
    file = folder / OUTBOX_FILE
    try:
        return Outbox(_opened(file))
    except (OSError, sqlite3.OperationalError) as error:
        msg = f"{file} cannot be opened: {error}"
        raise StoreError(msg) from error
    except sqlite3.DatabaseError as error:
        aside = file.with_name(f"{OUTBOX_FILE}.damaged-{now.astimezone(UTC):%Y%m%dT%H%M%S}")
        _log.error("%s is damaged and laid aside as %s: %s", file, aside.name, error)
        for ending in ("-wal", "-shm"):
            file.with_name(file.name + ending).unlink(missing_ok=True)
        file.rename(aside)
    return Outbox(_opened(file))


def _opened(file: Path) -> sqlite3.Connection:
    descriptor = os.open(file, os.O_CREAT | os.O_RDWR, 0o600)
    os.close(descriptor)
    database = sqlite3.connect(file, timeout=_BUSY_SECONDS, check_same_thread=False)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        # What this returns from is on the disk, also if the machine stops.
        database.execute("PRAGMA synchronous = FULL")
        _check(database, file)
        database.executescript(_TABLES)
        database.execute(f"PRAGMA user_version = {_VERSION}")
    except BaseException:
        database.close()
        raise
    return database


def _check(database: sqlite3.Connection, file: Path) -> None:
    """Raise ``DatabaseError`` if a file is damaged, ``StoreError`` if it is not for us."""
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version > _VERSION:
        msg = f"{file} is of a newer version of Davylamp (use that one, or remove the file)"
        raise StoreError(msg)
    (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise sqlite3.DatabaseError(found)


def _event(row: tuple[str, str, str, str, str, str, str, bytes, float, int, float]) -> Event:
    return Event(
        id=row[0],
        receiver=row[1],
        finding=row[2],
        target=row[3],
        dedup_key=row[4],
        action=PageAction(row[5]),
        severity=Severity(row[6]),
        body=row[7],
        made_at=_instant(row[8]),
        attempts=row[9],
        not_before=_instant(row[10]),
    )


def _instant(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
