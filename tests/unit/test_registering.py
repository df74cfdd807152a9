"""Nothing minted is sent before it is kept, however many trials mint side by side."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from monitor.clock import SystemClock
from monitor.engines.base import Discovery, Reply
from monitor.engines.scripted import answered
from monitor.errors import StoreError
from monitor.live import LiveTarget
from monitor.model import Marker, Request, Response, Usage
from monitor.pipeline import Pipeline, Ran
from monitor.planning import plan_pass, profile_choices
from monitor.probes.base import TrialPlan
from tests.builders import Bench
from tests.contract.test_probes import VIEW
from tests.unit.test_passes import Told

CHOICES = profile_choices("quick", ("canary", "pair", "burst", "turns", "tenant", "boundary"))
PLANS: Sequence[TrialPlan] = plan_pass(VIEW, CHOICES, rng=Random(3)).trials


@dataclass
class Keeping:
    """A store of markers: what it has, and whether it takes any more."""

    kept: set[str] = field(default_factory=set)
    saves: list[Sequence[Marker]] = field(default_factory=list)
    refuses: bool = False
    entered: threading.Event = field(default_factory=threading.Event)
    gate: threading.Event | None = None

    def save(self, markers: Sequence[Marker]) -> None:
        if not markers:
            return
        self.entered.set()
        if self.gate is not None:
            assert self.gate.wait(20)
        if self.refuses:
            raise StoreError("no room")
        self.saves.append(markers)
        self.kept.update(marker.text for marker in markers)


class Watching:
    """An engine that looks at every prompt, and every text it is to count, for unkept markers."""

    def __init__(self, bench: Bench, keeping: Keeping) -> None:
        self.bench, self.keeping = bench, keeping
        self.asked = 0
        self.unkept: list[str] = []

    def look(self, text: str) -> None:
        entries = vars(self.bench.registry)["_entries"].values()
        texts = ("-".join(entry.groups) for entry in entries)
        self.unkept += [each for each in texts if each in text and each not in self.keeping.kept]

    async def ask(self, request: Request, **_: Any) -> Reply:
        self.asked += 1
        self.look(request.text())
        await asyncio.sleep(0)
        usage = Usage(input_tokens=60, output_tokens=3)
        said = request.messages[-1].content
        return answered(Response(text=said, finish_reason="stop", response_id="r", usage=usage))

    async def count_tokens(self, text: str, **_: Any) -> int | None:
        self.look(text)
        return len(text) // 4

    async def discover(self, **_: Any) -> Discovery:
        return Discovery()


class Scene:
    def __init__(self, **keeping: Any) -> None:
        self.bench, self.keeping = Bench(), Keeping(**keeping)
        self.engine = Watching(self.bench, self.keeping)
        self.pipeline = Pipeline(
            clock=SystemClock(),
            minter=self.bench.minter,
            registry=self.bench.registry,
            markers=self.keeping,  # type: ignore[arg-type]
            golden={},
            findings=SimpleNamespace(record=lambda verdict, confirms, examines: None),  # type: ignore[arg-type]
            sinks=[Told()],
        )
        self.live = LiveTarget(
            view=VIEW,
            engine=self.engine,  # type: ignore[arg-type]
            credentials={},
            timeout_seconds=5.0,
            tolerance=0.1,
        )

    async def run(self, plan: TrialPlan, seed: int = 1) -> Ran:
        return await self.pipeline.run(self.live, plan, seed)


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: f"{plan.probe}-{plan.stratum}")
def test_every_probe_sends_only_what_is_kept(plan: TrialPlan) -> None:
    scene = Scene()
    ran = asyncio.run(scene.run(plan))
    assert ran.trial.broken == ""
    assert scene.engine.asked == len(ran.trial.exchanges)
    assert scene.keeping.kept
    assert scene.engine.unkept == []
    # No more links than times something new was to be sent.
    assert len(scene.keeping.saves) <= scene.engine.asked


def test_trials_side_by_side_wait_for_each_others_markers() -> None:
    scene = Scene()

    async def side_by_side() -> list[Ran]:
        return await asyncio.gather(*(scene.run(plan, n) for n, plan in enumerate(PLANS * 3)))

    rans = asyncio.run(side_by_side())
    assert not any(ran.trial.broken for ran in rans)
    assert scene.engine.unkept == []
    minted = [marker.id for markers in scene.keeping.saves for marker in markers]
    assert len(minted) == len(set(minted)) == len(scene.keeping.kept)


def test_whoever_comes_while_another_saves_its_markers_waits_too() -> None:
    gate = threading.Event()
    scene = Scene(gate=gate)
    for _ in range(2):
        scene.bench.mint()
    threads = [threading.Thread(target=scene.pipeline.register) for _ in range(2)]
    threads[0].start()
    assert scene.keeping.entered.wait(20)
    threads[1].start()
    # Nothing is left to save, and yet nothing is kept.
    threads[1].join(0.2)
    assert threads[1].is_alive()
    gate.set()
    for thread in threads:
        thread.join(20)
    assert [len(markers) for markers in scene.keeping.saves] == [2]


def test_what_cannot_be_kept_is_not_sent_and_is_kept_with_the_next() -> None:
    scene = Scene(refuses=True)
    broken = asyncio.run(scene.run(PLANS[0]))
    assert (broken.trial.broken, scene.engine.asked) == ("StoreError", 0)
    scene.keeping.refuses = False
    again = asyncio.run(scene.run(PLANS[0], 2))
    assert again.trial.broken == ""
    assert scene.engine.unkept == []
    owners = [marker.owner.trial for markers in scene.keeping.saves for marker in markers]
    assert owners[0] == broken.trial.id
    assert set(owners) == {broken.trial.id, again.trial.id}
