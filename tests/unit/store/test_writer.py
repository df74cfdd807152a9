"""The writer against a database that is slow, refuses, or chokes on one row."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from monitor.conventions import DropReason
from monitor.errors import StoreError
from monitor.store import Writer, WriterLimits
from monitor.store.client import Row, UnwritableError
from monitor.store.encode import verdict_rows
from monitor.store.rows import AnyRow, VerdictRow
from tests.unit.store.samples import good

PATIENT = WriterLimits(batch_rows=10, batch_seconds=60, queue_rows=100, patience_seconds=10)


def rows(amount: int, start: int = 0) -> list[AnyRow]:
    return [verdict_rows(good(number))[0] for number in range(start, start + amount)]


class FakeClient:
    """Remembers blocks; ``gate`` holds inserts back, ``refusals`` fail, ``poison`` never goes."""

    def __init__(self) -> None:
        self.blocks: list[list[str]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        self.refusals = 0
        self.poison: set[str] = set()
        self.threads: set[int] = set()

    def insert(self, table: str, rows: Sequence[Row], columns: Sequence[str]) -> None:
        assert (table, columns[0]) == ("verdicts", "id")
        self.threads.add(threading.get_ident())
        self.entered.set()
        self.gate.wait()
        ids = [row[0] for row in rows]
        if self.poison & set(ids):
            raise UnwritableError(table)
        if self.refusals:
            self.refusals -= 1
            raise StoreError(table)
        self.blocks.append(ids)

    def query(self, sql: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        raise NotImplementedError

    def command(self, sql: str, parameters: Mapping[str, Any] | None = None) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    def written(self) -> list[str]:
        return [each for block in self.blocks for each in block]


@contextmanager
def writing(client: FakeClient, limits: WriterLimits = PATIENT) -> Iterator[Writer]:
    writer = Writer(client, limits)
    writer.start()
    try:
        yield writer
    finally:
        client.gate.set()
        writer.close()


def ids(amount: int, start: int = 0) -> list[str]:
    return [row.id for row in rows(amount, start) if isinstance(row, VerdictRow)]


def test_rows_go_in_batches_on_one_thread() -> None:
    client = FakeClient()
    with writing(client) as writer:
        writer.put(rows(25))
        writer.flush()
        assert [len(block) for block in client.blocks] == [10, 10, 5]
    assert client.written() == ids(25)
    assert len(client.threads) == 1
    assert threading.get_ident() not in client.threads


def test_a_partial_batch_goes_when_it_is_old_enough() -> None:
    client = FakeClient()
    limits = WriterLimits(batch_rows=10, batch_seconds=0.01, queue_rows=100, patience_seconds=10)
    with writing(client, limits) as writer:
        writer.put(rows(3))
        assert client.entered.wait(10)


def test_droppable_rows_are_dropped_and_counted_while_the_queue_is_full() -> None:
    client = FakeClient()
    client.gate.clear()
    with writing(client) as writer:
        writer.put(rows(95))
        assert client.entered.wait(10)
        assert not writer.put(rows(6, 95), droppable=True)
        assert writer.put(rows(5, 95), droppable=True)
        assert writer.stats().queued_rows == 100
        assert writer.stats().dropped_rows == {DropReason.QUEUE_FULL: 6}
    assert client.written() == ids(100)


def test_other_rows_wait_for_room() -> None:
    client = FakeClient()
    client.gate.clear()
    with writing(client) as writer:
        writer.put(rows(100))
        waiting = threading.Thread(target=writer.put, args=(rows(20, 100),))
        waiting.start()
        assert waiting.is_alive()
        client.gate.set()
        waiting.join(10)
        assert not waiting.is_alive()
    assert client.written() == ids(120)


def test_they_do_not_wait_for_ever() -> None:
    client = FakeClient()
    client.gate.clear()
    limits = WriterLimits(batch_rows=10, batch_seconds=60, queue_rows=20, patience_seconds=0.05)
    writer = Writer(client, limits)
    writer.start()
    writer.put(rows(20))
    with pytest.raises(StoreError, match=r"took no rows for 0\.05 s"):
        writer.put(rows(1, 20))
    with pytest.raises(StoreError, match=r"did not finish within 0\.05 s"):
        writer.flush()
    client.gate.set()
    writer.close()
    assert client.written() == ids(20)


def test_a_refused_block_is_tried_again() -> None:
    client = FakeClient()
    client.refusals = 2
    with writing(client) as writer:
        writer.put(rows(15))
        writer.flush()
        assert writer.stats().failed_inserts == 2
    assert client.written() == ids(15)


def test_only_the_row_that_cannot_be_written_is_given_up() -> None:
    client = FakeClient()
    client.poison = {ids(1, 7)[0]}
    with writing(client) as writer:
        writer.put(rows(20))
        writer.flush()
        assert writer.stats().dropped_rows == {DropReason.UNWRITABLE: 1}
        assert writer.stats().queued_rows == 0
    assert client.written() == [each for each in ids(20) if each not in client.poison]


def test_close_says_how_much_it_could_not_write() -> None:
    client = FakeClient()
    client.refusals = 10**6
    limits = WriterLimits(batch_rows=10, batch_seconds=60, queue_rows=100, patience_seconds=0.2)
    writer = Writer(client, limits)
    writer.start()
    writer.put(rows(25))
    with pytest.raises(StoreError, match="25 rows could not be written"):
        writer.close()
    with pytest.raises(StoreError, match="the store is closed"):
        writer.put(rows(1))
    with pytest.raises(StoreError, match="the store is closed"):
        writer.flush()


def test_closing_twice_is_fine() -> None:
    client = FakeClient()
    with writing(client) as writer:
        writer.put(rows(1))
        writer.close()
    assert client.written() == ids(1)


def test_a_job_comes_after_what_was_queued_before_it_and_hands_back_its_error() -> None:
    client = FakeClient()
    with writing(client) as writer:
        writer.put(rows(25))
        assert writer.run(lambda _: len(client.written())) == 25
        with pytest.raises(ZeroDivisionError):
            writer.run(lambda _: 1 // 0)
        writer.put(rows(1, 25))
        writer.flush()
    assert client.written() == ids(26)


def test_nothing_is_lost_between_many_threads() -> None:
    client = FakeClient()
    with writing(client) as writer:
        threads = [
            threading.Thread(
                target=lambda n=n: [writer.put(rows(1, n * 50 + i)) for i in range(50)]
            )
            for n in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(client.written()) == sorted(ids(400))
