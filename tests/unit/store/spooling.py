"""A writer over a folder of its own, a database that can be told to misbehave, and a set clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from monitor.clock import Clock
from monitor.errors import StoreError
from monitor.store import Writer, WriterLimits
from monitor.store.client import Row, UnwritableError
from monitor.store.encode import verdict_rows
from monitor.store.rows import AnyRow, VerdictRow
from monitor.store.spool import Spool
from tests.unit.store.samples import NOW, good

PATIENT = WriterLimits(batch_rows=10, batch_seconds=60, patience_seconds=10)


class SetClock:
    """Shows what it is set to; its monotonic seconds are moved apart from that."""

    def __init__(self) -> None:
        self.instant = NOW
        self.seconds = 1000.0

    def now(self) -> datetime:
        return self.instant

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        raise NotImplementedError

    def pass_by(self, seconds: float) -> None:
        """Let time go by."""
        self.instant += timedelta(seconds=seconds)
        self.seconds += seconds


class FakeClient:
    """Remembers blocks; ``gate`` holds inserts back, ``refusals`` fail, ``poison`` never goes."""

    def __init__(self) -> None:
        self.blocks: list[list[str]] = []
        self.tokens: list[str] = []
        self.tables: list[str] = []
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        self.refused = threading.Event()
        self.refusals = 0
        self.poison: set[str] = set()
        self.threads: set[int] = set()

    def insert(
        self, table: str, rows: Sequence[Row], columns: Sequence[str], *, token: str = ""
    ) -> None:
        self.threads.add(threading.get_ident())
        self.entered.set()
        self.gate.wait()
        ids = [row[columns.index("id")] if "id" in columns else "" for row in rows]
        if self.poison & set(ids):
            raise UnwritableError(table)
        if self.refusals:
            self.refusals -= 1
            self.refused.set()
            raise StoreError(table)
        self.tables.append(table)
        self.tokens.append(token)
        self.blocks.append(ids)

    def query(self, sql: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        raise NotImplementedError

    def stream(
        self, sql: str, form: str, parameters: Mapping[str, Any] | None = None
    ) -> Iterator[bytes]:
        raise NotImplementedError

    def insert_file(self, table: str, columns: Sequence[str], file: Path, form: str) -> None:
        raise NotImplementedError

    def command(self, sql: str, parameters: Mapping[str, Any] | None = None) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    def written(self) -> list[str]:
        """Return the ids of all verdicts, in the order in which they were written."""
        pairs = zip(self.tables, self.blocks, strict=True)
        return [each for table, block in pairs if table == "verdicts" for each in block]


def wait_until(true: Callable[[], bool], seconds: float = 20) -> bool:
    """Return whether something becomes true before the deadline."""
    pause, ends = threading.Event(), time.monotonic() + seconds
    while not true():
        if time.monotonic() > ends:
            return False
        pause.wait(0.01)
    return True


def rows(amount: int, start: int = 0) -> list[AnyRow]:
    """Return so many verdicts."""
    return [verdict_rows(good(number))[0] for number in range(start, start + amount)]


def ids(amount: int, start: int = 0) -> list[str]:
    """Return their ids."""
    return [row.id for row in rows(amount, start) if isinstance(row, VerdictRow)]


def started(
    client: FakeClient, folder: Path, limits: WriterLimits = PATIENT, clock: Clock | None = None
) -> Writer:
    """Return a writer at work. Close it."""
    clock = clock or SetClock()
    writer = Writer(client, Spool.opened(folder, clock, limits), limits, clock)
    writer.start()
    return writer


@contextmanager
def writing(
    client: FakeClient, folder: Path, limits: WriterLimits = PATIENT, clock: Clock | None = None
) -> Iterator[Writer]:
    """Run a writer, and let it end."""
    writer = started(client, folder, limits, clock)
    try:
        yield writer
    finally:
        client.gate.set()
        writer.close()
