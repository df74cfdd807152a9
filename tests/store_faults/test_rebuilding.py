"""Rows are changed in place of each other, all of a partition or nothing, beside a busy writer."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import timedelta
from typing import Any

import pytest

from monitor.errors import StoreError
from monitor.sinks import ClickHouseSink
from monitor.store import Store, open_store
from monitor.store.client import Client, connect
from monitor.store.rebuilding import Rebuilding, drop_rebuilt
from monitor.store.rows import TABLES, TrialRow, columns
from tests.unit.store.samples import NOW, good, trial
from tests.unit.store.test_forget import rows

OF_TARGET = "target = {target:String}"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("rebuilt") / "store") as opened:
        yield opened


class Dies:
    """A client whose process dies before the first statement that begins like this."""

    def __init__(self, client: Client, before: str) -> None:
        self._client = client
        self._before = before
        self._dead = False

    def query(self, sql: str, parameters: Mapping[str, Any] | None = None) -> Sequence[Any]:
        return self._client.query(sql, parameters)

    def command(self, sql: str, parameters: Mapping[str, Any] | None = None) -> None:
        self._dead = self._dead or sql.startswith(self._before)
        if self._dead:
            raise StoreError("died")
        self._client.command(sql, parameters)


@contextmanager
def client_of(store: Store) -> Iterator[Client]:
    with closing(connect(store.location)) as client:
        yield client


def deliver(store: Store, target: str, days: Sequence[int]) -> None:
    sink = ClickHouseSink(store.writer, store.hasher)
    for number, day in enumerate(days):
        at = NOW + timedelta(days=day, seconds=number)
        sink.deliver(trial(number, target, started_at=at), good(number, target, decided_at=at))
    store.flush()


def held(store: Store, target: str) -> dict[str, bool]:
    sql = f"SELECT id, held FROM trials WHERE {OF_TARGET}"  # noqa: S608
    return {str(name): bool(value) for name, value in rows(store, sql, target=target)}


def everything(store: Store, target: str) -> list[Any]:
    return rows(store, f"SELECT * FROM trials WHERE {OF_TARGET} ORDER BY id", target=target)  # noqa: S608


@pytest.mark.parametrize("clustered", [False, True])
def test_only_the_rows_that_are_meant_change(store: Store, clustered: bool) -> None:
    target = f"meant-{clustered}"
    deliver(store, target, (0, 0, 1, 2))
    before = everything(store, target)
    where = "id IN {trials:Array(String)} AND NOT held"
    some = {"trials": [f"trial-{target}-1", f"trial-{target}-3", "trial-unknown"]}
    with client_of(store) as client:
        rebuilding = Rebuilding(store.writer, client, clustered=clustered)
        assert rebuilding.update("trials", "held", "true", where, some) == 2
        assert rebuilding.update("trials", "held", "true", where, some) == 0
        now_held = {each for each, is_held in held(store, target).items() if is_held}
        assert now_held == set(some["trials"][:2])
        own = {"target": target}
        back = rebuilding.update("trials", "held", "false", f"{OF_TARGET} AND held", own)
        assert (back, everything(store, target)) == (2, before)
        gone = rebuilding.delete("trials", "count()", "id IN {trials:Array(String)}", some)
    assert gone == 2
    assert everything(store, target) == [before[0], before[2]]
    assert rows(store, "SELECT name FROM system.tables WHERE name LIKE 'rebuilt%'") == []


def test_rows_that_were_written_twice_are_copied_twice(store: Store) -> None:
    deliver(store, "twice", (0, 0))
    again = rows(store, f"SELECT * FROM trials WHERE {OF_TARGET} LIMIT 1", target="twice")  # noqa: S608
    store.writer.run(
        lambda client: client.insert(TABLES[TrialRow], [tuple(again[0])], columns(TrialRow))
    )
    count = f"SELECT count() FROM trials WHERE {OF_TARGET}"  # noqa: S608
    assert rows(store, count, target="twice") == [(3,)]
    with client_of(store) as client:
        changed = Rebuilding(store.writer, client).update(
            "trials", "held", "true", OF_TARGET, {"target": "twice"}
        )
    assert (changed, rows(store, count, target="twice")) == (3, [(3,)])


@pytest.mark.parametrize("before", ["CREATE TABLE", "INSERT", "ALTER TABLE", "DROP TABLE"])
def test_a_process_that_dies_in_between_loses_and_doubles_nothing(
    store: Store, before: str
) -> None:
    target = f"dies-{before}"
    deliver(store, target, (5, 5))
    with client_of(store) as client:
        dying = Rebuilding(store.writer, Dies(client, before))  # type: ignore[arg-type]
        with pytest.raises(StoreError, match="died"):
            dying.update("trials", "held", "true", OF_TARGET, {"target": target})
        assert len(held(store, target)) == 2
        assert len(set(held(store, target).values())) == 1
        drop_rebuilt(client)
        Rebuilding(store.writer, client).update(
            "trials", "held", "true", f"{OF_TARGET} AND NOT held", {"target": target}
        )
    assert list(held(store, target).values()) == [True, True]


def test_what_comes_in_meanwhile_is_neither_lost_nor_doubled(store: Store) -> None:
    target, number = "busy", 150
    sink = ClickHouseSink(store.writer, store.hasher)
    going = threading.Event()

    def put() -> None:
        for each in range(number):
            sink.deliver(trial(each, target, started_at=NOW), good(each, target, decided_at=NOW))
            going.set()

    thread = threading.Thread(target=put)
    thread.start()
    going.wait()
    rounds = 0
    with client_of(store) as client:
        rebuilding = Rebuilding(store.writer, client)
        while thread.is_alive() or rounds < 3:
            for table in ("trials", "verdicts", "signals"):
                for value in ("true", "false"):
                    rebuilding.update(
                        table, "held", value, f"{OF_TARGET} AND held != {value}", {"target": target}
                    )
            rounds += 1
    thread.join()
    store.flush()
    assert len(held(store, target)) == number
    for table in ("verdicts", "verdicts_hourly", "verdicts_daily"):
        what = "count()" if table == "verdicts" else "sum(number)"
        sql = f"SELECT {what} FROM {table} WHERE {OF_TARGET}"  # noqa: S608
        assert rows(store, sql, target=target) == [(number,)], table


def test_a_table_that_is_not_cut_by_day_is_left_alone(store: Store) -> None:
    with client_of(store) as client, pytest.raises(StoreError, match="it is not cut by day"):
        Rebuilding(store.writer, client).delete("schema_migrations", "count()", "version = 1", {})
    assert rows(store, "SELECT count() FROM schema_migrations WHERE version = 1") == [(1,)]
