"""The database is away for an hour, and comes back: nothing is lost, nothing doubled."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.errors import StoreError
from monitor.sinks import ClickHouseSink
from monitor.store import Store, WriterLimits, open_store
from tests.store_faults.counting import assert_exactly_once
from tests.unit.store.gateway import PASSWORD, Gateway
from tests.unit.store.samples import good, trial
from tests.unit.store.spooling import SetClock, wait_until

HOUR_SECONDS, EVERY_SECONDS = 3600, 1
LIMITS = WriterLimits(answer_seconds=2, patience_seconds=5)


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Gateway]:
    server = Gateway(tmp_path / "server")
    server.start()
    try:
        yield server
    finally:
        server.kill()


def opened(gateway: Gateway, folder: Path, clock: SetClock) -> Store:
    return open_store(folder, gateway.url, password=PASSWORD, limits=LIMITS, clock=clock)


def watched(store: Store, clock: SetClock, first: int, seconds: int) -> list[str]:
    """Keep a verdict each second for so long, and return their ids."""
    sink = ClickHouseSink(store.writer, store.hasher)
    found = []
    for number in range(first, first + seconds, EVERY_SECONDS):
        clock.pass_by(EVERY_SECONDS)
        judged = good(number)
        sink.deliver(trial(number), judged)
        found.append(judged.id)
    return found


def test_an_hour_without_the_database(
    gateway: Gateway, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock, folder, acknowledged = SetClock(), tmp_path / "store", []
    with opened(gateway, folder, clock) as store:
        acknowledged += watched(store, clock, 0, 60)
        store.flush()
        gateway.kill()
        acknowledged += watched(store, clock, 60, HOUR_SECONDS)
        stats = store.writer.stats()
        assert stats.queued_rows == 5 * HOUR_SECONDS
        assert HOUR_SECONDS - 2 <= stats.oldest_seconds <= HOUR_SECONDS
        assert 0 < stats.spool_bytes < 50_000_000
        assert wait_until(lambda: store.writer.stats().failed_inserts > 0)
        assert stats.dropped_rows == {}
        with pytest.raises(StoreError, match=r"did not finish within 0\.1 s: .*refused"):
            store.writer.run(lambda _: None, patience_seconds=0.1)
        gateway.start()
        assert wait_until(lambda: store.writer.stats().queued_rows == 0, 120)
        assert store.writer.stats().oldest_seconds == 0
        assert assert_exactly_once(store, acknowledged) == len(acknowledged)
    # A backlog becomes few blocks, not one a second.
    assert list((folder / "spool").glob("*-*")) == []


def test_a_monitor_that_ends_and_starts_while_the_database_is_away(
    gateway: Gateway, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock, folder = SetClock(), tmp_path / "store"
    with opened(gateway, folder, clock) as store:
        gateway.kill()
        acknowledged = watched(store, clock, 0, 200)
        with caplog.at_level(logging.WARNING):
            store.close()
    assert "1000 rows wait in the spool for the next start" in caplog.text
    left = sorted(path.name for path in (folder / "spool").glob("*-*"))
    for _ in range(2):
        with pytest.raises(StoreError, match="the store cannot be opened: "):
            opened(gateway, folder, clock)
        assert sorted(path.name for path in (folder / "spool").glob("*-*")) == left
    gateway.start()
    with opened(gateway, folder, clock) as store:
        # What was left is there before anything reads.
        assert store.reader.counts()["verdicts"] == 200
        assert assert_exactly_once(store, acknowledged) == 200
