"""Nodes in the daemon: read beside the schedule, shown to who has the token, and loud if broken."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from monitor.app import Installation
from monitor.conventions import SkipReason
from monitor.daemon.run import reading_nodes
from monitor.daemon.server import make_server
from monitor.daemon.watch import Watch
from monitor.errors import UsageError
from monitor.nodes.record import KvUse, Live
from monitor.nodes.survey import Survey
from monitor.nodewatch import NodeWatch
from monitor.probes.base import BudgetKind
from monitor.reports.nodes import NodesReport
from tests.unit.daemon.installed import ManualClock, config_of, installed, schedule_of
from tests.unit.nodewatch.building import RULES, failing, judged

TOKEN = "token-of-this-test"  # noqa: S105
NODE = {"name": "prefill-0", "url": "http://127.0.0.1:9"}


class OneSurvey:
    """Says the same again and again, or fails as no node can make it fail."""

    rules = RULES

    def __init__(self, *verdicts: Any, crashes: bool = False) -> None:
        self._verdicts = verdicts
        self._crashes = crashes
        self.asked = 0

    async def survey(self) -> Survey:
        self.asked += 1
        if self._crashes:
            raise RuntimeError("a bug")
        await asyncio.sleep(0)
        return Survey(verdicts=self._verdicts)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[tuple[Installation, Watch]]:
    with installed(config_of(tmp_path, {"nodes": [NODE]}), ManualClock(), watched=True) as found:
        installation, watch, _ = found
        yield installation, watch


def reading(installation: Installation, survey: OneSurvey) -> Installation:
    """Return the installation with nodes that say what the survey says."""

    async def file(verdict: object) -> None:
        """Take it and do nothing."""

    watch = NodeWatch(
        installation.config,
        cast("Any", survey),
        installation.store.writer,
        installation.clock,
        file,
    )
    return replace(installation, nodes=watch)


async def said(installation: Installation, watch: Watch, **headers: str) -> httpx.Response:
    """Ask the daemon's page of nodes."""
    schedule = schedule_of(installation, watch)
    app = make_server(installation, schedule, TOKEN, asyncio.Event())
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:1") as client:
        return await client.get("/api/nodes", headers=headers)


def test_a_reading_that_crashes_ends_the_daemon_loudly(
    opened: tuple[Installation, Watch],
) -> None:
    installation, watch = opened

    async def run() -> None:
        async with reading_nodes(reading(installation, OneSurvey(crashes=True)), watch):
            await asyncio.Event().wait()

    with pytest.raises(RuntimeError, match="a bug"):
        asyncio.run(run())


def test_what_ends_the_daemon_ends_the_reading_and_is_raised_as_it_is(
    opened: tuple[Installation, Watch],
) -> None:
    installation, watch = opened
    survey = OneSurvey(failing())

    async def run() -> None:
        async with reading_nodes(reading(installation, survey), watch):
            while not survey.asked:  # noqa: ASYNC110 - the fake clock has no event
                await asyncio.sleep(0)
            raise UsageError("the port is taken")

    with pytest.raises(UsageError, match="the port is taken"):
        asyncio.run(run())


def test_a_full_pool_holds_back_what_is_asked(opened: tuple[Installation, Watch]) -> None:
    installation, watch = opened
    full = judged(live=Live(kv=KvUse(usage_ratio=0.9)))
    backoff = watch.backoff("glm")

    async def run() -> None:
        survey = OneSurvey(full)
        async with reading_nodes(reading(installation, survey), watch):
            while not backoff.pressure:  # noqa: ASYNC110
                await asyncio.sleep(0)

    asyncio.run(run())
    now = installation.clock.monotonic()
    assert backoff.holds(BudgetKind.ORDINARY, now) is SkipReason.PRESSURE
    assert backoff.holds(BudgetKind.BOUNDARY, now) is None


def test_nodes_are_shown_to_who_has_the_token(opened: tuple[Installation, Watch]) -> None:
    installation, watch = opened
    read = reading(installation, OneSurvey(failing()))
    headers = {"authorization": f"Bearer {TOKEN}"}

    async def run() -> None:
        denied = await said(read, watch)
        assert denied.status_code == 401
        assert "api.token in storage.path" in denied.json()["error"]
        early = await said(read, watch, **headers)
        assert (early.status_code, early.json()["error"]) == (503, "the nodes were not read yet")
        assert read.nodes is not None
        await read.nodes.read(lambda target, pressure: None)
        told = await said(read, watch, **headers)
        report = NodesReport.model_validate(told.json())
        assert (report.read_by, report.exit_code) == ("daemon", 1)
        assert [node.node for node in report.nodes] == ["prefill-0"]
        assert {signal.kind for signal in report.signals} >= {"pool_overfull"}
        assert report.configuration_hash == read.config.hash
        without = await said(replace(read, nodes=None), watch, **headers)
        assert without.status_code == 404

    asyncio.run(run())
