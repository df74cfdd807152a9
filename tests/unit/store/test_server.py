"""The same store on a server: the unmodified HTTP client against the real engine."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from monitor.canaries import MarkerRegistry, Minter
from monitor.errors import StoreError
from monitor.findings import findings_in
from monitor.sinks import ClickHouseSink
from monitor.store import Store, open_store
from monitor.store.client import Location, connect
from tests.unit.store.gateway import PASSWORD
from tests.unit.store.samples import NOW, owner, trial, verdict

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory = str(tmp_path_factory.mktemp("server") / "data")
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.unit.store.gateway", directory],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert process.stdout is not None
    port = process.stdout.readline().strip()
    try:
        yield f"http://default@127.0.0.1:{port}?compress=false"
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("installation")


def opened(url: str, directory: Path) -> Store:
    return open_store(directory, url, password=PASSWORD)


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
                    store.reader.last_verdicts("glm")
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
