"""Signals that say nothing but why they passed or skipped: no row, and yet nothing is lost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from monitor.model import ExchangeVerdict, Outcome, Signal, Status, Verdict, VerdictClass
from monitor.sinks import ClickHouseSink
from monitor.sqlhttp.engine import Limits, SqlEngine
from monitor.store import Store
from monitor.store.client import Client
from monitor.store.encode import judgement_rows, signal_rows, verdict_rows
from monitor.store.panels import Step, panel_rows, parameters
from monitor.store.rows import AnyRow, ExchangeVerdictRow, columns, values
from tests.unit.store.samples import NOW, owner, trial, verdict

DOCS = Path(__file__).parents[3] / "docs"
FRESH = count(7000)
PASSED = Signal(code="NONCE", status=Status.PASS, exchange=0, explanation="the code came back")
SKIPPED = Signal(code="FACT", status=Status.SKIP, exchange=1, explanation="not a golden prompt")
FAILED = Signal(code="EMPTY", status=Status.FAIL, exchange=1, variant="empty", explanation="empty")
# As pipelines give them: an exchange comes up again for what is measured later.
SIGNALS = (PASSED, FAILED, SKIPPED, replace(PASSED, exchange=1), replace(SKIPPED, exchange=0))
JUDGED = tuple(
    ExchangeVerdict(exchange=n, outcome=outcome, verdict_class=VerdictClass.NONE, reason="r")
    for n, outcome in enumerate((Outcome.GOOD, Outcome.BAD))
)


@pytest.fixture
def one() -> Verdict:
    """A verdict of a target of its own."""
    number = next(FRESH)
    return replace(
        verdict(number), target=f"quiet-{number}", signals=SIGNALS, exchanges=JUDGED, finding=None
    )


def put(store: Store, *verdicts: Verdict) -> None:
    sink = ClickHouseSink(store.writer, store.hasher)
    for each in verdicts:
        sink.deliver(replace(trial(), id=each.trial), each)
    store.flush()


def as_before(store: Store, one: Verdict) -> list[AnyRow]:
    """Return the rows of a time when every signal had one."""
    bare = [
        replace(row, quiet_positions=(), quiet_codes=(), quiet_statuses=(), quiet_explanations=())
        if isinstance(row, ExchangeVerdictRow)
        else row
        for row in verdict_rows(one)
    ]
    return [*signal_rows(replace(one, exchanges=()), trial(), store.hasher), *bare]


def rows_in(store: Store, one: Verdict) -> int:
    sql = "SELECT count() FROM signals WHERE verdict = {v:String}"
    return int(store.writer.run(lambda client: client.query(sql, {"v": one.id}))[0][0])


def test_only_what_says_more_has_a_row_and_all_come_back_in_their_order(
    store: Store, one: Verdict
) -> None:
    put(store, one)
    assert store.reader.verdict(one.id) == one
    assert rows_in(store, one) == 1


MORE = (
    {"status": Status.FAIL},
    {"status": Status.ERROR},
    {"variant": "x"},
    {"evidence_bits": 0.0},
    {"score": 0.0},
    {"owner": owner()},
    {"marker_id": "marker-1"},
    {"spans": ((0, 1),)},
    {"exchange": 9},  # which was not judged
)


@pytest.mark.parametrize("more", MORE, ids=lambda more: next(iter(more)))
def test_whatever_it_says_more_makes_a_row(
    store: Store, one: Verdict, more: dict[str, object]
) -> None:
    said = replace(one, signals=(PASSED, replace(PASSED, **more), SKIPPED))  # type: ignore[arg-type]
    put(store, said)
    assert store.reader.verdict(said.id) == said
    assert rows_in(store, said) == 1


def test_rows_from_before_are_read_as_the_same_verdict(store: Store, one: Verdict) -> None:
    store.writer.put(as_before(store, one))
    store.flush()
    assert rows_in(store, one) == len(SIGNALS)
    assert store.reader.verdict(one.id) == one


@pytest.fixture
def both(store: Store, one: Verdict) -> Verdict:
    """One as it is written now, and another of the same target as it was."""
    put(store, one)
    old = replace(one, id=f"{one.id}-old", trial=f"{one.trial}-old")
    store.writer.put(as_before(store, old))
    store.flush()
    return one


def counted(signals: tuple[Signal, ...]) -> Counter[tuple[str, str]]:
    return Counter((signal.code, signal.status.value) for signal in signals)


def summed(store: Store, one: Verdict, every: str) -> Counter[tuple[str, str]]:
    sql = (
        f"SELECT code, status, sum(number) FROM signals_{every} "  # noqa: S608
        "WHERE target = {t:String} AND source = {s:String} GROUP BY code, status"
    )
    asked = {"t": one.target, "s": one.source}
    found = store.writer.run(lambda client: client.query(sql, asked))
    return Counter({(code, status): number for code, status, number in found})


def test_sums_and_panels_count_old_and_new_alike(store: Store, both: Verdict) -> None:
    twice = counted(both.signals * 2)
    assert summed(store, both, "hourly") == summed(store, both, "daily") == twice
    asked = parameters(NOW, NOW.replace(year=2027), [both.target])
    for step in Step:
        rows = panel_rows(store.reader._client, "signals", step, asked)
        assert {(code, status): n for _, _, code, status, n in rows} == {
            what: n for what, n in twice.items() if what[1] != "pass"
        }
        (noisiest,) = panel_rows(store.reader._client, "noisiest_checks", step, asked)
        assert noisiest == (both.target, "EMPTY", "empty", 2, 2)


@pytest.fixture
def engine(store: Store, tmp_path: Path) -> Iterator[SqlEngine]:
    assert store.location.path is not None
    opened = SqlEngine(store.location.path, tmp_path, Limits())
    opened.open()
    with closing(opened):
        yield opened


def test_the_page_on_sql_says_how_to_read_all_of_them(
    store: Store, both: Verdict, engine: SqlEngine
) -> None:
    page = (DOCS / "sql.md").read_text("utf-8")
    (sql,) = re.findall(r"```sql\n(.*?quiet_codes.*?)```", page, re.DOTALL)
    with engine.run(sql.encode(), {"target": both.target}, "TSV").file as file:
        found = [line.split("\t") for line in file.read().decode().splitlines()]
    assert {(code, status): int(n) for code, status, n in found} == counted(both.signals * 2)


def test_signals_are_told_apart_once_a_verdict(store: Store, one: Verdict) -> None:
    times = count()

    class Counted(tuple[Signal, ...]):
        __slots__ = ()

        def __iter__(self) -> Iterator[Signal]:
            next(times)
            return super().__iter__()

    rows = judgement_rows(replace(one, signals=Counted(SIGNALS)), trial(), store.hasher)
    assert next(times) == 1
    assert rows == [*signal_rows(one, trial(), store.hasher), *verdict_rows(one)]


def test_a_block_that_is_written_again_counts_once(store: Store, one: Verdict) -> None:
    rows = [row for row in verdict_rows(one) if isinstance(row, ExchangeVerdictRow)]

    def twice(client: Client) -> None:
        for _ in range(2):
            client.insert(
                "exchange_verdicts", list(map(values, rows)), columns(type(rows[0])), token=one.id
            )

    store.writer.run(twice)
    quiet = counted(tuple(signal for signal in SIGNALS if signal is not FAILED))
    assert summed(store, one, "hourly") == summed(store, one, "daily") == quiet


def test_arrays_that_do_not_fit_hold_nothing_up(store: Store, one: Verdict) -> None:
    rows = [
        replace(row, quiet_statuses=row.quiet_statuses[:1])
        for row in verdict_rows(one)
        if isinstance(row, ExchangeVerdictRow)
    ]
    store.writer.put(rows)
    store.flush()
    assert summed(store, one, "daily").total() == sum(len(row.quiet_codes) for row in rows)
