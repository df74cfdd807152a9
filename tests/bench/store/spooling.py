"""From a verdict that is put to its row in a SELECT, at a steady rate, as the product does it.

Run it in a process of its own, so that memory is that of a store and of what is put into it.
Threads put trials of real passes through the product's sink, each at the moment when it is due; a
reader counts rows meanwhile. Verdicts reach the table in the order of their segments, so that the
count says which are there.
"""

from __future__ import annotations

import itertools
import os
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from monitor.model import Trial, Verdict
from monitor.sinks import ClickHouseSink
from monitor.store import Store, WriterLimits, open_store
from monitor.store.encode import judgement_rows, trial_rows
from monitor.store.rows import TABLES, AnyRow, columns, values
from tests.bench.store.measure import quantile
from tests.integration.processes import resident_bytes

Judged = tuple[Trial, Verdict]
_LOOK_SECONDS = 0.1
# A rate that cannot be kept up leaves much to be written.
_PATIENCE_SECONDS = 1800.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """How many verdicts a second, for how long, from how many threads."""

    rate: float
    seconds: float
    threads: int = 8
    fsync: bool = True
    one_by_one: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What came of it: seconds, bytes, and verdicts a second; ``puts`` are how long a put took."""

    verdicts: int
    rows: int
    rate: float
    put_p50: float
    put_p99: float
    row_p50: float
    row_p99: float
    row_worst: float
    processor_share: float
    memory: tuple[int, ...]
    parts: int
    exactly_once: bool


def copies(judged: Sequence[Judged]) -> Iterator[Judged]:
    """Return the trials again and again, each with ids of its own."""
    for number in itertools.count():
        trial, verdict = judged[number % len(judged)]
        own = f"trial-{number:024x}"
        yield (
            replace(trial, id=own),
            replace(
                verdict,
                id=f"verdict-{number:024x}",
                trial=own,
                decided_at=datetime.now(UTC),
            ),
        )


class Watching:
    """Counts the verdicts that can be read, and keeps when there were how many."""

    def __init__(self, store: Store) -> None:
        self.seen: list[tuple[float, int]] = []
        self._store = store
        self._before = count_of(store, "count()")
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def _look(self) -> None:
        while not self._ended.wait(_LOOK_SECONDS):
            self.look()

    def look(self) -> int:
        """Return how many there are."""
        count = count_of(self._store, "count()") - self._before
        self.seen.append((time.perf_counter(), count))
        return count

    def end(self) -> None:
        """Look no more."""
        self._ended.set()
        self._thread.join()


def count_of(store: Store, what: str) -> int:
    """Return a number about the verdicts there are."""
    return int(store.reader._client.query(f"SELECT {what} FROM verdicts")[0][0])  # noqa: S608


def run(task: Task, judged: Sequence[Judged], folder: Path) -> Found:
    """Put at the rate, wait until all is there, and return what was measured."""
    limits = WriterLimits(fsync=task.fsync)
    with open_store(folder, limits=limits) as store:
        memory = [resident_bytes(os.getpid())]
        putting = Putting(task, copies(judged), ClickHouseSink(store.writer, store.hasher))
        watching = Watching(store)
        processor, started = time.process_time(), time.perf_counter()
        putting.start(started)
        for quarter in range(1, 5):
            putting.wait_until(started + task.seconds * quarter / 4)
            memory.append(resident_bytes(os.getpid()))
        putting.join()
        rate = putting.verdicts / (time.perf_counter() - started)
        share = (time.process_time() - processor) / (time.perf_counter() - started)
        store.writer.run(lambda _: None, patience_seconds=_PATIENCE_SECONDS)
        watching.end()
        last = watching.look()
        rows = sorted(putting.order)
        waits = _waits(rows, watching)
        return Found(
            verdicts=putting.verdicts,
            rows=store.writer.stats().written_rows,
            rate=rate,
            put_p50=quantile(putting.puts, 0.5),
            put_p99=quantile(putting.puts, 0.99),
            row_p50=quantile(waits, 0.5),
            row_p99=quantile(waits, 0.99),
            row_worst=max(waits),
            processor_share=share,
            memory=tuple(memory),
            parts=_parts(store),
            exactly_once=last == putting.verdicts and _all_once(store),
        )


def _all_once(store: Store) -> bool:
    return count_of(store, "uniqExact(id)") == count_of(store, "count()")


def _waits(order: Sequence[tuple[float, float]], watching: Watching) -> list[float]:
    """Return how long after it was due each verdict could be read, in the order of the puts."""
    waits, place = [], 0
    for count, (_, due) in enumerate(order, start=1):
        while watching.seen[place][1] < count:
            place += 1
        waits.append(watching.seen[place][0] - due)
    return waits


def _parts(store: Store) -> int:
    sql = "SELECT count() FROM system.parts WHERE active AND database = currentDatabase()"
    return int(store.reader._client.query(sql)[0][0])


class Putting:
    """Threads that put, each verdict when it is due; ``order`` has when each was put and due."""

    def __init__(self, task: Task, judged: Iterator[Judged], sink: ClickHouseSink) -> None:
        self.puts: list[float] = []
        self.order: list[tuple[float, float]] = []
        self.verdicts = round(task.rate * task.seconds)
        self._rate = task.rate
        self._judged = judged
        self._sink = sink
        self._lock = threading.Lock()
        self._next = 0
        self._started = 0.0
        self._threads = [threading.Thread(target=self._work) for _ in range(task.threads)]

    def start(self, moment: float) -> None:
        """Begin; the first is due at once."""
        self._started = moment
        for thread in self._threads:
            thread.start()

    def wait_until(self, moment: float) -> None:
        """Wait for a moment, or for the end if that is sooner."""
        while time.perf_counter() < moment and any(each.is_alive() for each in self._threads):
            time.sleep(0.05)

    def join(self) -> None:
        """Wait for the end."""
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while True:
            with self._lock:
                if self._next >= self.verdicts:
                    return
                due = self._started + self._next / self._rate
                self._next += 1
                trial, verdict = next(self._judged)
            time.sleep(max(0.0, due - time.perf_counter()))
            began = time.perf_counter()
            self._sink.deliver(trial, verdict)
            ended = time.perf_counter()
            self.puts.append(ended - began)
            self.order.append((ended, due))


def run_one_by_one(task: Task, judged: Sequence[Judged], folder: Path) -> Found:
    """Insert each verdict's rows at once, a statement a table: what a spool is instead of."""
    with open_store(folder) as store:
        client, puts, started = store.writer._client, [], time.perf_counter()
        numbers = iter(copies(judged))
        written = 0
        while time.perf_counter() < started + task.seconds:
            began = time.perf_counter()
            trial, verdict = next(numbers)
            rows = trial_rows(trial, store.hasher)
            rows += judgement_rows(verdict, trial, store.hasher)
            for kind in dict.fromkeys(map(type, rows)):
                _insert(client, kind, [row for row in rows if type(row) is kind])
            written += len(rows)
            puts.append(time.perf_counter() - began)
        return Found(
            verdicts=len(puts),
            rows=written,
            rate=len(puts) / (time.perf_counter() - started),
            put_p50=quantile(puts, 0.5),
            put_p99=quantile(puts, 0.99),
            row_p50=quantile(puts, 0.5),
            row_p99=quantile(puts, 0.99),
            row_worst=max(puts),
            processor_share=0.0,
            memory=(resident_bytes(os.getpid()),),
            parts=_parts(store),
            exactly_once=_all_once(store),
        )


def _insert(client: object, kind: type[AnyRow], rows: Sequence[AnyRow]) -> None:
    client.insert(TABLES[kind], [values(row) for row in rows], columns(kind))  # type: ignore[attr-defined]


def measured(task: Task, judged: Sequence[Judged]) -> Found:
    """Do it in a store of its own."""
    with tempfile.TemporaryDirectory() as folder:
        do = run_one_by_one if task.one_by_one else run
        return do(task, judged, Path(folder) / "store")
