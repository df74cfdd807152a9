"""Border inputs: short, alike in length, asked now and then; only calibration judges them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from monitor.checks.usage_in import CLEARLY_LONGER
from monitor.configured import choices_of, golden_prompts, target_view
from monitor.dayplan.plan import day_plan
from monitor.engines.scripted import ScriptedEngine
from monitor.live import LiveTarget
from monitor.model import (
    Calibration,
    CalibrationState,
    CalibrationStatus,
    Failure,
    FailureKind,
    FirstTokens,
    Outcome,
    Response,
    Status,
    Usage,
)
from monitor.planning import profile_choices
from monitor.probes.base import BudgetKind, TargetView, TenantView, TrialPlan
from monitor.probes.border import INPUTS, PROBE, Params
from monitor.prompts.first_token import first_token_of
from tests.builders import NOW, Bench, an_exchange
from tests.fakes.session import FakeSession
from tests.unit.daemon.installed import config_of

VIEW = TargetView(
    name="glm",
    model="glm-5.3",
    tenants=tuple(TenantView(name=name, isolation=name) for name in ("a", "b")),
)


def plans_of(params: Params, view: TargetView = VIEW, seed: int = 1) -> list[TrialPlan]:
    return [p for p in PROBE.plan(view, params, Random(seed)) if isinstance(p, TrialPlan)]


def asked(plan: TrialPlan, view: TargetView = VIEW):
    session = FakeSession(bench=Bench(), plan=plan, target=view)
    asyncio.run(PROBE.run(plan, session))
    [exchange] = session.exchanges
    return exchange


def test_a_pass_asks_each_input_once_with_no_marker_and_few_tokens() -> None:
    exchanges = [asked(plan) for plan in plans_of(Params())]
    assert sorted(e.request.text() for e in exchanges) == sorted(INPUTS)
    for exchange in exchanges:
        assert exchange.expectation.border_input == exchange.request.text()
        assert exchange.request.max_output_tokens == VIEW.min_output_tokens
        assert exchange.request.temperature == 0
    assert {e.tenant for e in exchanges} == {"a", "b"}


def test_more_output_is_allowed_where_a_target_wants_it_so() -> None:
    few, many = replace(VIEW, min_output_tokens=1), replace(VIEW, min_output_tokens=64)
    assert asked(plans_of(Params(count=1), few)[0], few).request.max_output_tokens == 4
    assert asked(plans_of(Params(count=1), many)[0], many).request.max_output_tokens == 64


def test_which_inputs_a_short_pass_asks_is_drawn() -> None:
    drawn = {
        p.arguments["input"] for seed in range(40) for p in plans_of(Params(count=4), seed=seed)
    }
    assert drawn == set(INPUTS)


@pytest.mark.parametrize(("undecided", "asked_of"), [(5, 5), (20, 20), (4, 20), (0, 20)])
def test_where_enough_are_known_to_be_undecided_only_these_are_asked(
    undecided: int, asked_of: int
) -> None:
    known = replace(VIEW, undecided=frozenset(INPUTS[:undecided]) | {"one of another version"})
    asked_for = {p.arguments["input"] for p in plans_of(Params(), known)}
    assert asked_for == set(INPUTS[:asked_of])


def test_a_calibration_says_which_are_undecided() -> None:
    tokens = (
        FirstTokens(border_input=INPUTS[0], seen=(("7", 9), ("3", 1))),
        FirstTokens(border_input=INPUTS[1], seen=(("Red", 10),)),
    )
    calibration = Calibration(
        id="c",
        target="glm",
        model="glm-5.3",
        made_at=NOW,
        made_by="somebody",
        reason="a test",
        subject="s",
        checks_version="1",
        tolerance=0.1,
        first_tokens=tokens,
    )
    live = LiveTarget(
        view=VIEW,
        engine=ScriptedEngine(lambda r: None),
        credentials={},
        timeout_seconds=1,
        tolerance=0.1,
    )
    valid = CalibrationStatus(state=CalibrationState.VALID, newest=calibration)
    live.hold_to(valid, None)
    assert live.view.undecided == {INPUTS[0]}
    live.hold_to(CalibrationStatus(), None)
    assert live.view.undecided == frozenset()


def test_inputs_are_so_alike_in_length_that_equal_counts_mean_nothing() -> None:
    sizes = sorted(len(each.encode()) for each in INPUTS)
    assert len(set(INPUTS)) == len(INPUTS) == 20
    assert sizes[-1] <= CLEARLY_LONGER * sizes[0]


@pytest.mark.parametrize(
    "text", ["7", "", "Certainly! I would like to tell you about", "红色", "\n\n**Blue**", "?"]
)
def test_whatever_it_is_answered_with_is_good_until_calibration_says_more(text: str) -> None:
    for border in INPUTS:
        exchange = an_exchange(
            border,
            text,
            max_output_tokens=16,
            border_input=border,
            response={"finish_reason": "length" if len(text) > 20 else "stop"},
            usage={"output_tokens": 16 if len(text) > 20 else 1, "input_tokens": 8},
        )
        verdict = Bench().judge(exchange, probe="border", shape="finger")
        assert verdict.outcome is Outcome.GOOD, verdict.reason
        assert not any(s.status is Status.FAIL for s in verdict.signals)


def test_the_first_token_is_told_of_whole_answers_in_text_alone() -> None:
    plain = an_exchange("Name a city.", " Paris, of course", border_input="Name a city.")
    assert first_token_of(plain) == "Paris"
    assert first_token_of(replace(plain, response=Response(text=""))) == ""
    thought = Response(text="", reasoning_text="The user wants", finish_reason="length")
    counted = Response(text="", usage=Usage(reasoning_tokens=16))
    cut = Failure(kind=FailureKind.CUT_STREAM, detail="cut")
    for odd in (
        replace(plain, response=thought),
        replace(plain, response=counted),
        replace(plain, response=None),
        replace(plain, failure=cut),
        an_exchange("Name a city.", "Paris"),
    ):
        assert first_token_of(odd) is None


def test_it_is_no_part_of_a_quick_pass_unless_named() -> None:
    assert "border" not in {c.name for c in profile_choices("quick")}
    assert [c.name for c in profile_choices("quick", ("border",))] == ["border"]
    for profile in ("standard", "deep"):
        assert "border" in {c.name for c in profile_choices(profile)}


@pytest.mark.parametrize(("params", "a_day"), [({}, 60), ({"count": 5, "samples_a_day": 10}, 50)])
def test_a_day_asks_each_input_a_few_times_however_cheap_that_is(
    tmp_path: Path, params: dict[str, int], a_day: int
) -> None:
    """By price alone it would be asked as often as its interval allows: 288 times a day."""
    config = config_of(tmp_path, {"probes": [{"name": "border", "params": params}]})
    [target] = config.targets
    plan = day_plan(
        config, target, target_view(target, golden_prompts()), choices_of(config, target)
    )
    [stratum] = plan.strata
    assert stratum.trials == pytest.approx(a_day)


def test_it_takes_next_to_nothing_of_a_standard_day(tmp_path: Path) -> None:
    config = config_of(tmp_path)
    [target] = config.targets
    plan = day_plan(
        config, target, target_view(target, golden_prompts()), choices_of(config, target)
    )
    [border] = [each for each in plan.strata if each.probe == "border"]
    assert border.trials * border.answered_tokens < 0.005 * plan.budgets[BudgetKind.ORDINARY]


def test_tenants_take_turns() -> None:
    tenants = [p.arguments["tenant"].name for p in plans_of(Params())]
    assert all(one != other for one, other in pairwise(tenants))
