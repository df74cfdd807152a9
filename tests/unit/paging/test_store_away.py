"""Whatever the database does, what can be said without it is said at once."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from monitor.clock import SystemClock
from monitor.errors import StoreError
from monitor.findings import Finding
from monitor.model import VerdictClass
from monitor.paging import brief
from monitor.paging.brief import LEFT_ALONE_SECONDS, BriefReader
from monitor.store import open_store
from tests.fakes.events_v2 import Endpoint, serving
from tests.integration.processes import wait_until
from tests.unit.daemon.installed import ManualClock
from tests.unit.paging.paged import Paged, paged

LONGEST = 10.0  # well below the time after which the pager looks by itself


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as found:
        yield found


@pytest.fixture
def live(tmp_path: Path, endpoint: Endpoint) -> Iterator[Paged]:
    with paged(tmp_path, endpoint.url, SystemClock()) as of:
        yield of


def away(*_: object) -> None:
    """Be a database that does not answer."""
    raise StoreError("the store did not finish within 1 s")


def closed_before_the_start(of: Paged, finding: Finding) -> None:
    """Close a finding so that only the store knows of it."""
    of.findings.resolve(finding.id, "ann", "mended", of.clock.now())
    of.findings._known.pop(finding.id)


def looked_up(of: Paged, closed: Callable[[str], Finding | None]) -> None:
    of.pager._told = replace(of.pager._told, closed=closed)


@contextlib.asynccontextmanager
async def running(of: Paged) -> AsyncIterator[None]:
    task = asyncio.create_task(of.pager.run())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def test_a_leak_leaves_at_once_though_a_closed_finding_cannot_be_looked_up(
    live: Paged, endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    async def going_on() -> None:
        async with running(live):
            await asyncio.to_thread(wait_until, lambda: "later" in caplog.text, LONGEST, "a look")
            await asyncio.to_thread(live.open, VerdictClass.CROSSED)
            await asyncio.to_thread(
                wait_until, lambda: len(endpoint.opened) == 2, LONGEST, "the page"
            )
        live.open(VerdictClass.LEAK, "other/c1/cold/plain")
        await live.pager.finish()

    closed_before = live.open()
    live.tell()
    closed_before_the_start(live, closed_before)
    looked_up(live, away)
    asyncio.run(going_on())
    assert endpoint.actions() == ["trigger"] * 3
    looked_up(live, live.kept.fetch)
    live.tell()
    assert endpoint.actions() == [*["trigger"] * 3, "resolve"]


def test_one_that_cannot_be_looked_up_keeps_no_other_incident_open(
    live: Paged, endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    one, other = sorted(
        (live.open(), live.open(VerdictClass.CROSSED)), key=lambda finding: finding.id
    )
    live.tell()
    closed_before_the_start(live, one)
    closed_before_the_start(live, other)
    looked_up(live, lambda name: away() if name == one.id else live.kept.fetch(name))
    live.tell()
    assert endpoint.actions(f"davylamp/v1/prod/glm/{other.id}") == ["trigger", "resolve"]
    assert endpoint.actions(f"davylamp/v1/prod/glm/{one.id}") == ["trigger"]
    assert "1 closed findings are looked up later: the store did not finish" in caplog.text


def test_an_event_leaves_while_the_look_that_kept_it_still_waits(
    live: Paged, endpoint: Endpoint
) -> None:
    answered, looks = threading.Event(), threading.Semaphore(0)

    def slow(name: str) -> Finding | None:
        looks.release()
        if live.findings.list_open():
            assert answered.wait(LONGEST * 2)
        raise StoreError(name)

    async def going_on() -> None:
        async with running(live):
            assert await asyncio.to_thread(looks.acquire, timeout=LONGEST)
            await asyncio.to_thread(live.open, VerdictClass.CROSSED)
            try:
                await asyncio.to_thread(
                    wait_until, lambda: len(endpoint.opened) == 2, LONGEST, "the page"
                )
            finally:
                answered.set()

    closed_before = live.open()
    live.tell()
    closed_before_the_start(live, closed_before)
    looked_up(live, slow)
    asyncio.run(going_on())


def test_what_the_store_no_longer_knows_is_asked_for_once(live: Paged) -> None:
    asked: list[str] = []
    finding = live.open()
    live.tell()
    closed_before_the_start(live, finding)
    looked_up(live, asked.append)
    for _ in range(3):
        live.say()
    assert asked == [finding.id]


def test_what_was_kept_is_sent_at_the_end_though_the_last_look_failed(
    live: Paged, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    live.open()
    live.say()
    monkeypatch.setattr(live.pager, "reconcile", away)
    asyncio.run(live.pager.finish())
    assert endpoint.actions() == ["trigger"]


def test_a_store_that_kept_somebody_waiting_is_left_alone_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(brief, "PATIENCE_SECONDS", 0.2)
    clock, back, asked = ManualClock(), threading.Event(), []
    with open_store(tmp_path / "store") as store, ThreadPoolExecutor(1) as threads:
        reader = BriefReader(store, clock)
        assert reader.ask(lambda reads: reads.finding("F-1")) is None
        hangs = threads.submit(store.writer.run, lambda _: back.wait(LONGEST))
        with pytest.raises(StoreError, match=r"did not finish within 0\.2 s"):
            reader.ask(asked.append)
        back.set()
        assert hangs.result()
        clock.move(LEFT_ALONE_SECONDS - 1)
        with pytest.raises(StoreError, match="did not answer a moment ago"):
            reader.ask(asked.append)
        assert asked == []
        clock.move(1)
        monkeypatch.setattr(brief, "PATIENCE_SECONDS", LONGEST)
        assert reader.ask(lambda reads: reads.finding("F-1")) is None
