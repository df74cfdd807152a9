"""Death at the worst moments: between the database and the spool, and inside the database."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from monitor.sinks import ClickHouseSink
from monitor.store import Store, WriterLimits, open_store
from monitor.store.client import Client
from monitor.store.mending import strike_out_lost_blocks
from tests.unit.store.samples import good, trial

AMOUNT = 7
HOURS = (
    "CREATE TABLE IF NOT EXISTS hours (hour DateTime, number SimpleAggregateFunction(sum, UInt64)) "
    "ENGINE = AggregatingMergeTree ORDER BY hour "
    "SETTINGS non_replicated_deduplication_window = 1000"
)
VIEW = (
    "CREATE MATERIALIZED VIEW IF NOT EXISTS hours_view TO hours AS "
    "SELECT toStartOfHour(decided_at) AS hour, count() AS number FROM verdicts GROUP BY hour"
)


def with_view(store: Store) -> Store:
    def make(client: Client) -> None:
        for statement in (HOURS, VIEW):
            client.command(statement)

    store.writer.run(make)
    return store


def written_once(folder: Path) -> Path:
    """Write some verdicts, and return a copy of the segment they were written of."""
    spool, copy = folder / "spool", folder / "copy"
    with open_store(folder) as store:
        with_view(store)
    with open_store(folder, limits=WriterLimits(batch_rows=10**6, batch_seconds=60)) as store:
        sink = ClickHouseSink(store.writer, store.hasher)
        for number in range(AMOUNT):
            sink.deliver(trial(number), good(number))
        shutil.copytree(spool, copy)
        assert counts(store) == (AMOUNT, AMOUNT, AMOUNT)
    return copy


def counts(store: Store) -> tuple[int, int, int]:
    """Return how many verdicts there are, how many rows of them, and what the view counted."""
    store.flush()
    numbers = store.writer.run(
        lambda client: client.query(
            "SELECT (SELECT uniqExact(id) FROM verdicts), (SELECT count() FROM verdicts), "
            "(SELECT sum(number) FROM hours)"
        )
    )[0]
    return int(numbers[0]), int(numbers[1]), int(numbers[2])


def forget_blocks(folder: Path, *, of: str) -> int:
    """Take away the data of blocks with a column, not the notes of them."""
    taken = 0
    for log in (folder / "data").glob("store/*/*/deduplication_logs/deduplication_log_1.txt"):
        for line in log.read_text().splitlines():
            part = log.parents[1] / line.split("\t")[1]
            if part.is_dir() and of in (part / "columns.txt").read_text():
                shutil.rmtree(part)
                taken += 1
    return taken


def test_a_segment_that_was_written_and_not_removed_doubles_nothing(tmp_path: Path) -> None:
    copy = written_once(tmp_path / "store")
    for _ in range(2):
        shutil.copytree(copy, tmp_path / "store" / "spool", dirs_exist_ok=True)
        with open_store(tmp_path / "store") as store:
            assert counts(store) == (AMOUNT, AMOUNT, AMOUNT)
            assert store.reader.counts()["trials"] == AMOUNT
    assert [each.name for each in (tmp_path / "store" / "spool").iterdir()] == ["quarantine"]


@pytest.mark.parametrize("column", ["", "`number`", "`checks_version`"])
def test_a_block_that_was_noted_and_never_came_to_be_is_written_after_all(
    tmp_path: Path, column: str
) -> None:
    copy = written_once(tmp_path / "store")
    assert forget_blocks(tmp_path / "store", of=column)
    shutil.copytree(copy, tmp_path / "store" / "spool", dirs_exist_ok=True)
    with open_store(tmp_path / "store") as store:
        assert counts(store) == (AMOUNT, AMOUNT, AMOUNT)
        assert store.reader.counts()["trials"] == AMOUNT


def test_what_is_whole_is_not_mended(tmp_path: Path) -> None:
    written_once(tmp_path / "store")
    assert strike_out_lost_blocks(tmp_path / "store" / "data") == 0


def test_a_note_that_was_never_finished_is_cut_off_and_an_unknown_one_left_alone(
    tmp_path: Path,
) -> None:
    table = tmp_path / "store" / "abc" / "abc-1"
    (table / "deduplication_logs").mkdir(parents=True)
    (table / "20261102_1_4_1_9").mkdir()
    log = table / "deduplication_logs" / "deduplication_log_1.txt"
    noted = "1\t20261102_2_2_0\tb2\n1\t20261102_5_5_0\tb5\n1\t20261102_6_6_0\tb6\n"
    log.write_text(f"{noted}2\t20261102_6_6_0\tb6\n1\t2026")
    assert strike_out_lost_blocks(tmp_path) == 1
    assert log.read_text() == f"{noted}2\t20261102_6_6_0\tb6\n2\t20261102_5_5_0\tb5\n"
    assert strike_out_lost_blocks(tmp_path) == 0
    log.write_text(f"{noted}9 what is this\n")
    assert strike_out_lost_blocks(tmp_path) == 0
    assert log.read_text() == f"{noted}9 what is this\n"
