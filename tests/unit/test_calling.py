"""Tool calls to ask for: names of their own, arguments that name their owner."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from random import Random

from monitor.checks.schema import fits
from monitor.model import Exchange, Outcome, Part, VerdictClass
from monitor.probes.base import Price, TargetView, TenantView, TrialPlan
from monitor.probes.calling import ask_for_call
from tests.builders import Bench, failures
from tests.fakes.session import FakeSession

TENANT = TenantView(name="tenant-a", isolation="tenant-a")
VIEW = TargetView(name="t", model="m", tenants=(TENANT,))
PLAN = TrialPlan(
    probe="burst",
    shape="burst",
    stratum="short/c8/cold/plain/one",
    purpose="a test",
    price=Price(refused_tokens=1, answered_tokens=1),
)


def asked(members: int, **options) -> tuple[Bench, list[Exchange]]:
    bench = Bench()
    session = FakeSession(bench=bench, plan=PLAN, target=VIEW, rng=Random(4))

    async def ask_all() -> None:
        for _ in range(members):
            await ask_for_call(session.open(Part.MEMBER, TENANT), VIEW, session.rng, **options)

    asyncio.run(ask_all())
    return bench, session.exchanges


def test_the_members_of_a_burst_are_offered_different_tools() -> None:
    bench, exchanges = asked(32)
    offered = [tool.name for e in exchanges for tool in e.request.tools]
    assert len(set(offered)) == len(offered) == 64
    assert all(e.expectation.tool in {t.name for t in e.request.tools} for e in exchanges)
    assert bench.judge(*exchanges).outcome is Outcome.GOOD


def test_a_right_call_fits_the_schema_that_was_offered() -> None:
    _, [exchange] = asked(1, system="Be brief.", stream=True)
    assert [m.role for m in exchange.request.messages] == ["system", "user"]
    assert exchange.request.stream
    [call] = exchange.response.tool_calls
    schemas = [json.loads(tool.parameters) for tool in exchange.request.tools]
    assert all(fits(json.loads(call.arguments), schema) for schema in schemas)


def test_another_members_call_is_crossed_even_within_one_tenant() -> None:
    bench, exchanges = asked(8)
    theirs, mine = exchanges[6], exchanges[4]
    response = replace(mine.response, tool_calls=theirs.response.tool_calls)
    crossed = [replace(e, response=response) if e is mine else e for e in exchanges]
    verdict = bench.judge(*crossed)
    assert verdict.verdict_class is VerdictClass.CROSSED
    assert {("ONTOPIC", "other_member"), ("STRUCT", "not_offered")} <= failures(verdict)
    assert {s.owner.exchange for s in verdict.signals if s.owner} == {6}
