"""Rows a second into the store: by the writer, by inserts of many rows, and one row at a time."""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from monitor.store import Store, open_store
from monitor.store.encode import judgement_rows, trial_rows
from monitor.store.rows import TABLES, AnyRow, columns, values
from tests.bench.store.spooling import Judged, copies

AT_ONCE = 500  # trials


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Rows and verdicts a second of one way to insert, and what a row costs of the processor."""

    way: str
    rows: float
    verdicts: float
    processor_seconds: float


def rates(store: Store, judged: Sequence[Judged], *, seconds: float) -> list[Rate]:
    """Measure each way for so many seconds."""
    numbers = copies(judged)

    def trials(number: int) -> list[list[AnyRow]]:
        return [_rows_of(store, next(numbers)) for _ in range(number)]

    def by_the_writer() -> tuple[int, int]:
        made = trials(AT_ONCE)
        for rows in made:
            store.writer.put(rows)
        store.flush()
        return sum(map(len, made)), len(made)

    def many_a_call() -> tuple[int, int]:
        made = trials(AT_ONCE)
        _insert(store, [row for rows in made for row in rows])
        return sum(map(len, made)), len(made)

    def a_trial_a_call() -> tuple[int, int]:
        (rows,) = trials(1)
        _insert(store, rows)
        return len(rows), 1

    def a_row_a_call() -> tuple[int, int]:
        (rows,) = trials(1)
        for row in rows:
            _insert(store, [row])
        return len(rows), 1

    ways: dict[str, Callable[[], tuple[int, int]]] = {
        f"spool and writer, {AT_ONCE} trials then `flush`": by_the_writer,
        f"no spool, the rows of {AT_ONCE} trials in an insert a table": many_a_call,
        "no spool, the rows of a trial in an insert a table": a_trial_a_call,
        "no spool, a row an insert": a_row_a_call,
    }
    return [_rate(way, do, seconds) for way, do in ways.items()]


def _rate(way: str, do: Callable[[], tuple[int, int]], seconds: float) -> Rate:
    do()
    rows = verdicts = 0
    started, processor = time.perf_counter(), time.process_time()
    while (spent := time.perf_counter() - started) < seconds:
        more_rows, more_verdicts = do()
        rows, verdicts = rows + more_rows, verdicts + more_verdicts
    used = time.process_time() - processor
    return Rate(
        way=way, rows=rows / spent, verdicts=verdicts / spent, processor_seconds=used / rows
    )


def _rows_of(store: Store, judged: Judged) -> list[AnyRow]:
    trial, verdict = judged
    return trial_rows(trial, store.hasher) + judgement_rows(verdict, trial, store.hasher)


def _insert(store: Store, rows: Sequence[AnyRow]) -> None:
    by_kind: dict[type[AnyRow], list[AnyRow]] = defaultdict(list)
    for row in rows:
        by_kind[type(row)].append(row)
    for kind, some in by_kind.items():
        store.writer.run(
            lambda client, kind=kind, some=some: client.insert(  # type: ignore[misc]
                TABLES[kind], [values(row) for row in some], columns(kind)
            )
        )


def measured(judged: Sequence[Judged], seconds: float) -> list[Rate]:
    """Measure in a store of its own."""
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "store") as store:
        return rates(store, judged, seconds=seconds)
