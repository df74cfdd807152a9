"""Whatever happens and whenever the process dies, incidents end up as findings stand."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.config import Config
from monitor.conventions.pages import PageAction, PageOutcome, Route
from monitor.errors import UsageError
from monitor.findings import Finding, Findings, FindingState, Rotation, Turn
from monitor.model import VerdictClass
from monitor.paging.evidence import Evidence
from monitor.paging.message import Message
from monitor.paging.outbox import Incident, Outbox, open_outbox
from monitor.paging.pager import Pager, Told
from monitor.paging.policy import PagePolicy
from monitor.paging.receivers import Answer
from monitor.paging.reconcile import decision_of, due, told_of
from tests.unit.daemon.installed import ManualClock, config_of
from tests.unit.paging.paged import Rows
from tests.unit.paging.test_policy import FINDINGS, a_finding
from tests.unit.store.samples import NOW
from tests.unit.test_findings import MemoryFindings, bad

PAGED = (VerdictClass.LEAK, VerdictClass.CROSSED, VerdictClass.CORRUPT)
POLICY = PagePolicy(routes={each.label: Route.DIRECT for each in PAGED})
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(PAGED), st.sampled_from("ab"), st.sampled_from("xy")),
        st.sampled_from(["confirm", "resolve", "dismiss", "reopen", "drained", "returned"]),
        st.sampled_from(["reconcile", "reconcile", "deliver", "down", "up", "restart"]),
    ),
    max_size=25,
)


@dataclass
class Recorder:
    """A receiver in memory that keeps what it took."""

    name: str = "recorder"
    down: bool = False
    taken: list[tuple[str, str]] = field(default_factory=list)

    def body(self, action: PageAction, message: Message, event: str, at: datetime) -> bytes:
        return f"{message.finding} {action}".encode()

    def trial(self, action: PageAction, dedup_key: str, environment: str, at: datetime) -> bytes:
        return b""

    async def send(self, body: bytes) -> Answer:
        if self.down:
            return Answer(outcome=PageOutcome.FAILED, status=503)
        finding, _, action = body.decode().partition(" ")
        self.taken.append((finding, action))
        return Answer(outcome=PageOutcome.ACCEPTED, status=202)

    async def aclose(self) -> None:
        pass


@dataclass
class World:
    """Findings, an outbox on disk and a receiver, of which the process may die at any time."""

    config: Config
    folder: Path
    clock: ManualClock = field(default_factory=ManualClock)
    kept: MemoryFindings = field(default_factory=MemoryFindings)
    receiver: Recorder = field(default_factory=Recorder)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self.findings = Findings(self.kept, self.clock.now())
        self.outbox: Outbox = open_outbox(self.folder, self.clock.now())
        told = Told(
            config=self.config,
            policy=POLICY,
            findings=self.findings,
            closed=self.kept.fetch,
            evidence=lambda _: Evidence(),
            ledger=Rows(),
            outbox=self.outbox,
            receivers=[self.receiver],
        )
        self.pager = Pager(told, self.clock, lambda *_: None)

    def step(self, step: str | tuple[VerdictClass, str, str]) -> None:
        self.clock.move(1)
        if isinstance(step, tuple):
            self.findings.record(bad(step[0], step[1], step[2]))
        elif step in ("confirm", "resolve", "dismiss"):
            for finding in self.findings.list_open()[:1]:
                getattr(self.findings, step)(finding.id, "ann", "why", self.clock.now())
        elif step == "reopen":
            self._reopen()
        elif step in list(Rotation):
            self._rotate(Rotation(step))
        elif step == "reconcile":
            self.pager.reconcile()
        elif step == "deliver":
            asyncio.run(self.pager.deliver())
        elif step == "restart":
            self.outbox.close()
            self.restart()
        else:
            self.receiver.down = step == "down"

    def _reopen(self) -> None:
        closed = [each for each in self.kept.latest().values() if not each.is_open]
        for finding in closed[:1]:
            try:
                self.findings.reopen(finding.id, "ann", "why", self.clock.now())
            except UsageError:
                return  # another one of its fault is open

    def _rotate(self, rotation: Rotation) -> None:
        now = self.clock.now()
        for finding in self.findings.list_open()[:1]:
            if finding.is_out_of_rotation is (rotation is Rotation.RETURNED):
                turn = Turn(rotation=rotation, who="ann", told_at=now)
                self.findings.rotate(finding.id, turn)

    def settle(self) -> None:
        """Let everything be said and taken."""
        self.receiver.down = False
        self.pager.reconcile()
        self.clock.move(3600)
        asyncio.run(self.pager.deliver())


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    return config_of(tmp_path_factory.mktemp("plain"))


@given(STEPS)
@settings(max_examples=40, deadline=None)
def test_in_the_end_what_is_open_is_open_and_every_history_makes_sense(
    config: Config, steps: list[str | tuple[VerdictClass, str, str]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(config=config, folder=Path(folder))
        for step in steps:
            world.step(step)
        world.settle()
        opened: dict[str, bool] = {}
        for finding, action in world.receiver.taken:
            if action != "trigger":
                assert opened.get(finding), f"{action} of what is not open"
            opened[finding] = action != "resolve"
        standing = {finding for finding, is_open in opened.items() if is_open}
        assert standing == {finding.id for finding in world.findings.list_open()}
        before = len(world.receiver.taken)
        world.step("restart")
        world.settle()
        assert len(world.receiver.taken) == before, "what was said is not said again"
        world.outbox.close()


def said_of(finding_id: str, told: str, decision: str = "") -> Incident:
    return Incident(
        receiver="r", finding=finding_id, target="glm", dedup_key="k", told=told, decision=decision
    )


@given(FINDINGS, st.booleans(), st.booleans())
def test_nobody_is_told_first_of_what_is_held_closed_or_not_direct(
    finding: Finding, direct: bool, held: bool
) -> None:
    first = due(finding, None, direct=direct, held=held)
    assert first == ((PageAction.TRIGGER,) if direct and not held else ())
    same = said_of(finding.id, told_of(finding), decision_of(finding))
    again = due(finding, same, direct=direct, held=held)
    assert again == (() if finding.is_open else (PageAction.RESOLVE,))


def test_what_was_told_is_resolved_whatever_routes_and_windows_are_by_then() -> None:
    closed = a_finding(state=FindingState.RESOLVED)
    assert due(closed, said_of(closed.id, "x"), direct=False, held=True) == (PageAction.RESOLVE,)


def test_told_is_anything_but_the_count() -> None:
    finding = a_finding(first_seen=NOW)
    assert told_of(a_finding(count=9)) == told_of(finding)
    changes = [{"urgent": True}, {"children": ("s2",)}, {"reproduced": 1}]
    for change in changes:
        assert told_of(a_finding(**change)) != told_of(finding)
    assert told_of(a_finding(VerdictClass.CROSSED)) != told_of(finding)
