"""The loop over nodes: what is kept, what is told and when, and how full it says they are."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from monitor.conventions.nodes import LiveKind, LiveState
from monitor.errors import StoreError
from monitor.model import Outcome, Verdict
from monitor.nodes.record import Conformity, KvUse, NodeCounter, NodeVerdict
from monitor.nodes.survey import Survey
from monitor.nodewatch.flow import NodeWatch
from monitor.store.rows import NodeSnapshotRow
from tests.fakes.node_pages import Page, document
from tests.fakes.node_servers import NodeServer, serving
from tests.unit.daemon.installed import ManualClock, config_of, installed
from tests.unit.nodes.readers.shapes import info, listing, sglang_metrics
from tests.unit.nodes.readings import of_kind
from tests.unit.nodewatch.building import RULES, at, failing, gone, judged

NODE = {"name": "prefill-0", "url": "http://127.0.0.1:9"}


class Scripted:
    """Surveys that say what they are told, each at the clock's instant, then end the loop."""

    rules = RULES

    def __init__(self, clock: ManualClock, *surveys: Sequence[NodeVerdict]) -> None:
        self._clock = clock
        self._left = list(surveys)
        self.asked: list[float] = []

    async def survey(self) -> Survey:
        self.asked.append(self._clock.monotonic())
        if not self._left:
            raise asyncio.CancelledError
        now = self._clock.now()
        return Survey(verdicts=tuple(at(each, now) for each in self._left.pop(0)))


class Kept:
    """A writer and a sink that remember; either may be out of room."""

    def __init__(self) -> None:
        self.rows: list[NodeSnapshotRow] = []
        self.told: list[Verdict] = []
        self.full = self.refusing = False
        self.pressures: list[tuple[str, float]] = []

    def put(self, rows: list[NodeSnapshotRow], *, droppable: bool) -> bool:
        assert droppable
        if not self.full:
            self.rows += rows
        return not self.full

    async def tell(self, verdict: Verdict) -> None:
        if self.refusing:
            raise StoreError("no room")
        self.told.append(verdict)

    def press(self, target: str, pressure: float) -> None:
        self.pressures.append((target, pressure))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def kept() -> Kept:
    return Kept()


def run(
    folder: Path, clock: ManualClock, kept: Kept, *surveys: Sequence[NodeVerdict], **settings: Any
) -> tuple[NodeWatch, Scripted]:
    """Run the loop over these surveys."""
    config = config_of(folder, {"nodes": [NODE]}, **settings)
    scripted = Scripted(clock, *surveys)
    watch = NodeWatch(config, scripted, kept, clock, kept.tell)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(watch.run(kept.press))
    return watch, scripted


def test_every_reading_is_kept_and_each_state_told_once(
    tmp_path: Path, clock: ManualClock, kept: Kept
) -> None:
    watch, scripted = run(tmp_path, clock, kept, *[[failing(), judged(node="d")]] * 5)
    assert len(kept.rows) == 10
    assert [verdict.outcome for verdict in kept.told] == [Outcome.BAD, Outcome.GOOD]
    assert {verdict.model for verdict in kept.told} == {"glm-5.3"}
    gaps = {later - before for before, later in pairwise(scripted.asked)}
    assert gaps == {30.0}
    assert watch.now is not None
    assert len(watch.now.survey.verdicts) == 2


def test_readings_are_as_far_apart_as_configured(
    tmp_path: Path, clock: ManualClock, kept: Kept
) -> None:
    _, scripted = run(tmp_path, clock, kept, [], [], nodes={"interval": "2m"})
    assert scripted.asked[1] - scripted.asked[0] == 120.0


def test_a_change_is_told_at_once_and_a_state_again_after_an_hour(
    tmp_path: Path, clock: ManualClock, kept: Kept
) -> None:
    surveys = [[judged()]] * 3 + [[failing()]] * 121 + [[gone(failing())]]
    run(tmp_path, clock, kept, *surveys)
    outcomes = [verdict.outcome for verdict in kept.told]
    assert outcomes == [Outcome.GOOD, Outcome.BAD, Outcome.BAD, Outcome.INVALID]
    assert kept.told[2].decided_at - kept.told[1].decided_at == timedelta(hours=1)


def test_a_verdict_that_cannot_be_kept_is_told_after_a_later_reading(
    tmp_path: Path, clock: ManualClock, kept: Kept, caplog: pytest.LogCaptureFixture
) -> None:
    config = config_of(tmp_path, {"nodes": [NODE]})
    watch = NodeWatch(config, Scripted(clock, *[[failing()]] * 3), kept, clock, kept.tell)
    kept.refusing = True
    asyncio.run(watch.read(kept.press))
    assert "cannot be kept" in caplog.text
    kept.refusing = False
    asyncio.run(watch.read(kept.press))
    asyncio.run(watch.read(kept.press))
    assert len(kept.told) == 1


def test_two_that_read_at_once_do_so_one_after_the_other(
    tmp_path: Path, clock: ManualClock, kept: Kept
) -> None:
    config = config_of(tmp_path, {"nodes": [NODE]})
    watch = NodeWatch(config, Scripted(clock, *[[failing()]] * 2), kept, clock, kept.tell)

    async def both() -> None:
        await asyncio.gather(watch.read(kept.press), watch.read(kept.press))

    asyncio.run(both())
    assert len(kept.told) == 1
    assert len(kept.rows) == 2


def test_a_reading_that_is_old_is_made_anew_before_it_is_spoken_of(
    tmp_path: Path, clock: ManualClock, kept: Kept
) -> None:
    config = config_of(tmp_path, {"nodes": [NODE]})
    scripted = Scripted(clock, [judged()], [failing()])
    watch = NodeWatch(config, scripted, kept, clock, kept.tell)

    async def both() -> list[Conformity]:
        first = await watch.recent()
        await clock.sleep(90.0)
        still = await watch.recent()
        await clock.sleep(1.0)
        anew = await watch.recent()
        return [each.survey.verdicts[0].conformity for each in (first, still, anew)]

    assert asyncio.run(both()) == [Conformity.PASS, Conformity.PASS, Conformity.FAIL]
    assert len(scripted.asked) == 2


def test_rows_that_there_is_no_room_for_hold_up_nothing(
    tmp_path: Path, clock: ManualClock, kept: Kept
) -> None:
    kept.full = True
    run(tmp_path, clock, kept, [failing()])
    assert kept.rows == []
    assert len(kept.told) == 1


def test_pressure_is_told_after_each_reading_and_gone_with_the_node(
    tmp_path: Path, clock: ManualClock, kept: Kept
) -> None:
    full = judged()
    live = replace(full.snapshot.live, kv=KvUse(usage_ratio=0.97))
    full = replace(full, snapshot=replace(full.snapshot, live=live))
    watch, _ = run(tmp_path, clock, kept, [full], [gone(full)])
    assert kept.pressures == [("glm", 0.97), ("glm", 0.0)]
    assert watch.now is not None
    assert watch.now.pressures == {}
    assert list(watch.now.answered_at) == [("glm", "prefill-0")]


def test_a_live_signal_is_logged_when_it_begins_and_when_it_ends(
    tmp_path: Path, clock: ManualClock, kept: Kept, caplog: pytest.LogCaptureFixture
) -> None:
    def counting(number: int) -> NodeVerdict:
        node = judged()
        live = replace(node.snapshot.live, counters={NodeCounter.NOT_A_NUMBER: number})
        return replace(node, snapshot=replace(node.snapshot, live=live))

    with caplog.at_level(logging.INFO, "monitor.nodewatch.flow"):
        run(
            tmp_path,
            clock,
            kept,
            *[[counting(each)] for each in (0, 0, 2, 2)],
            *[[counting(2)]] * 60,
        )
    said = [record.getMessage() for record in caplog.records]
    assert [each.split(":")[0] for each in said] == [
        "live signal not_a_number of glm prefill-0",
        "live signal not_a_number of glm prefill-0 fails no more",
    ]


@pytest.mark.parametrize(("draft", "fails"), [({"lowest_length": 2.5}, True), ({}, False)])
def test_the_band_of_a_draft_is_that_of_the_configuration(
    tmp_path: Path, clock: ManualClock, kept: Kept, draft: dict[str, float], fails: bool
) -> None:
    def drafting(number: int) -> NodeVerdict:
        node = judged()
        counts = {NodeCounter.GENERATED_TOKENS: 4000.0 * number}
        live = replace(node.snapshot.live, accept_length=2.0, accept_ratio=0.5, counters=counts)
        return replace(node, snapshot=replace(node.snapshot, live=live))

    config = config_of(tmp_path, {"nodes": [NODE], "draft": draft})
    scripted = Scripted(clock, *[[drafting(each)] for each in range(20)])
    watch = NodeWatch(config, scripted, kept, clock, kept.tell)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(watch.run(kept.press))
    assert watch.now is not None
    signal = of_kind(watch.now.signals, LiveKind.ACCEPTANCE_OUT_OF_BAND)
    assert signal is not None
    assert (signal.state is LiveState.FAIL) is fails


@pytest.fixture
def node() -> Iterator[NodeServer]:
    """An unsafe prefill node that answers."""
    metrics = sglang_metrics(engine_type="prefill").replace(
        "token_usage{", "num_transfer_failed_reqs_total{"
    )
    pages = {
        "GET /server_info": document(info(version="0.5.19", disaggregation_mode="prefill")),
        "GET /v1/models": document(listing()),
        "GET /metrics": Page(body=metrics.encode(), kind="text/plain"),
    }
    server = NodeServer(pages)
    with serving(server):
        yield server


def test_a_node_that_is_read_opens_one_finding_and_fills_the_tables(
    tmp_path: Path, clock: ManualClock, node: NodeServer
) -> None:
    config = config_of(tmp_path, {"nodes": [{"name": "prefill-0", "url": node.url}]})
    with installed(config, clock, watched=True) as (installation, watch, engines):
        assert installation.nodes is not None

        def press(target: str, pressure: float) -> None:
            watch.backoff(target).pressure = pressure

        for _ in range(3):
            asyncio.run(installation.nodes.read(press))
            clock.move(30)
        [finding] = installation.findings.list_open("glm")
        assert (finding.shape, finding.stratum, finding.count) == ("node", "prefill-0", 1)
        assert finding.urgent
        assert engines["glm"].asked == []
        shown = installation.metrics.get_sample_value
        of = {"env": config.environment, "target": "glm", "node": "prefill-0"}
        assert shown("davylamp_node_conforms", of) == 0
        open_now = of | {"class": "UNSAFE_NODE", "state": "confirmed", "severity": "critical"}
        del open_now["node"]
        assert shown("davylamp_findings_open", open_now | {"route": "alertmanager"}) == 1
        outcomes = {"env": config.environment, "target": "glm", "model": "glm-5.3"}
        unsafe = outcomes | {"outcome": "bad", "class": "UNSAFE_NODE"}
        assert shown("davylamp_verdicts_total", unsafe) == 1
    assert all(what.startswith("GET ") for what in node.asked)


def test_nothing_is_read_where_no_node_is_known(tmp_path: Path, clock: ManualClock) -> None:
    with installed(config_of(tmp_path), clock, watched=True) as (installation, _, _):
        assert installation.nodes is None
    with installed(config_of(tmp_path, {"nodes": [NODE]}), clock) as (unwatched, _, _):
        assert unwatched.nodes is None
