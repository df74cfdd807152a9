"""A disk that is really full: a small tmpfs under the store, or under its spool alone."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from monitor.errors import StoreError
from monitor.sinks import ClickHouseSink
from monitor.store import Store, WriterLimits, open_store
from monitor.store.client import Client
from tests.store_faults.counting import assert_exactly_once
from tests.store_faults.small_disks import bytes_left, small_disk
from tests.unit.store.samples import good, trial
from tests.unit.store.spooling import wait_until

# In kilobytes: an empty database is some megabytes large.
SIZES = {"store": 48_000, "store/spool": 2_000}
LIMITS = WriterLimits(batch_rows=100, batch_seconds=0.05, room_seconds=0.3)


@pytest.fixture(params=["store", "store/spool"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A small disk at a folder of the store."""
    with small_disk(tmp_path / str(request.param), SIZES[request.param]) as folder:
        yield folder


def filled(disk: Path, left: int) -> Path:
    """Fill a disk up to so many bytes, and return what to remove to make room again."""
    ballast = disk / "ballast"
    size = max(bytes_left(disk) - left, 0)
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, size)
    return ballast


@contextmanager
def held_up(store: Store) -> Iterator[None]:
    """Let nothing go on to the database while entered."""
    entered, gate = threading.Event(), threading.Event()

    def wait(_: Client) -> None:
        entered.set()
        gate.wait(120)

    job = threading.Thread(target=store.writer.run, args=(wait,), kwargs={"patience_seconds": 120})
    job.start()
    assert entered.wait(60)
    try:
        yield
    finally:
        gate.set()
        job.join()


def kept_until_full(store: Store, numbers: Iterator[int]) -> tuple[list[str], StoreError]:
    """Keep verdicts until the store takes no more; return their ids, and what it said."""
    sink = ClickHouseSink(store.writer, store.hasher)
    found: list[str] = []
    for number in numbers:
        try:
            sink.deliver(trial(number), good(number))
        except StoreError as error:
            return found, error
        found.append(good(number).id)
    raise AssertionError


def test_a_full_disk_loses_nothing_and_goes_on_when_there_is_room(
    tmp_path: Path, disk: Path
) -> None:
    folder, numbers = tmp_path / "store", itertools.count()
    with open_store(folder, limits=LIMITS) as store:
        sink = ClickHouseSink(store.writer, store.hasher)
        acknowledged = []
        for _ in range(3):
            with held_up(store):
                ballast = filled(disk, left=200_000)
                some, error = kept_until_full(store, numbers)
            if disk == folder:
                refused = store.writer.stats().failed_inserts
                assert wait_until(lambda: store.writer.stats().failed_inserts > refused)  # noqa: B023
            assert f"{folder / 'spool'}: the disk is full; make room on it" in str(error)
            acknowledged += some
            ballast.unlink()
            for number in itertools.islice(numbers, 50):
                sink.deliver(trial(number), good(number))
                acknowledged.append(good(number).id)
        assert wait_until(lambda: store.writer.stats().queued_rows == 0, 60)
        assert assert_exactly_once(store, acknowledged) == len(acknowledged)
    with open_store(folder, limits=LIMITS) as store:
        assert assert_exactly_once(store, acknowledged) == len(acknowledged)


def test_a_death_on_a_full_disk_loses_nothing(tmp_path: Path, disk: Path) -> None:
    folder = tmp_path / "store"
    open_store(folder, limits=LIMITS).close()
    ballast = filled(disk, left=300_000)
    command = [sys.executable, "-m", "tests.store_faults.victim", str(folder), "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as victim:
        assert victim.stdout
        assert victim.stdout.readline() == "ready\n"
        lines = [victim.stdout.readline() for _ in range(20)]
        victim.kill()
        lines += victim.stdout.readlines()
    acknowledged = [line.strip() for line in lines if line.endswith("\n")]
    ballast.unlink()
    with open_store(folder, limits=LIMITS) as store:
        assert_exactly_once(store, acknowledged)
