"""The one thread that writes: it owns the client and sends rows in batches.

What ``put`` has taken is written, whatever happens to the database meanwhile, until ``close``
returns; a ``put`` that cannot promise this raises or, for rows that may be dropped, counts them.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from monitor.conventions import DropReason
from monitor.errors import StoreError
from monitor.store.client import Client, UnwritableError
from monitor.store.rows import TABLES, AnyRow, columns, values

T = TypeVar("T")
_log = logging.getLogger(__name__)
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.1, 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterLimits:
    """How the writer batches, how much it holds, and how long it waits before it gives up.

    ``patience_seconds`` is both how long a ``put`` of rows that must not be dropped waits for
    room, and how long ``close`` goes on trying a database that refuses.
    """

    batch_rows: int = 1000
    batch_seconds: float = 1.0
    queue_rows: int = 50_000
    patience_seconds: float = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterStats:
    """What the writer did since it started."""

    queued_rows: int
    written_rows: int
    failed_inserts: int
    dropped_rows: Mapping[DropReason, int]


class _Job:
    """Something to do on the writer's thread after everything queued before it."""

    def __init__(self, work: Callable[[Client], Any]) -> None:
        self.future: Future[Any] = Future()
        self._work = work

    def do(self, client: Client) -> None:
        """Do it; whatever it raises is raised again where it was asked for."""
        try:
            self.future.set_result(self._work(client))
        except Exception as error:  # noqa: BLE001 - nothing is swallowed, see above
            self.future.set_exception(error)


class Writer:
    """Takes rows from any thread. Start it after any fork, and close it."""

    def __init__(self, client: Client, limits: WriterLimits | None = None) -> None:
        self._client = client
        self._limits = limits or WriterLimits()
        self._changed = threading.Condition()
        self._queue: deque[AnyRow | _Job] = deque()
        self._jobs = 0
        self._dropped: Counter[DropReason] = Counter()
        self._written = 0
        self._failed = 0
        self._in_hand = 0
        self._closing = False
        self._given_up = threading.Event()
        self._process = os.getpid()
        self._thread = threading.Thread(target=self._work, name="store-writer", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def put(self, rows: Sequence[AnyRow], *, droppable: bool = False) -> bool:
        """Queue rows, all or none; return whether they were taken.

        Droppable rows are dropped and counted while the queue is full. Others wait for room, and
        after ``patience_seconds`` raise ``StoreError``: they are then not written.
        """
        self._check_usable()
        with self._changed:
            if droppable and not self._has_room(len(rows)):
                self._dropped[DropReason.QUEUE_FULL] += len(rows)
                return False
            room = self._changed.wait_for(
                lambda: self._closing or self._has_room(len(rows)), self._limits.patience_seconds
            )
            if self._closing:
                msg = "the store is closed"
                raise StoreError(msg)
            if not room:
                msg = f"the store took no rows for {self._limits.patience_seconds:g} s"
                raise StoreError(msg)
            self._queue.extend(rows)
            self._changed.notify_all()
        return True

    def _has_room(self, rows: int) -> bool:
        held = self._held()
        return held == 0 or held + rows <= self._limits.queue_rows

    def _held(self) -> int:
        return len(self._queue) - self._jobs + self._in_hand

    def run(self, work: Callable[[Client], T]) -> T:
        """Do ``work`` on the writer's thread after all rows queued so far, and return its result.

        Raises what ``work`` raises, and ``StoreError`` after ``patience_seconds``.
        """
        self._check_usable()
        job = _Job(work)
        with self._changed:
            if self._closing:
                msg = "the store is closed"
                raise StoreError(msg)
            self._queue.append(job)
            self._jobs += 1
            self._changed.notify_all()
        try:
            result: T = job.future.result(self._limits.patience_seconds)
        except TimeoutError as error:
            msg = f"the store did not finish within {self._limits.patience_seconds:g} s"
            raise StoreError(msg) from error
        return result

    def flush(self) -> None:
        """Return once everything queued so far is in the database."""
        self.run(lambda _: None)

    def stats(self) -> WriterStats:
        """Return what it did so far."""
        with self._changed:
            return WriterStats(
                queued_rows=self._held(),
                written_rows=self._written,
                failed_inserts=self._failed,
                dropped_rows=dict(self._dropped),
            )

    def close(self) -> None:
        """Write what is queued and stop; safe to call twice.

        Raises ``StoreError`` with the number of rows that could not be written.
        """
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(self._limits.patience_seconds)
            self._given_up.set()
            self._thread.join()
        left = self.stats().queued_rows
        if left:
            msg = f"{left} rows could not be written to the store"
            raise StoreError(msg)

    def _check_usable(self) -> None:
        if os.getpid() != self._process:
            msg = "the store was opened before a fork; open it in the new process"
            raise StoreError(msg)
        if not self._thread.is_alive():
            msg = "the store is closed"
            raise StoreError(msg)

    def _work(self) -> None:
        while self._wait_for_work():
            batch = self._take()
            for kind in dict.fromkeys(type(row) for row in batch):
                self._write(kind, [row for row in batch if type(row) is kind])
            self._do_job()
        self._cancel_jobs()

    def _wait_for_work(self) -> bool:
        """Wait for a full batch, a second after the first row, a job or the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._closing)
            self._changed.wait_for(
                lambda: self._held() >= self._limits.batch_rows or self._jobs or self._closing,
                self._limits.batch_seconds,
            )
            return bool(self._queue) and not self._given_up.is_set()

    def _take(self) -> list[AnyRow]:
        """Take up to a batch of rows, none that stands behind a job."""
        batch: list[AnyRow] = []
        with self._changed:
            while self._queue and len(batch) < self._limits.batch_rows:
                item = self._queue[0]
                if isinstance(item, _Job):
                    break
                batch.append(item)
                self._queue.popleft()
            self._in_hand = len(batch)
        return batch

    def _write(self, kind: type[AnyRow], rows: list[AnyRow]) -> None:
        """Write rows of one table, for as long as it takes."""
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                self._client.insert(TABLES[kind], [values(row) for row in rows], columns(kind))
            except UnwritableError as error:
                self._write_apart(kind, rows, error)
                return
            except StoreError as error:
                self._note_failure(error)
                if self._given_up.wait(pause):
                    return
                pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
            else:
                self._settle(written=len(rows))
                return

    def _write_apart(self, kind: type[AnyRow], rows: list[AnyRow], error: StoreError) -> None:
        """Halve a block that holds a bad value until only the bad row is given up."""
        if len(rows) > 1:
            middle = len(rows) // 2
            self._write(kind, rows[:middle])
            self._write(kind, rows[middle:])
            return
        _log.error("a row was given up: %s", error)
        self._settle(dropped=1)

    def _settle(self, *, written: int = 0, dropped: int = 0) -> None:
        with self._changed:
            self._written += written
            self._in_hand -= written + dropped
            if dropped:
                self._dropped[DropReason.UNWRITABLE] += dropped
            self._changed.notify_all()

    def _note_failure(self, error: StoreError) -> None:
        with self._changed:
            self._failed += 1
        _log.warning("the store refused an insert, trying again: %s", error)

    def _do_job(self) -> None:
        with self._changed:
            job = self._queue[0] if self._queue and not self._in_hand else None
            if not isinstance(job, _Job):
                return
            self._queue.popleft()
            self._jobs -= 1
        job.do(self._client)

    def _cancel_jobs(self) -> None:
        with self._changed:
            jobs = [item for item in self._queue if isinstance(item, _Job)]
            self._queue = deque(item for item in self._queue if not isinstance(item, _Job))
            self._jobs = 0
        for job in jobs:
            job.future.set_exception(StoreError("the store was closed before this was done"))
