"""What a bad verdict leads to: the same prompts again, at most twice, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random
from types import SimpleNamespace
from typing import Any

from monitor.clock import SystemClock
from monitor.engines.scripted import ScriptedEngine, answered
from monitor.findings import Findings, FindingState
from monitor.live import LiveTarget
from monitor.measuring import Measuring
from monitor.model import (
    Entity,
    Measurement,
    Outcome,
    Request,
    Response,
    Usage,
    Verdict,
    VerdictClass,
)
from monitor.passes import Done, PassRunner
from monitor.pipeline import Pipeline
from monitor.planning import plan_pass, profile_choices
from monitor.scoring import Asked, Scorer
from tests.builders import Bench
from tests.contract.test_probes import VIEW
from tests.unit.store.samples import NOW
from tests.unit.test_findings import MemoryFindings, bad, suspect
from tests.unit.test_passes import Purse, Told

Said = Callable[[Request, Bench], str]


class Scene:
    """A pass over a scripted target, with real findings."""

    def __init__(
        self,
        said: Said,
        *,
        trials: int = 99,
        tolerance: float = 0.1,
        scorer: Scorer | None = None,
        sink: Told | None = None,
    ) -> None:
        self.bench, self.told, self.purse = Bench(), sink or Told(), Purse(trials)
        self.asked: list[Request] = []
        self.findings = Findings(MemoryFindings(), NOW)
        self.replies = 0

        def reply(request: Request) -> Any:
            self.asked.append(request)
            self.replies += 1
            text = said(request, self.bench)
            tokens = len(request.text()) // 4
            usage = Usage(input_tokens=tokens, output_tokens=min(70, len(text) // 4))
            return answered(
                Response(
                    text=text, finish_reason="stop", response_id=f"r{self.replies}", usage=usage
                )
            )

        pipeline = Pipeline(
            clock=SystemClock(),
            minter=self.bench.minter,
            registry=self.bench.registry,
            markers=SimpleNamespace(save=lambda markers: None),  # type: ignore[arg-type]
            golden={},
            findings=self.findings,
            sinks=[self.told],
            measuring=Measuring(scorer) if scorer else None,
        )
        self.runner = PassRunner(
            clock=SystemClock(),
            pipeline=pipeline,
            budget=self.purse,  # type: ignore[arg-type]
            findings=self.findings,
            on_cost=lambda target, usd: None,
        )
        self.live = LiveTarget(
            view=VIEW,
            engine=ScriptedEngine(reply),
            credentials={},
            timeout_seconds=5.0,
            tolerance=tolerance,
        )

    def step(self, probe: str = "canary", seed: int = 7) -> Done:
        return asyncio.run(self.step_async(probe, seed))

    async def step_async(self, probe: str = "canary", seed: int = 7) -> Done:
        plan = plan_pass(VIEW, profile_choices("quick", (probe,)), rng=Random(1)).trials[0]
        step = await self.runner.step(self.live, plan, seed=seed)
        assert isinstance(step, Done)
        return step


def leaks(request: Request, bench: Bench) -> str:
    """Answer with a marker of another tenant that is nowhere in the prompt."""
    return f"Your code is {bench.mint('stranger', trial='elsewhere')}."


def test_a_leak_is_confirmed_twice_with_the_same_prompts_and_then_held_back() -> None:
    scene = Scene(leaks)
    done = scene.step()
    assert [each.verdict.verdict_class for each in (done, *done.confirmations)] == [
        VerdictClass.LEAK
    ] * 3
    first, same, salted = (request.messages[0].content for request in scene.asked)
    assert same == first
    assert salted != first
    assert salted.endswith(first)
    assert scene.findings.frozen_shapes("glm") == {"canary": done.verdict.finding}


def test_confirmations_raise_the_finding_and_count_in_no_stream() -> None:
    scene = Scene(leaks)
    done = scene.step()
    [finding] = scene.findings.list_open("glm")
    assert (finding.count, finding.confirmations, finding.reproduced) == (1, 2, 2)
    assert [verdict.scheduled for verdict in scene.told.verdicts] == [True, False, False]
    assert {each.trial.confirms for each in done.confirmations} == {finding.id}
    assert {each.trial.replays for each in done.confirmations} == {done.trial.id}


def test_a_fault_that_does_not_come_again_stays_as_it_was_found() -> None:
    answers = iter([True, False, False])

    def once(request: Request, bench: Bench) -> str:
        return leaks(request, bench) if next(answers) else request.messages[-1].content

    scene = Scene(once)
    done = scene.step()
    assert done.verdict.verdict_class is VerdictClass.LEAK
    [finding] = scene.findings.list_open("glm")
    assert finding.verdict_class is VerdictClass.LEAK
    assert finding.state is FindingState.CONFIRMED
    assert finding.reproduced == 0


def test_a_wrong_answer_alone_is_not_asked_again() -> None:
    scene = Scene(lambda request, bench: "I do not know that one.")
    done = scene.step()
    assert done.verdict.verdict_class is VerdictClass.WRONG
    assert done.confirmations == ()
    assert len(scene.asked) == 1


KEY = "sk-q3w9z1r8t2y7u4x6o5p0"


class FindsTheKey:
    """An instrument that sees one key wherever it stands."""

    codes = frozenset({"ENTITY"})

    async def measure(self, asked: Sequence[Asked]) -> list[Measurement]:
        places = [each.written.find(KEY) for each in asked]
        found = [Entity(kind="API_KEY", start=p, end=p + len(KEY)) for p in places]
        return [Measurement(entities=(entity,)) for entity in found]

    def close(self) -> None:
        """Nothing runs."""


def test_a_secret_in_a_wrong_answer_is_reviewed_and_asked_for_again_and_never_pages() -> None:
    scene = Scene(lambda request, bench: f"The password is {KEY}.", scorer=FindsTheKey())
    done = scene.step()
    assert done.verdict.verdict_class is VerdictClass.WRONG
    assert len(done.confirmations) == 2
    [finding] = scene.findings.list_open("glm")
    assert (finding.state, finding.opened_class) == (
        FindingState.NEEDS_REVIEW,
        VerdictClass.SUSPECT,
    )
    assert finding.reproduced == 2
    assert KEY not in repr(scene.told.verdicts)
    assert len(scene.step().confirmations) == 0


def test_the_budget_pays_for_confirmations_too() -> None:
    scene = Scene(leaks, trials=2)
    assert len(scene.step().confirmations) == 1
    [finding] = scene.findings.list_open("glm")
    assert finding.confirmations == 1


def test_another_members_marker_is_foreign_again_when_the_prompts_are_replayed() -> None:
    """In the replay it belongs to an exchange of the replayed trial, never to an old prompt."""
    last: list[str] = []

    def crossed(request: Request, bench: Bench) -> str:
        text = request.messages[-1].content
        last.append(text)
        return last[-2] if len(last) % 2 == 0 else text

    scene = Scene(crossed)
    done = scene.step("burst")
    classes = {each.verdict.verdict_class for each in (done, *done.confirmations)}
    assert classes <= {VerdictClass.LEAK, VerdictClass.CROSSED}
    assert VerdictClass.NONE not in classes


def test_findings_in_review_share_two_confirmations_a_stratum_and_day() -> None:
    known = Findings(MemoryFindings(), NOW)
    first = known.record(suspect())
    assert first is not None
    assert [known.claim_confirmation(first.id, NOW) for _ in range(3)] == [True, True, False]
    known.dismiss(first.id, "ann", "a test", NOW)
    second = known.record(suspect())
    assert second is not None
    assert second.id != first.id
    assert not known.claim_confirmation(second.id, NOW)
    tomorrow = known.record(
        replace(suspect(stratum="s2"), decided_at=NOW + timedelta(days=1, hours=1))
    )
    assert tomorrow is not None
    assert known.claim_confirmation(tomorrow.id, NOW)


def test_a_confirmation_of_another_class_raises_the_finding_it_confirms() -> None:
    known = Findings(MemoryFindings(), NOW)
    opened = known.record(bad(VerdictClass.CONTRACT))
    assert opened is not None
    again: Verdict = bad(VerdictClass.LEAK)
    raised = known.record(again, confirms=opened.id)
    assert raised is not None
    assert (raised.id, raised.verdict_class) == (opened.id, VerdictClass.LEAK)
    assert (raised.count, raised.reproduced) == (1, 1)
    assert again.outcome is Outcome.BAD


def test_the_untagged_share_is_of_whole_trials_and_the_same_for_the_same_seed() -> None:
    scene = Scene(lambda request, bench: request.messages[-1].content)
    scene.live = replace(scene.live, untagged_share=0.5)
    tagged = []
    for seed in range(40):
        before = len(scene.asked)
        scene.step("burst", seed=seed)
        [of_this_trial] = {request.tagged for request in scene.asked[before:]}
        tagged.append(of_this_trial)
    assert 8 <= sum(tagged) <= 32
    before = len(scene.asked)
    scene.step("burst", seed=0)
    assert {request.tagged for request in scene.asked[before:]} == {tagged[0]}


def test_a_confirmation_that_is_not_due_asks_nothing_of_the_budget() -> None:
    """Else a budget would be called exhausted by what was never to be sent."""
    scene = Scene(lambda request, bench: "")
    first = scene.step()
    assert first.verdict.verdict_class is VerdictClass.CONTRACT
    assert len(first.confirmations) == 2
    left = scene.purse.left
    again = scene.step(seed=8)
    assert again.verdict.finding == first.verdict.finding
    assert again.confirmations == ()
    assert left - scene.purse.left == 1
