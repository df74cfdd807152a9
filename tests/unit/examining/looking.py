"""An installation whose target says what a test wants, and a finding of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from monitor.app import Installation
from monitor.canaries import Minter
from monitor.engines.base import Reply
from monitor.examining import ExaminationStep
from monitor.findings import Finding
from monitor.model import Owner, Request, Response, Timing, Usage
from monitor.passes import Done
from monitor.planning import plan_pass, profile_choices
from monitor.probes.base import TrialPlan
from tests.unit.daemon.installed import FakeEngine, ManualClock, config_of, installed


class SpeakingEngine(FakeEngine):
    """Says what it is told to, in whole answers with plausible numbers."""

    def __init__(self, clock: ManualClock, said: Callable[[Request], str]) -> None:
        super().__init__(clock)
        self.said = said

    async def ask(
        self, request: Request, *, credential: str | None, timeout_seconds: float
    ) -> Reply:
        self.asked.append(request)
        if self.failure is not None:
            self.asked.pop()
            return await super().ask(
                request, credential=credential, timeout_seconds=timeout_seconds
            )
        text = self.said(request)
        usage = Usage(input_tokens=len(request.text()) // 4, output_tokens=min(60, len(text) // 4))
        answer = Response(
            text=text,
            finish_reason="stop",
            response_id=f"r-{len(self.asked)}",
            usage=usage,
            model="glm-5.3",
        )
        timing = Timing(started_at=self._clock.now(), total_seconds=0.5, first_token_seconds=0.2)
        return Reply(response=answer, failure=None, http_status=200, request_id=None, timing=timing)


class Scene:
    """One target, its engine, and what is needed to make it leak."""

    def __init__(self, installation: Installation, clock: ManualClock) -> None:
        self.engine = SpeakingEngine(clock, lambda request: "hello")
        live = installation.targets["glm"]
        self.installation = replace(
            installation, targets={"glm": replace(live, engine=self.engine)}
        )
        self.steps: list[ExaminationStep] = []
        self._minter = Minter(
            installation.store.key, installation.registry, random_bits=Random(3).getrandbits
        )
        self._clock = clock

    def leaks(self, request: Request) -> str:
        """Return another tenant's marker, a fresh one each time."""
        owner = Owner(
            target="glm",
            tenant="stranger",
            isolation="stranger",
            trial="elsewhere",
            exchange=0,
            epoch="2026-11-02",
            stratum_key="other/short",
        )
        return f"Your code is {self._minter.mint(owner, self._clock.now(), kind='nonce').text}."

    async def finding(self, probe: str = "canary", number: int = 0) -> Finding:
        """Let the target leak to one trial of a probe, and return the finding."""
        return await self.found(self.leaks, self.plans("quick", probe)[number])

    def plans(self, profile: str, probe: str) -> Sequence[TrialPlan]:
        """Return what a profile asks with a probe."""
        view = self.installation.targets["glm"].view
        return plan_pass(view, profile_choices(profile, (probe,)), rng=Random(1)).trials

    async def found(self, said: Callable[[Request], str], plan: TrialPlan) -> Finding:
        """Let the target say so to one trial, and return the finding."""
        self.engine.said = said
        live = self.installation.targets["glm"]
        step = await self.installation.runner.step(live, plan, seed=7)
        assert isinstance(step, Done)
        assert step.verdict.finding
        self.installation.store.flush()
        self.engine.asked.clear()
        found = self.installation.findings.find(step.verdict.finding)
        assert found is not None
        return found


Test = Callable[[Scene], Coroutine[Any, Any, None]]


def looking(
    folder: Path, test: Test, target: dict[str, Any] | None = None, **settings: Any
) -> None:
    """Run a test over a fresh installation."""
    clock = ManualClock()
    with installed(config_of(folder, target, **settings), clock) as (installation, _, _):
        asyncio.run(test(Scene(installation, clock)))
