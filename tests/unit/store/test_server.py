"""The same store on a server: the unmodified HTTP client against the real engine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from monitor.canaries import MarkerRegistry, Minter
from monitor.errors import StoreError
from monitor.findings import findings_in
from monitor.sinks import ClickHouseSink
from monitor.store import Store, WriterLimits, open_store
from monitor.store.client import Location, connect
from monitor.store.encode import verdict_rows
from monitor.store.rows import VerdictRow
from tests.unit.store.gateway import PASSWORD, Gateway
from tests.unit.store.samples import NOW, good, owner, trial, verdict
from tests.unit.store.spooling import wait_until


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    server = Gateway(tmp_path_factory.mktemp("server") / "data")
    server.start()
    try:
        yield server
    finally:
        server.kill()


@pytest.fixture
def url(gateway: Gateway) -> str:
    return gateway.url


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("installation")


def opened(url: str, directory: Path, limits: WriterLimits | None = None) -> Store:
    return open_store(directory, url, password=PASSWORD, limits=limits)


def test_what_is_written_is_there_for_the_next_process(url: str, directory: Path) -> None:
    with opened(url, directory) as store:
        sink = ClickHouseSink(store.writer, store.hasher)
        findings = findings_in(store, NOW)
        findings.record(verdict(1))
        sink.deliver(trial(1), verdict(1))
        kept = findings.list_open()
    with opened(url, directory) as store:
        found = store.reader.trial("trial-glm-1")
        assert found is not None
        assert found.verdicts == (verdict(1),)
        assert found.exchanges[0].started_at == NOW
        assert findings_in(store, NOW).list_open() == kept


def test_markers_are_sealed_and_expire(url: str, directory: Path) -> None:
    with opened(url, directory) as store:
        registry = MarkerRegistry(store.key)
        minter = Minter(store.key, registry, random_bits=Random(1).getrandbits)
        marker = minter.mint(owner(), NOW)
        store.markers.save(registry.take_unsaved())
        store.flush()
        assert store.markers.load() == (registry.entry(marker.id),)
        store.markers.expire(NOW + timedelta(days=31))
        assert [entry.groups for entry in store.markers.load()] == [None]


def test_a_reader_cannot_write(url: str) -> None:
    client = connect(Location(url=url, password=PASSWORD), read_only=True)
    with pytest.raises(StoreError, match="READONLY"):
        client.command("TRUNCATE TABLE verdicts")
    client.close()


def test_several_threads_may_read_at_once(url: str, directory: Path) -> None:
    with opened(url, directory) as store:
        failures: list[BaseException] = []

        def read() -> None:
            try:
                for _ in range(10):
                    store.reader.trial("trial-glm-1")
            except StoreError as error:
                failures.append(error)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []


def test_a_wrong_password_is_a_store_error_that_does_not_show_it(url: str, directory: Path) -> None:
    with pytest.raises(StoreError, match="the store cannot be opened") as caught:
        open_store(directory, url, password="guess-7")  # noqa: S106
    assert "guess-7" not in str(caught.value)


def test_a_server_that_accepts_and_never_answers_costs_nothing(
    gateway: Gateway, directory: Path
) -> None:
    impatient = WriterLimits(answer_seconds=1)
    with opened(gateway.url, directory, impatient) as store:
        sink = ClickHouseSink(store.writer, store.hasher)
        before = store.reader.counts()["verdicts"]
        gateway.fall_silent()
        try:
            for number in range(100, 150):
                sink.deliver(trial(number), good(number))
            assert wait_until(lambda: store.writer.stats().failed_inserts > 0)
            assert store.writer.stats().queued_rows == 250
            with pytest.raises(StoreError, match=r"the store cannot be opened: .*timed out"):
                opened(gateway.url, directory.with_name("another"), impatient)
        finally:
            gateway.go_on()
        store.flush()
        assert store.reader.counts()["verdicts"] == before + 50
        assert store.writer.stats().queued_rows == 0


def test_a_block_of_more_days_than_a_server_takes_at_once_is_taken(
    gateway: Gateway, directory: Path
) -> None:
    with opened(gateway.url, directory) as store:
        rows = verdict_rows(good(200))[0]
        assert isinstance(rows, VerdictRow)
        days = [
            replace(rows, id=f"day-{day}", decided_at=NOW - timedelta(days=day))
            for day in range(150)
        ]
        store.writer.put(days)
        store.flush()
        assert store.reader.verdict("day-149") is not None
