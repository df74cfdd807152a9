"""The one thread that writes: it owns the client and sends what the spool holds, in order.

What ``put`` returned from is on this machine's disk and reaches the database once, whatever happens
to the database, to this process or to both: a segment of the spool is a block for each table, known
to the database by the segment's name, and is removed only once every table has it.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from zlib import crc32

from monitor.clock import Clock
from monitor.conventions import DropReason
from monitor.errors import StoreError
from monitor.store.client import Client, Row, UnwritableError
from monitor.store.leftovers import Segment
from monitor.store.rows import TABLES, AnyRow, VerdictRow
from monitor.store.segment import Block, Put, Unreadable, encoded, line_of, sorted_out
from monitor.store.spool import FullError, Spool, WriterLimits

T = TypeVar("T")
_log = logging.getLogger(__name__)
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.1, 10.0
# A verdict comes after everything it speaks of.
_LAST_TABLE = TABLES[VerdictRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterStats:
    """What the writer did since it started, and what waits in the spool."""

    queued_rows: int
    written_rows: int
    failed_inserts: int
    dropped_rows: Mapping[DropReason, int]
    spool_bytes: int
    spool_limit_bytes: int
    oldest_seconds: float


class _Job:
    """Something to do on the writer's thread once the segments up to ``after`` are written."""

    def __init__(self, work: Callable[[Client], Any], after: int) -> None:
        self.future: Future[Any] = Future()
        self.after = after
        self._work = work

    def do(self, client: Client) -> None:
        """Do it, unless nobody waits any more; what it raises is raised where it was asked for."""
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            self.future.set_result(self._work(client))
        except Exception as error:  # noqa: BLE001 - nothing is swallowed, see above
            self.future.set_exception(error)


class Writer:
    """Takes rows from any thread. Start it after any fork, and close it."""

    def __init__(self, client: Client, spool: Spool, limits: WriterLimits, clock: Clock) -> None:
        self._client = client
        self._spool = spool
        self._limits = limits
        self._clock = clock
        self._changed = spool.changed
        self._jobs: deque[_Job] = deque()
        self._dropped: Counter[DropReason] = Counter()
        self._written = 0
        self._failed = 0
        self._refusal = ""
        self._closing = False
        self._given_up = threading.Event()
        self._process = os.getpid()
        self._thread = threading.Thread(target=self._work, name="store-writer", daemon=True)

    def start(self) -> None:
        """Begin to write, with what an earlier process left, and return once that is written.

        Raises ``StoreError`` if the database takes none of it for ``patience_seconds``.
        """
        left, last = self._spool.rows, self._spool.last_sealed
        self._thread.start()
        if not left:
            return
        _log.info("writing %d rows that an earlier process left in the spool", left)
        with self._changed:
            while (oldest := self._spool.oldest()) and oldest.sequence <= last:
                waits, written = self._spool.rows, self._written
                if not self._changed.wait_for(
                    lambda: self._spool.rows < waits or self._written > written,  # noqa: B023
                    self._limits.patience_seconds,
                ):
                    msg = (
                        f"the database took none of the {waits} rows that wait in the spool for "
                        f"{self._limits.patience_seconds:g} s: {self._refusal or 'no answer'}"
                    )
                    self._given_up.set()
                    raise StoreError(msg)

    def put(self, rows: Sequence[AnyRow], *, droppable: bool = False, wait: bool = True) -> bool:
        """Keep rows, all or none; return whether they were taken. They are then on disk.

        Droppable rows are dropped and counted while the spool is full. Others ``wait`` for room, if
        they may, and after ``room_seconds`` raise ``StoreError``: they are then not written.
        """
        self._check_usable()
        if not rows:
            return True
        line = line_of(rows, self._clock.now())
        try:
            self._spool.put(line, len(rows), wait=wait and not droppable)
        except FullError:
            if not droppable:
                raise
            with self._changed:
                self._dropped[DropReason.SHED] += len(rows)
            return False
        return True

    def run(self, work: Callable[[Client], T], *, patience_seconds: float | None = None) -> T:
        """Do ``work`` on the writer's thread after all rows put so far, and return its result.

        Raises what ``work`` raises, and ``StoreError`` if it is not done after
        ``patience_seconds`` (the writer's own if left out). What did not begin by then is not done
        later.
        """
        self._check_usable()
        patience = self._limits.patience_seconds if patience_seconds is None else patience_seconds
        with self._changed:
            self._spool.seal()
            if self._closing:
                msg = "the store is closed"
                raise StoreError(msg)
            job = _Job(work, after=self._spool.last_sealed)
            self._jobs.append(job)
            self._changed.notify_all()
        try:
            result: T = job.future.result(patience)
        except TimeoutError as error:
            job.future.cancel()
            msg = f"the store did not finish within {patience:g} s"
            if self._refusal:
                msg += f": {self._refusal}"
            raise StoreError(msg) from error
        return result

    def flush(self) -> None:
        """Return once everything put so far is in the database."""
        self.run(lambda _: None)

    def stats(self) -> WriterStats:
        """Return what it did so far."""
        with self._changed:
            return WriterStats(
                queued_rows=self._spool.rows,
                written_rows=self._written,
                failed_inserts=self._failed,
                dropped_rows=dict(self._dropped),
                spool_bytes=self._spool.size,
                spool_limit_bytes=self._limits.max_bytes,
                oldest_seconds=self._spool.age_seconds(),
            )

    def close(self) -> None:
        """Write what waits and stop; safe to call twice.

        What the database does not take within ``patience_seconds`` stays in the spool for the next
        start, and the log says how much that is.
        """
        with self._changed:
            first, self._closing = not self._closing, True
            self._spool.close()
        if self._thread.is_alive():
            self._thread.join(self._limits.patience_seconds)
            self._given_up.set()
            self._thread.join()
        left = self._spool.rows
        if left and first:
            _log.warning("%d rows wait in the spool for the next start: %s", left, self._refusal)

    def _check_usable(self) -> None:
        if os.getpid() != self._process:
            msg = "the store was opened before a fork; open it in the new process"
            raise StoreError(msg)
        if not self._thread.is_alive():
            died = "the store's writer has died; its log says of what"
            raise StoreError("the store is closed" if self._closing else died)

    def _work(self) -> None:
        while self._wait_for_work():
            job = self._next_job()
            if job is not None:
                job.do(self._client)
                continue
            segment = self._spool.oldest()
            if segment is not None:
                self._persist(segment)
        self._cancel_jobs()

    def _wait_for_work(self) -> bool:
        """Wait for a full batch, a second after the first row, a job or the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._spool.rows or self._jobs or self._closing)
            self._changed.wait_for(
                lambda: (
                    self._spool.sealed
                    or self._spool.open_rows >= self._limits.batch_rows
                    or self._jobs
                    or self._closing
                ),
                max(self._limits.batch_seconds - self._spool.age_seconds(), 0.0),
            )
            if not self._spool.sealed:
                self._spool.seal()
            return bool(self._spool.sealed or self._jobs) and not self._given_up.is_set()

    def _next_job(self) -> _Job | None:
        """Return the first job if everything put before it is written."""
        with self._changed:
            oldest = self._spool.oldest()
            if self._jobs and (oldest is None or oldest.sequence > self._jobs[0].after):
                return self._jobs.popleft()
            return None

    def _persist(self, segment: Segment) -> None:
        """Write a segment, for as long as it takes, and remove it."""
        try:
            for token, block in self._patiently(lambda: self._blocks(segment)):
                self._insert(token, block)
            self._patiently(lambda: self._spool.remove(segment))
        except _GivenUpError:
            return
        self._refusal = ""

    def _patiently(self, step: Callable[[], T]) -> T:
        """Do a step until it is done. Raises ``_GivenUpError`` if the writer is to end first."""
        pause = _FIRST_PAUSE_SECONDS
        while not self._given_up.is_set():
            try:
                return step()
            except UnwritableError:
                raise
            except StoreError as error:
                self._note_failure(error)
            self._given_up.wait(pause)
            pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
        raise _GivenUpError

    def _blocks(self, segment: Segment) -> list[tuple[str, Block]]:
        """Return what to write, each block with its token; lay aside what cannot be read."""
        merged: dict[tuple[str, tuple[str, ...]], list[Row]] = {}
        puts, unreadable = sorted_out(self._spool.read(segment))
        if unreadable:
            self._lay_lines_aside(segment, unreadable)
        for put in puts:
            for block in put.blocks:
                merged.setdefault((block.table, block.columns), []).extend(block.rows)
        # One set of columns a table is the rule; another version's may stand beside it.
        tokens: Counter[str] = Counter()
        blocks = []
        for (table, columns), rows in sorted(merged.items(), key=lambda each: _place(each[0][0])):
            tokens[table] += 1
            name = table if tokens[table] == 1 else f"{table}-{tokens[table]}"
            block = Block(table=table, columns=columns, rows=tuple(rows))
            blocks.append((f"{segment.stem}-{name}", block))
        return blocks

    def _insert(self, token: str, block: Block) -> None:
        """Write a block; halve one that holds a bad value until only the bad row is left out."""

        def insert() -> None:
            self._client.insert(block.table, block.rows, block.columns, token=token)

        try:
            self._patiently(insert)
        except UnwritableError as error:
            if len(block.rows) == 1:
                self._give_up(token, block, str(error))
                return
            middle = len(block.rows) // 2
            self._insert(f"{token}-a", replace(block, rows=block.rows[:middle]))
            self._insert(f"{token}-b", replace(block, rows=block.rows[middle:]))
        else:
            self._settle(written=len(block.rows))

    def _give_up(self, token: str, block: Block, why: str) -> None:
        content = encoded(Put(at=self._clock.now(), blocks=(block,)))
        self._patiently(lambda: self._lay_aside(f"{token}.row", content, why))
        self._settle(dropped=1)

    def _lay_lines_aside(self, segment: Segment, unreadable: Sequence[Unreadable]) -> None:
        """Lay aside what cannot be read of a segment, and say it once however much it is."""
        names = [f"{segment.stem}-{crc32(each.content):08x}.line" for each in unreadable]
        places = [
            self._spool.quarantine(name, each.content)
            for name, each in zip(names, unreadable, strict=True)
        ]
        lines = sum(each.lines for each in unreadable)
        _log.error(
            "%s: lines that cannot be read were laid aside (lines: %d, files: %d): %s",
            places[0],
            lines,
            len(set(names)),
            unreadable[0].why,
        )
        self._settle(dropped=lines, reason=DropReason.UNREADABLE)

    def _lay_aside(self, name: str, content: bytes, why: str) -> None:
        where = self._spool.quarantine(name, content)
        _log.error("%s: rows that cannot be written were laid aside: %s", where, why)

    def _settle(
        self, *, written: int = 0, dropped: int = 0, reason: DropReason = DropReason.UNWRITABLE
    ) -> None:
        with self._changed:
            self._written += written
            if dropped:
                self._dropped[reason] += dropped
            self._changed.notify_all()

    def _note_failure(self, error: StoreError) -> None:
        with self._changed:
            self._failed += 1
            self._refusal = str(error)
        _log.warning("the store refused an insert, trying again: %s", error)

    def _cancel_jobs(self) -> None:
        with self._changed:
            jobs, self._jobs = self._jobs, deque()
        for job in jobs:
            if job.future.set_running_or_notify_cancel():
                job.future.set_exception(StoreError("the store was closed before this was done"))


class _GivenUpError(StoreError):
    """The writer ends; what is not written stays where it is."""


def _place(table: str) -> int:
    return 1 if table == _LAST_TABLE else 0
