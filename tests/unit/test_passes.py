"""Passes: what is charged, what is held back, and that a crash is never a success."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from monitor.clock import SystemClock
from monitor.conventions import NotProbed as Code
from monitor.engines.base import DiscoveredModel, Discovery, Limit
from monitor.engines.scripted import ScriptedEngine, answered
from monitor.errors import UsageError
from monitor.limits import merged_limits
from monitor.live import LiveTarget
from monitor.model import Failure, FailureKind, Outcome, Response, Trial, Usage, Verdict
from monitor.passes import Done, PassRunner, charge
from monitor.pipeline import Pipeline
from monitor.planning import NotProbed, plan_pass, profile_choices
from monitor.probes.base import Price, TokenLimit, TrialPlan
from tests.builders import Bench, a_trial, an_exchange
from tests.contract.test_probes import VIEW

REFUSED = Failure(kind=FailureKind.REFUSED, detail="too long", code=400)
TIMEOUT = Failure(kind=FailureKind.TIMEOUT, detail="no answer")
PLAN = TrialPlan(
    probe="canary",
    shape="canary",
    stratum="short/c1/cold/plain/one",
    purpose="a test",
    price=Price(refused_tokens=100, answered_tokens=5000),
    arguments={"tenant": VIEW.tenants[0], "stream": False, "task": 1},
)


@pytest.mark.parametrize(
    ("exchange", "charged"),
    [
        (an_exchange(answer=None, failure=REFUSED), 100),
        (an_exchange(usage={"input_tokens": 10, "output_tokens": 2}), 5000),
        (an_exchange(usage={"input_tokens": 6000, "output_tokens": 2}), 6002),
        (an_exchange(answer=None, failure=TIMEOUT), 5000),
    ],
    ids=["refused", "answered", "reported more", "no answer"],
)
def test_what_a_trial_is_charged(exchange, charged: int) -> None:
    assert charge(PLAN, a_trial(exchange)) == charged


def test_a_refusal_beside_a_timeout_is_charged_in_full() -> None:
    trial = a_trial(
        an_exchange(answer=None, failure=REFUSED), an_exchange(answer=None, failure=TIMEOUT)
    )
    assert charge(PLAN, trial) == 5000


@pytest.mark.parametrize(("profile", "names"), [("fast", ()), ("quick", ("boundry",))])
def test_an_unknown_profile_or_probe_is_an_error(profile: str, names: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="use one of"):
        profile_choices(profile, names)


def test_a_shape_with_an_open_leak_is_held_back_with_its_price() -> None:
    plan = plan_pass(VIEW, profile_choices("quick"), rng=Random(1), frozen={"boundary": "F-1"})
    assert "boundary" not in {trial.probe for trial in plan.trials}
    held = [gap for gap in plan.not_probed if gap.code is Code.FROZEN]
    assert held
    assert all("F-1" in gap.reason and gap.price for gap in held)


def test_limits_that_are_near_are_one_and_the_targets_own_word_comes_first() -> None:
    discovery = Discovery(
        models=(
            DiscoveredModel(
                id="glm",
                limits=(
                    Limit(tokens=4096, source="v1_models.max_model_len"),
                    Limit(tokens=4089, source="server_info.max_req_input_len"),
                    Limit(tokens=2000, source="props.n_ctx"),
                ),
            ),
        )
    )
    declared = (TokenLimit(tokens=4096, source="config"),)
    assert merged_limits(declared, discovery, "glm") == (
        TokenLimit(tokens=2000, source="props.n_ctx"),
        TokenLimit(tokens=4096, source="v1_models.max_model_len"),
    )
    assert merged_limits(declared, Discovery(), "glm") == declared


class Told:
    """A sink that remembers."""

    def __init__(self) -> None:
        self.verdicts: list[Verdict] = []

    def deliver(self, trial: Trial, verdict: Verdict) -> None:
        self.verdicts.append(verdict)

    def close(self) -> None:
        """Nothing to do."""


class Purse:
    """A budget that pays so many trials."""

    def __init__(self, trials: int) -> None:
        self.left = trials
        self.settled: list[int] = []

    def reserve(self, target: str, kind: str, tokens: int) -> object | None:
        self.left -= 1
        return object() if self.left >= 0 else None

    def settle(self, reservation: object, tokens: int) -> float:
        self.settled.append(tokens)
        return 0.0


def runner(engine: Any, *, frozen: dict[str, str] | None = None, trials: int = 99):
    bench, told, purse = Bench(), Told(), Purse(trials)
    saved: list[Sequence[object]] = []
    findings: Any = SimpleNamespace(
        record=lambda verdict, confirms, examines: None, frozen_shapes=lambda target: frozen or {}
    )
    pipeline = Pipeline(
        clock=SystemClock(),
        minter=bench.minter,
        registry=bench.registry,
        markers=SimpleNamespace(save=saved.append),  # type: ignore[arg-type]
        golden={},
        findings=findings,
        sinks=[told],
    )
    run = PassRunner(
        clock=SystemClock(),
        pipeline=pipeline,
        budget=purse,  # type: ignore[arg-type]
        findings=findings,
        on_cost=lambda target, usd: None,
    )
    live = LiveTarget(view=VIEW, engine=engine, credentials={}, timeout_seconds=5.0, tolerance=0.1)
    return run, live, told, purse, saved


def hello(_: object) -> Any:
    usage = Usage(input_tokens=60, output_tokens=3)
    return answered(Response(text="hello", finish_reason="stop", response_id="r", usage=usage))


def test_a_trial_is_judged_and_every_sink_told_after_its_markers_were_kept() -> None:
    run, live, told, purse, saved = runner(ScriptedEngine(hello))
    step = asyncio.run(run.step(live, PLAN, seed=1))
    assert isinstance(step, Done)
    assert step.verdict.outcome is Outcome.BAD
    assert told.verdicts == [step.verdict]
    assert purse.settled == [5000]
    assert sum(len(markers) for markers in saved) == 1


def test_an_engine_that_crashes_is_invalid_and_charged_in_full_never_good() -> None:
    def crash(_: object) -> Any:
        raise KeyError("planted-secret")

    run, live, told, purse, _ = runner(ScriptedEngine(crash))
    step = asyncio.run(run.step(live, PLAN, seed=1))
    assert isinstance(step, Done)
    assert step.verdict.outcome is Outcome.INVALID
    assert "planted-secret" not in step.verdict.reason
    assert purse.settled == [5000]
    assert told.verdicts == [step.verdict]


def test_what_the_budget_cannot_pay_is_not_sent() -> None:
    engine = ScriptedEngine(hello)
    run, live, _, _, _ = runner(engine, trials=0)
    step = asyncio.run(run.step(live, PLAN, seed=1))
    assert isinstance(step, NotProbed)
    assert step.code is Code.BUDGET
    assert engine.asked == []


def test_what_an_open_leak_holds_back_is_not_sent() -> None:
    engine = ScriptedEngine(hello)
    run, live, _, _, _ = runner(engine, frozen={"canary": "F-9"})
    step = asyncio.run(run.step(live, PLAN, seed=1))
    assert isinstance(step, NotProbed)
    assert "F-9" in step.reason
    assert engine.asked == []


def test_timeouts_grow_with_the_length_that_is_sent() -> None:
    engine = ScriptedEngine(hello)
    run, live, _, _, _ = runner(engine)
    view = replace(VIEW, limits=(TokenLimit(tokens=100_000, source="config"),))
    live = replace(live, view=view)
    plan = plan_pass(view, profile_choices("quick", ("boundary",)), rng=Random(1)).trials[0]
    asyncio.run(run.step(live, plan, seed=1))
    donor, _, victim = (asked.timeout_seconds for asked in engine.asked)
    assert 5 <= donor < 7
    assert victim > 100


def test_what_a_person_asks_for_is_sent_although_it_is_held_back_and_counts_in_no_sli() -> None:
    engine = ScriptedEngine(hello)
    run, live, told, purse, _ = runner(engine, frozen={"canary": "F-9"})
    step = asyncio.run(run.examine(live, PLAN, finding="F-9", seed=1))
    assert isinstance(step, Done)
    assert (step.trial.examines, step.trial.scheduled) == ("F-9", False)
    assert (step.verdict.scheduled, step.confirmations) == (False, ())
    assert told.verdicts == [step.verdict]
    assert purse.settled == [5000]


def test_what_a_person_asks_for_is_paid_like_everything_else() -> None:
    engine = ScriptedEngine(hello)
    run, live, _, _, _ = runner(engine, trials=0)
    step = asyncio.run(run.examine(live, PLAN, finding="F-9", seed=1))
    assert isinstance(step, NotProbed)
    assert step.code is Code.BUDGET
    assert engine.asked == []
