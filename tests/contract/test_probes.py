"""Every probe, whatever its shape, keeps the same promises."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from random import Random

import pytest

from monitor.canaries import scan_answer
from monitor.checks.base import meant_to_be_cut
from monitor.conventions import MAX_STRATA_PER_PROBE
from monitor.history import History
from monitor.model import Expectation, Outcome, Request, Verdict, VerdictClass
from monitor.planning import PROFILES, plan_pass, profile_choices
from monitor.probes import PROBES
from monitor.probes.base import Impossible, Probe, TargetView, TenantView, TokenLimit, TrialPlan
from monitor.prompts import load_suites, shipped_folder
from tests.builders import Bench
from tests.fakes.session import CHARACTERS_PER_TOKEN, FakeSession, perfect

GOLDEN = load_suites(shipped_folder())
TENANTS = tuple(TenantView(name=f"tenant-{c}", isolation=f"tenant-{c}") for c in "abc")
VIEW = TargetView(
    name="glm",
    model="glm-5.3",
    tenants=TENANTS,
    limits=(TokenLimit(tokens=4096, source="v1_models.max_model_len"),),
    golden=GOLDEN,
)
ALL = list(PROBES.values())
ASKED_AGAIN = ("warm", "salted", "stream")
# Probes of which no answer is right or wrong.
OPEN = ("border",)


def planned(probe: Probe, view: TargetView = VIEW, profile: str = "standard") -> list[TrialPlan]:
    params = probe.params.model_validate(probe.presets.get(profile, {}))
    return [p for p in probe.plan(view, params, Random(3)) if isinstance(p, TrialPlan)]


def judged(probe: Probe, plan: TrialPlan, answer=perfect, view: TargetView = VIEW) -> Verdict:
    bench = Bench()
    session = FakeSession(bench=bench, plan=plan, target=view, answer=answer)
    asyncio.run(probe.run(plan, session))
    exchanges = sorted(session.exchanges, key=lambda e: e.index)
    golden = {prompt.name: prompt for prompt in GOLDEN}
    history = History(registry=bench.registry, golden=golden)
    return bench.judge(
        *exchanges, history=history, probe=plan.probe, shape=plan.shape, stratum=plan.stratum
    )


@pytest.mark.parametrize("probe", ALL, ids=lambda probe: probe.name)
@pytest.mark.parametrize("profile", PROFILES)
def test_a_plan_states_price_stratum_and_purpose(probe: Probe, profile: str) -> None:
    plans = planned(probe, profile=profile)
    assert plans
    assert len({plan.stratum for plan in plans}) <= MAX_STRATA_PER_PROBE
    for plan in plans:
        assert 0 < plan.price.refused_tokens <= plan.price.answered_tokens
        assert len(plan.stratum.split("/")) == 5
        assert plan.purpose
        assert (plan.probe, plan.shape) == (probe.name, probe.shape)


@pytest.mark.parametrize(
    "probe", [p for p in ALL if p.name != "golden"], ids=lambda probe: probe.name
)
def test_a_model_that_does_what_it_is_asked_is_good(probe: Probe) -> None:
    for plan in planned(probe):
        verdict = judged(probe, plan)
        over = "over-" in plan.stratum
        assert verdict.outcome is (Outcome.BAD if over else Outcome.GOOD), verdict.reason


@pytest.mark.parametrize(
    "probe", [p for p in ALL if p.name not in OPEN], ids=lambda probe: probe.name
)
def test_an_answer_about_something_else_is_bad(probe: Probe) -> None:
    for plan in planned(probe):
        verdict = judged(probe, plan, lambda request, expectation: "Dear Sir, your parcel is late.")
        assert verdict.outcome is Outcome.BAD


@pytest.mark.parametrize("probe", ALL, ids=lambda probe: probe.name)
def test_another_tenants_marker_in_any_answer_is_a_leak(probe: Probe) -> None:
    for plan in planned(probe):
        bench = Bench()
        foreign = bench.mint("tenant-z", trial="trial-of-another")

        def leaking(request: Request, expectation: Expectation, foreign: str = foreign) -> str:
            return f"{foreign} {perfect(request, expectation)}"

        session = FakeSession(bench=bench, plan=plan, target=VIEW, answer=leaking)
        asyncio.run(probe.run(plan, session))
        assert bench.judge(*session.exchanges).verdict_class is VerdictClass.LEAK


@pytest.mark.parametrize("probe", ALL, ids=lambda probe: probe.name)
def test_no_tenant_sends_a_marker_of_another(probe: Probe) -> None:
    """Else text that comes back to its own sender would be called a leak of the other."""
    for plan in planned(probe, replace(VIEW, gentle=False), "deep"):
        bench = Bench()
        session = FakeSession(bench=bench, plan=plan, target=VIEW)
        asyncio.run(probe.run(plan, session))
        for exchange in session.exchanges:
            scan = scan_answer(exchange.request.text(), "", bench.registry)
            owners = {match.owner.tenant for match in scan.matches if match.owner}
            assert owners == (set() if probe.name in OPEN else {exchange.tenant})


@pytest.mark.parametrize("probe", ALL, ids=lambda probe: probe.name)
def test_spending_stays_within_the_stated_price(probe: Probe) -> None:
    for plan in planned(probe):
        session = FakeSession(bench=Bench(), plan=plan, target=VIEW)
        asyncio.run(probe.run(plan, session))
        asked = sum(len(e.request.text()) for e in session.exchanges) / CHARACTERS_PER_TOKEN
        assert asked <= plan.price.answered_tokens * 1.05


@pytest.mark.parametrize("probe", ALL, ids=lambda probe: probe.name)
def test_each_exchange_has_its_own_nonce_and_asks_once(probe: Probe) -> None:
    for plan in planned(probe):
        session = FakeSession(bench=Bench(), plan=plan, target=VIEW)
        asyncio.run(probe.run(plan, session))
        # What is cut on purpose is expected to hold nothing, and a count nothing but numbers.
        cut = [e for e in session.exchanges if meant_to_be_cut(e) or e.expectation.counts_to]
        # What is asked again, to compare the answers, is asked with the same code.
        again = [e for e in session.exchanges if e.expectation.comparison in ASKED_AGAIN]
        nonces = [e.expectation.nonce for e in session.exchanges if e not in (*again, *cut)]
        assert len(set(nonces)) == len(nonces) == session.opened - len(again) - len(cut)
        asked = {e.index: e.expectation.nonce for e in session.exchanges}
        for exchange in again:
            assert exchange.expectation.nonce == asked[exchange.expectation.reference]
        for exchange in session.exchanges:
            if exchange not in cut:
                assert exchange.expectation.nonce in exchange.request.text()


@pytest.mark.parametrize("probe", ALL, ids=lambda probe: probe.name)
def test_with_one_tenant_and_no_limit_it_plans_or_says_why_not(probe: Probe) -> None:
    alone = replace(VIEW, tenants=TENANTS[:1], limits=(), golden=())
    params = probe.params()
    plans = probe.plan(alone, params, Random(1))
    assert plans
    for plan in plans:
        if isinstance(plan, Impossible):
            assert plan.reason
        else:
            asyncio.run(probe.run(plan, FakeSession(bench=Bench(), plan=plan, target=alone)))


def test_quick_asks_over_each_limit_with_a_donor_and_a_little_of_every_probe() -> None:
    plan = plan_pass(replace(VIEW, gentle=False), profile_choices("quick"), rng=Random(1))
    assert {trial.probe for trial in plan.trials} == set(PROBES) - set(OPEN)
    over = [t for t in plan.trials if t.stratum.startswith("over-4096/")]
    assert len(over) == 1
    assert over[0].arguments["donor"] != over[0].arguments["victim"]


@pytest.mark.parametrize("seed", range(4))
def test_quick_on_a_context_of_4096_costs_less_than_20000_input_tokens(seed) -> None:
    plan = plan_pass(VIEW, profile_choices("quick"), rng=Random(seed))
    assert sum(_input_tokens(trial) for trial in plan.trials) < 20_000


def _input_tokens(plan) -> int:
    """Return what a plan reserves but for answers; a healthy target refuses what is over."""
    session = FakeSession(bench=Bench(), plan=plan, target=VIEW)
    asyncio.run(PROBES[plan.probe].run(plan, session))
    answered = [e for e in session.exchanges if e.expectation.boundary != "over"]
    return plan.price.refused_tokens - sum(e.request.max_output_tokens for e in answered)
