"""The writer against a database that is slow, refuses, or chokes on one row."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from random import Random
from zlib import crc32

import pytest

from monitor.canaries import InstallationKey
from monitor.conventions import DropReason
from monitor.errors import StoreError
from monitor.store import EvidenceHasher, Writer, WriterLimits
from monitor.store.encode import signal_rows, trial_rows, verdict_rows
from monitor.store.segment import Put, encoded, line_of
from monitor.store.spool import Spool
from tests.unit.store.samples import NOW, trial, verdict
from tests.unit.store.spooling import (
    PATIENT,
    FakeClient,
    SetClock,
    ids,
    rows,
    started,
    wait_until,
    writing,
)


def small(rows_held: int, *, patience_seconds: float = 0.05) -> WriterLimits:
    """Return limits that hold so many verdicts."""
    line = len(line_of(rows(1), NOW))
    return WriterLimits(
        batch_rows=10,
        batch_seconds=60,
        max_bytes=rows_held * (line + 2),
        room_seconds=patience_seconds,
        patience_seconds=patience_seconds,
    )


def put_each(writer: Writer, amount: int, start: int = 0) -> None:
    for number in range(start, start + amount):
        writer.put(rows(1, number))


def test_rows_go_in_batches_on_one_thread(tmp_path: Path) -> None:
    client = FakeClient()
    client.gate.clear()
    with writing(client, tmp_path) as writer:
        writer.put(rows(10))
        assert client.entered.wait(10)
        put_each(writer, 15, 10)
        client.gate.set()
        writer.flush()
        assert [len(block) for block in client.blocks] == [10, 15]
    assert client.written() == ids(25)
    assert len(client.threads) == 1
    assert threading.get_ident() not in client.threads


def test_a_partial_batch_goes_when_it_is_old_enough(tmp_path: Path) -> None:
    client = FakeClient()
    limits = WriterLimits(batch_rows=10, batch_seconds=0.01, patience_seconds=10)
    with writing(client, tmp_path, limits) as writer:
        writer.put(rows(3))
        assert client.entered.wait(10)


def test_a_verdict_comes_after_everything_it_speaks_of(tmp_path: Path) -> None:
    client, hasher = FakeClient(), EvidenceHasher(InstallationKey(bytes(32)))
    with writing(client, tmp_path) as writer:
        writer.put(verdict_rows(verdict(1)))
        writer.put(trial_rows(trial(1), hasher) + signal_rows(verdict(1), trial(1), hasher))
    assert set(client.tables[:-1]) == {"exchange_verdicts", "trials", "exchanges", "signals"}
    assert client.tables[-1] == "verdicts"


def test_droppable_rows_are_dropped_and_counted_while_the_spool_is_full(tmp_path: Path) -> None:
    client = FakeClient()
    client.gate.clear()
    with writing(client, tmp_path, small(20, patience_seconds=10)) as writer:
        put_each(writer, 20)
        assert not writer.put(rows(6, 20), droppable=True)
        assert writer.stats().queued_rows == 20
        assert writer.stats().dropped_rows == {DropReason.SHED: 6}
        client.gate.set()
        writer.flush()
        assert writer.put(rows(5, 20), droppable=True)
    assert client.written() == ids(25)


def test_other_rows_wait_for_room(tmp_path: Path) -> None:
    client = FakeClient()
    client.gate.clear()
    with writing(client, tmp_path, small(20, patience_seconds=10)) as writer:
        put_each(writer, 20)
        waiting = threading.Thread(target=writer.put, args=(rows(5, 20),))
        waiting.start()
        assert waiting.is_alive()
        client.gate.set()
        waiting.join(10)
        assert not waiting.is_alive()
    assert client.written() == ids(25)


def test_they_do_not_wait_for_ever(tmp_path: Path) -> None:
    client = FakeClient()
    client.gate.clear()
    writer = started(client, tmp_path, small(20))
    put_each(writer, 20)
    with pytest.raises(
        StoreError, match=r"took no rows \(waited 0\.05 s\).*storage\.spool\.max_mb"
    ):
        writer.put(rows(1, 20))
    with pytest.raises(StoreError, match=r"did not finish within 0\.05 s"):
        writer.flush()
    client.gate.set()
    writer.close()
    assert client.written() == ids(20)


def test_a_put_larger_than_the_spool_goes_when_nothing_else_waits(tmp_path: Path) -> None:
    client = FakeClient()
    with writing(client, tmp_path, small(20)) as writer:
        writer.put(rows(100))
    assert client.written() == ids(100)


def test_work_that_nobody_waits_for_any_more_is_not_done_later(tmp_path: Path) -> None:
    client = FakeClient()
    client.gate.clear()
    done: list[int] = []
    with writing(client, tmp_path) as writer:
        writer.put(rows(1))
        with pytest.raises(StoreError, match=r"did not finish within 0\.01 s"):
            writer.run(lambda _: done.append(1), patience_seconds=0.01)
        client.gate.set()
        writer.flush()
    assert done == []


def test_a_refused_block_is_tried_again_under_the_same_token(tmp_path: Path) -> None:
    client = FakeClient()
    client.refusals = 2
    with writing(client, tmp_path) as writer:
        writer.put(rows(15))
        writer.flush()
        assert writer.stats().failed_inserts == 2
        assert writer.stats().written_rows == 15
    assert client.written() == ids(15)
    assert len(client.tokens) == 1


def test_only_the_row_that_cannot_be_written_is_given_up(tmp_path: Path) -> None:
    client = FakeClient()
    client.poison = {ids(1, 7)[0]}
    with writing(client, tmp_path) as writer:
        writer.put(rows(20))
        writer.flush()
        assert writer.stats().dropped_rows == {DropReason.UNWRITABLE: 1}
        assert writer.stats().queued_rows == 0
    assert client.written() == [each for each in ids(20) if each not in client.poison]
    assert len(set(client.tokens)) == len(client.tokens)
    laid_aside = list((tmp_path / "quarantine").iterdir())
    assert [client.poison < set(file.read_text().split('"')) for file in laid_aside] == [True]


def test_blocks_have_the_same_tokens_when_they_are_written_again(tmp_path: Path) -> None:
    spool = Spool.opened(tmp_path / "spool", SetClock(), PATIENT)
    spool.put(line_of(verdict_rows(verdict(1)) + rows(20), NOW), 22)
    spool.close()
    shutil.copytree(tmp_path / "spool", tmp_path / "again")
    tokens = []
    for name in ("spool", "again"):
        client = FakeClient()
        client.poison = {ids(1, 7)[0]}
        with writing(client, tmp_path / name):
            tokens.append(client.tokens)
    assert len(tokens[0]) > 3
    assert tokens[0] == tokens[1]


def test_a_writer_that_died_is_not_called_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    died = threading.Event()
    monkeypatch.setattr(threading, "excepthook", lambda _: died.set())

    class Broken(FakeClient):
        def insert(self, *arguments: object, **named: object) -> None:
            raise NotImplementedError

    writer = started(Broken(), tmp_path)
    writer.put(rows(10))
    assert died.wait(10)
    with pytest.raises(StoreError, match="the store's writer has died; its log says of what"):
        wait_until(lambda: not writer.put(rows(1, 10)))
    writer.close()
    with writing(FakeClient(), tmp_path) as mended:
        assert mended.stats().written_rows >= 10


def test_close_leaves_what_it_could_not_write_for_the_next_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    client = FakeClient()
    client.refusals = 10**6
    limits = WriterLimits(batch_rows=10, batch_seconds=60, patience_seconds=0.2)
    writer = started(client, tmp_path, limits)
    writer.put(rows(25))
    writer.close()
    assert "25 rows wait in the spool for the next start: verdicts" in caplog.text
    with pytest.raises(StoreError, match="the store is closed"):
        writer.put(rows(1))
    with pytest.raises(StoreError, match="the store is closed"):
        writer.flush()
    client.refusals = 0
    with writing(client, tmp_path):
        assert client.written() == ids(25)


def test_a_start_that_cannot_write_what_was_left_says_so(tmp_path: Path) -> None:
    client = FakeClient()
    client.refusals = 10**6
    limits = WriterLimits(batch_rows=10, batch_seconds=60, patience_seconds=0.1)
    writer = started(client, tmp_path, limits)
    writer.put(rows(25))
    writer.close()
    with pytest.raises(StoreError, match="took none of the 25 rows that wait in the spool"):
        started(client, tmp_path, limits)
    client.refusals = 0
    with writing(client, tmp_path, limits):
        assert client.written() == ids(25)


def test_closing_twice_is_fine(tmp_path: Path) -> None:
    client = FakeClient()
    with writing(client, tmp_path) as writer:
        writer.put(rows(1))
        writer.close()
    assert client.written() == ids(1)


def test_a_job_comes_after_what_was_put_before_it_and_hands_back_its_error(tmp_path: Path) -> None:
    client = FakeClient()
    with writing(client, tmp_path) as writer:
        writer.put(rows(25))
        assert writer.run(lambda _: len(client.written())) == 25
        with pytest.raises(ZeroDivisionError):
            writer.run(lambda _: 1 // 0)
        writer.put(rows(1, 25))
        writer.flush()
    assert client.written() == ids(26)


def test_nothing_is_lost_between_many_threads(tmp_path: Path) -> None:
    client = FakeClient()
    with writing(client, tmp_path) as writer:
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


def test_the_age_of_what_waits_is_that_of_the_oldest_row_whatever_the_clock_does(
    tmp_path: Path,
) -> None:
    client, clock = FakeClient(), SetClock()
    client.gate.clear()
    with writing(client, tmp_path, clock=clock) as writer:
        assert writer.stats().oldest_seconds == 0
        writer.put(rows(10))
        clock.pass_by(30)
        writer.put(rows(1, 10))
        clock.instant = NOW.replace(year=2001)
        assert writer.stats().oldest_seconds == 30
        client.gate.set()
        writer.flush()
        assert writer.stats().oldest_seconds == 0


def left_in(folder: Path, amount: int, damaged: int) -> None:
    """Leave so many puts in a spool, one of them damaged."""
    spool = Spool.opened(folder, SetClock(), PATIENT)
    lines = [line_of(rows(1, number), NOW) for number in range(amount)]
    for line in lines:
        spool.put(line, 1)
    spool.close()
    (file,) = folder.glob("*.rows")
    content = bytearray(file.read_bytes())
    content[sum(map(len, lines[:damaged])) + 100] ^= 1
    file.write_bytes(content)


def test_a_line_that_cannot_be_read_is_laid_aside_and_the_rest_is_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    left_in(tmp_path, 5, damaged=2)
    (damaged,) = tmp_path.glob("*.rows")
    lines = damaged.read_bytes().splitlines(keepends=True)
    client = FakeClient()
    with writing(client, tmp_path) as writer:
        assert client.written() == [*ids(2), *ids(2, 3)]
        assert writer.stats().dropped_rows == {DropReason.UNREADABLE: 1}
    (laid_aside,) = (tmp_path / "quarantine").iterdir()
    assert laid_aside.read_bytes() == lines[2]
    said = f"{laid_aside}: lines that cannot be read were laid aside (lines: 1, files: 1): damaged"
    assert said in caplog.text
    assert "glm" not in caplog.text


def test_much_damage_is_few_files_and_one_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    left_in(tmp_path, 6, damaged=0)
    (file,) = tmp_path.glob("*.rows")
    lines = file.read_bytes().splitlines(keepends=True)
    unknown = encoded(Put(at=NOW, blocks=()))
    noise = [Random(number).randbytes(300_000) for number in range(2)]
    runs = [lines[0] + noise[0] + b"\n", noise[1] + b"\n"]
    file.write_bytes(runs[0] + lines[1] + unknown + lines[2] + runs[1] + b"".join(lines[3:]))
    client = FakeClient()
    with writing(client, tmp_path) as writer:
        assert client.written() == ids(5, 1)
        number = sum(run.count(b"\n") for run in runs)
        assert number > 1000
        assert writer.stats().dropped_rows == {DropReason.UNREADABLE: number}
    aside = [path.read_bytes() for path in (tmp_path / "quarantine").iterdir()]
    assert sorted(aside) == sorted(runs)
    (said,) = [each.getMessage() for each in caplog.records if each.levelname == "ERROR"]
    assert f"laid aside (lines: {number}, files: 2)" in said


def test_lines_of_another_version_are_laid_aside_each_on_its_own(tmp_path: Path) -> None:
    left_in(tmp_path, 4, damaged=1)
    (file,) = tmp_path.glob("*.rows")
    lines = file.read_bytes().splitlines(keepends=True)
    payload = lines[0][18:-1].replace(b'"verdicts"', b'"verdikts"')
    length = b"%08x" % len(payload)
    strange = b"%s %08x %s\n" % (length, crc32(payload, crc32(length)), payload)
    file.write_bytes(strange + lines[1] + strange + b"".join(lines[2:]))
    client = FakeClient()
    with writing(client, tmp_path) as writer:
        assert client.written() == ids(2, 2)
        assert writer.stats().dropped_rows == {DropReason.UNREADABLE: 3}
    (aside,) = (tmp_path / "quarantine").iterdir()
    assert aside.read_bytes() == payload + b"\n" + lines[1] + payload


def test_laying_aside_is_tried_again_and_counted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_in(tmp_path, 5, damaged=0)
    really = Spool.quarantine
    refused: list[str] = []

    def refuse_once(spool: Spool, name: str, content: bytes) -> Path:
        if not refused:
            refused.append(name)
            msg = "the disk is full"
            raise StoreError(msg)
        return really(spool, name, content)

    monkeypatch.setattr(Spool, "quarantine", refuse_once)
    client = FakeClient()
    with writing(client, tmp_path) as writer:
        assert client.written() == ids(4, 1)
        assert writer.stats().dropped_rows == {DropReason.UNREADABLE: 1}
    assert [path.name for path in (tmp_path / "quarantine").iterdir()] == refused
