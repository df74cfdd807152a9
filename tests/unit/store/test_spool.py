"""The spool: what a put returned from is on disk, whatever the disk and the process do."""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from monitor.errors import StoreError
from monitor.store import WriterLimits
from monitor.store.leftovers import Segment, waiting_in
from monitor.store.segment import UnreadableError, decoded, line_of
from monitor.store.spool import FullError, Spool
from tests.unit.store.samples import NOW
from tests.unit.store.spooling import SetClock, ids, rows, wait_until

LIMITS = WriterLimits(room_seconds=10)
SHORT = WriterLimits(room_seconds=0.05)
FSYNC, WRITE, TRUNCATE = os.fsync, os.write, os.ftruncate


def spool_in(folder: Path, limits: WriterLimits = LIMITS, clock: SetClock | None = None) -> Spool:
    return Spool.opened(folder, clock or SetClock(), limits)


def put(spool: Spool, number: int) -> None:
    spool.put(line_of(rows(1, number), NOW), 1)


def kept(folder: Path) -> list[str]:
    """Return the ids of all verdicts that another process would find, in their order."""
    spool = spool_in(folder)
    found = []
    while segment := spool.oldest():
        found += ids_of(spool, segment)
        spool.remove(segment)
    return found


def ids_of(spool: Spool, segment: Segment) -> list[str]:
    found = []
    for piece in spool.read(segment):
        try:
            found += [str(row[0]) for block in decoded(piece).blocks for row in block.rows]
        except UnreadableError:
            found.append("unreadable")
    return found


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_file())


def test_what_was_put_is_there_for_another_process_sealed_or_not(tmp_path: Path) -> None:
    spool = spool_in(tmp_path)
    for number in range(3):
        put(spool, number)
    spool.seal()
    for number in range(3, 5):
        put(spool, number)
    assert [name.split("-")[0] for name in files(tmp_path)] == ["0" * 15 + "1", "0" * 15 + "2"]
    assert kept(tmp_path) == ids(5)
    assert files(tmp_path) == []


def test_the_name_of_a_segment_stays_whoever_finds_it(tmp_path: Path) -> None:
    spool = spool_in(tmp_path)
    put(spool, 0)
    (name,) = files(tmp_path)
    found = spool_in(tmp_path).oldest()
    spool.seal()
    sealed = spool.oldest()
    assert sealed
    assert found
    assert sealed.stem == found.stem == name.removesuffix(".open")
    assert (sealed.rows, found.rows) == (1, 1)


def test_order_is_by_number_and_goes_on_after_a_restart_whatever_the_clock_says(
    tmp_path: Path,
) -> None:
    clock = SetClock()
    for number in range(12):
        clock.instant -= timedelta(days=1)
        put(spool_in(tmp_path, clock=clock), number)
    assert kept(tmp_path) == ids(12)


def test_names_are_never_those_of_another_folder(tmp_path: Path) -> None:
    for name in ("a", "b"):
        put(spool_in(tmp_path / name), 0)
    assert files(tmp_path / "a") != files(tmp_path / "b")


def test_a_line_that_was_never_finished_is_cut_off_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    put(spool_in(tmp_path), 0)
    (name,) = files(tmp_path)
    torn = line_of(rows(1, 1), NOW)[:-40]
    with (tmp_path / name).open("ab") as file:
        file.write(torn)
    assert kept(tmp_path) == ids(1)
    assert f"{len(torn)} bytes of a line that was never finished are cut off" in caplog.text
    assert ids(1, 1)[0] not in caplog.text


def test_a_file_in_which_nothing_was_finished_is_removed(tmp_path: Path) -> None:
    put(spool_in(tmp_path), 0)
    (name,) = files(tmp_path)
    (tmp_path / name).write_bytes(line_of(rows(1), NOW)[:20])
    assert spool_in(tmp_path).sealed == 0
    assert files(tmp_path) == []


def test_what_is_not_ours_is_left_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "notes.txt").write_text("by somebody")
    assert kept(tmp_path) == []
    assert files(tmp_path) == ["notes.txt"]
    assert "notes.txt: not a file of the spool, left alone" in caplog.text


def test_a_folder_named_as_a_segment_is_left_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    put(spool_in(tmp_path), 0)
    strange = tmp_path / f"{7:016d}-{'a' * 16}.open"
    strange.mkdir()
    assert kept(tmp_path) == ids(1)
    assert f"{strange}: not a file of the spool, left alone" in caplog.text
    assert waiting_in(tmp_path, NOW).segments == 0
    assert strange.is_dir()


def test_what_the_disk_refuses_is_named(tmp_path: Path) -> None:
    spool = spool_in(tmp_path)
    (tmp_path / "quarantine" / "x.line").mkdir()
    with pytest.raises(StoreError) as caught:
        spool.quarantine("x.line", b"x")
    named = f"Is a directory ({tmp_path / 'quarantine' / 'x.line'})"
    assert str(caught.value) == f"{tmp_path}: the spool cannot use this folder: {named}"


def test_only_the_owner_may_read(tmp_path: Path) -> None:
    spool = spool_in(tmp_path / "spool")
    put(spool, 0)
    spool.quarantine("x.line", b"x")
    for path in (tmp_path / "spool").rglob("*"):
        wanted = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == wanted


def test_age_is_known_after_a_restart_and_never_negative(tmp_path: Path) -> None:
    put(spool_in(tmp_path), 0)
    clock = SetClock()
    clock.pass_by(90)
    spool = spool_in(tmp_path, clock=clock)
    assert spool.age_seconds() == 90
    clock.pass_by(10)
    assert spool.age_seconds() == 100
    clock = SetClock()
    clock.instant -= timedelta(days=400)
    assert spool_in(tmp_path, clock=clock).age_seconds() == 0


def test_a_large_backlog_is_several_segments_of_bounded_size(tmp_path: Path) -> None:
    spool = spool_in(tmp_path)
    for number in range(3):
        spool.put(line_of(rows(1, number) * 15_000, NOW), 15_000)
    assert (spool.sealed, spool.open_rows, spool.rows) == (1, 15_000, 45_000)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    calls: list[int] = []

    def fsync(descriptor: int) -> None:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            calls.append(descriptor)
        FSYNC(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    return calls


def test_a_put_waits_for_the_disk_unless_told_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = counted(monkeypatch)
    spool = spool_in(tmp_path / "a")
    for number in range(3):
        put(spool, number)
        assert len(calls) == number + 1
    spool = spool_in(tmp_path / "b", replace(LIMITS, fsync=False))
    put(spool, 0)
    spool.close()
    assert len(calls) == 3


def test_threads_that_put_at_once_share_an_fsync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered, gate, calls = threading.Event(), threading.Event(), []

    def slow(descriptor: int) -> None:
        calls.append(descriptor)
        entered.set()
        assert gate.wait(20)
        FSYNC(descriptor)

    spool = spool_in(tmp_path)
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    spool.put(line_of(rows(1), NOW), 1)
    monkeypatch.setattr(os, "fsync", slow)
    threads = [threading.Thread(target=put, args=(spool, number)) for number in range(1, 21)]
    threads[0].start()
    assert entered.wait(20)
    for thread in threads[1:]:
        thread.start()
    assert wait_until(lambda: spool.rows == 21)
    assert all(thread.is_alive() for thread in threads)
    gate.set()
    for thread in threads:
        thread.join(20)
    assert len(calls) == 2
    assert sorted(kept(tmp_path)) == sorted(ids(21))


def failing(times: int, code: int, really: Callable[..., int | None]) -> Callable[..., int | None]:
    """Return a call of the operating system that fails so often."""
    left = [times]

    def call(descriptor: int, *rest: object) -> int | None:
        if stat.S_ISREG(os.fstat(descriptor).st_mode) and left[0]:
            left[0] -= 1
            raise OSError(code, os.strerror(code))
        return really(descriptor, *rest)

    return call


def test_an_fsync_that_fails_is_no_promise_and_the_next_put_goes_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = spool_in(tmp_path)
    put(spool, 0)
    monkeypatch.setattr(os, "fsync", failing(1, errno.EIO, FSYNC))
    with pytest.raises(StoreError, match=r"the spool cannot use this folder: Input/output error"):
        put(spool, 1)
    put(spool, 2)
    assert len(files(tmp_path)) == 2
    assert spool.rows == 2
    assert kept(tmp_path) == [*ids(1), *ids(1, 2)]


def test_an_fsync_that_fails_at_the_very_first_put_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = spool_in(tmp_path)
    monkeypatch.setattr(os, "fsync", failing(1, errno.EIO, FSYNC))
    with pytest.raises(StoreError, match="Input/output error"):
        put(spool, 0)
    assert files(tmp_path) == []
    put(spool, 1)
    assert kept(tmp_path) == ids(1, 1)


def half(descriptor: int, content: bytes) -> int:
    """Write a part, as a disk that fills up does."""
    return WRITE(descriptor, bytes(content)[: max(len(content) // 2, 1)])


def test_a_short_write_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "write", half)
    spool = spool_in(tmp_path)
    for number in range(3):
        put(spool, number)
    assert kept(tmp_path) == ids(3)


def test_a_full_disk_is_a_full_spool_and_half_a_line_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = spool_in(tmp_path, SHORT)
    put(spool, 0)
    (name,) = files(tmp_path)
    size = (tmp_path / name).stat().st_size

    def full(descriptor: int, content: bytes) -> int:
        if len(content) < 300:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return half(descriptor, content)

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(FullError, match=f"{tmp_path}: the disk is full; make room on it"):
        put(spool, 1)
    assert (tmp_path / name).stat().st_size == size
    monkeypatch.undo()
    put(spool, 2)
    assert kept(tmp_path) == [*ids(1), *ids(1, 2)]


def test_a_put_waits_for_room_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = spool_in(tmp_path)
    tried = threading.Event()

    def full(descriptor: int, content: bytes) -> int:
        tried.set()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    thread = threading.Thread(target=put, args=(spool, 0))
    thread.start()
    assert tried.wait(20)
    monkeypatch.undo()
    thread.join(20)
    assert kept(tmp_path) == ids(1)


def test_where_not_even_cutting_back_works_the_next_put_goes_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = spool_in(tmp_path, SHORT)
    put(spool, 0)

    def broken(descriptor: int, content: bytes) -> int:
        half(descriptor, content)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "write", broken)
    monkeypatch.setattr(os, "ftruncate", failing(1, errno.EIO, TRUNCATE))
    with pytest.raises(StoreError, match="Input/output error"):
        put(spool, 1)
    monkeypatch.undo()
    put(spool, 2)
    assert kept(tmp_path) == [*ids(1), "unreadable", *ids(1, 2)]


def test_an_interrupt_leaves_no_half_line_and_holds_nobody_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = spool_in(tmp_path)
    put(spool, 0)

    def interrupted(descriptor: int, content: bytes) -> int:
        half(descriptor, content)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        put(spool, 1)
    monkeypatch.undo()

    def interrupted_sync(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted_sync)
    with pytest.raises(KeyboardInterrupt):
        put(spool, 2)
    monkeypatch.undo()
    put(spool, 3)
    spool.close()
    # Nobody was promised the third, and it is whole.
    assert kept(tmp_path) == [*ids(1), *ids(2, 2)]


def test_a_folder_that_cannot_be_used_says_which(tmp_path: Path) -> None:
    (tmp_path / "spool").write_text("a file")
    with pytest.raises(StoreError, match=r"spool: the spool cannot use this folder: File exists"):
        spool_in(tmp_path / "spool")
