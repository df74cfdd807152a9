"""burst: members unlike each other, a sequential run beside them, and nothing a target lacks."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from random import Random

import pytest

from monitor.model import Exchange, Outcome, Part, VerdictClass
from monitor.probes.base import Feature
from monitor.probes.burst import HARSH_SIZE, MOST_CONTROLS, PROBE
from tests.builders import Bench, failures
from tests.fakes.session import FakeSession, perfect
from tests.unit.probe_runs import VIEW, Ran, impossible, planned, ran

SIZES = (2, 3, 8, 16, 32)


def burst(size: int, **more) -> Ran:
    [plan] = planned(PROBE, sizes=(size,), **more)
    return ran(PROBE, plan)


def members(done: Ran) -> list[Exchange]:
    return [e for e in done.exchanges if e.part is Part.MEMBER]


def test_the_standard_profile_has_all_sizes_and_spares_production_the_large_ones() -> None:
    plans = planned(PROBE, **PROBE.presets["standard"])
    sizes = {int(p.stratum.split("/")[1][1:]): p.gentle for p in plans}
    assert sizes == {size: size < HARSH_SIZE for size in SIZES}


@pytest.mark.parametrize("size", SIZES)
def test_members_differ_in_code_task_answer_length_tenant_and_transport(size: int) -> None:
    together = members(burst(size))
    assert len(together) == size
    assert len({e.expectation.nonce for e in together}) == size
    answers = [{t for f in e.expectation.answers for t in f.any_of} for e in together]
    assert all(e.expectation.answer_bits >= 64 for e in together)
    assert sum(len({t for t in a if "-" in t}) for a in answers) == size
    kinds = [e.expectation.answer_task for e in together]
    assert len(set(kinds)) == min(size, 4)
    assert {e.tenant for e in together} == {"tenant-a", "tenant-b"}
    assert {e.request.stream for e in together} == {True, False}
    lengths = sorted(len(e.request.text()) for e in together)
    assert lengths[-1] >= 2 * lengths[0]
    tools = [tool.name for e in together for tool in e.request.tools]
    assert len(set(tools)) == len(tools)


@pytest.mark.parametrize("size", SIZES)
def test_a_few_are_asked_alone_first_with_fresh_prompts_of_the_same_kind(size: int) -> None:
    done = burst(size)
    controls = [e for e in done.exchanges if e.part is Part.CONTROL]
    assert len(controls) == min(size, MOST_CONTROLS)
    compared = done.compared("concurrent")
    assert [e.expectation.reference for e in compared] == [e.index for e in controls]
    for control, member in zip(controls, compared, strict=True):
        assert control.expectation.answer_task == member.expectation.answer_task
        assert control.tenant == member.tenant
        assert control.request.stream == member.request.stream
        assert control.expectation.nonce not in member.request.text()
        one, other = len(control.request.text()), len(member.request.text())
        assert abs(one - other) < 0.35 * max(one, other)


def test_members_are_under_way_at_the_same_time_and_controls_are_alone() -> None:
    under_way = {Part.CONTROL: 0, Part.MEMBER: 0}
    most = dict(under_way)

    class Slow(FakeSession):
        def open(self, part, tenant):
            draft = super().open(part, tenant)
            ask = draft.ask

            async def slowly(request, expectation):
                under_way[part] += 1
                most[part] = max(most[part], under_way[part])
                for _ in range(20):
                    await asyncio.sleep(0)
                under_way[part] -= 1
                return await ask(request, expectation)

            draft.ask = slowly
            return draft

    [plan] = planned(PROBE, sizes=(8,))
    asyncio.run(PROBE.run(plan, Slow(bench=Bench(), plan=plan, target=VIEW)))
    assert most == {Part.CONTROL: 1, Part.MEMBER: 8}


@pytest.mark.parametrize(
    ("lacking", "found"),
    [
        (Feature.TOOLS, lambda e: e.request.tools),
        (Feature.STREAM, lambda e: e.request.stream),
        (Feature.SYSTEM_ROLE, lambda e: any(m.role == "system" for m in e.request.messages)),
    ],
    ids=["tools", "stream", "system role"],
)
def test_what_a_target_lacks_is_left_out(lacking: Feature, found) -> None:
    def asked(view) -> list[Exchange]:
        [plan] = planned(PROBE, view, sizes=(8,))
        return ran(PROBE, plan, view=view).exchanges

    assert any(found(e) for e in asked(VIEW))
    without = asked(replace(VIEW, lacks=frozenset({lacking})))
    assert not any(found(e) for e in without)
    lengths = sorted(len(e.request.text()) for e in without)
    assert lengths[-1] >= 2 * lengths[0]


def test_a_member_that_is_only_wrong_in_company_shows_beside_its_control() -> None:
    def forgets_in_company(request, expectation):
        if expectation.comparison:
            return expectation.nonce or ""
        return perfect(request, expectation)

    [plan] = planned(PROBE, sizes=(2,))
    verdict = ran(PROBE, plan, forgets_in_company).verdict()
    assert ("REPLAY", "differs") in failures(verdict)
    assert verdict.verdict_class is VerdictClass.WRONG


@pytest.mark.parametrize("size", SIZES)
def test_answers_handed_to_the_neighbour_are_a_leak_or_crossed(size: int) -> None:
    """Whatever its kind: another member's answer is recognised, in text and in tool calls."""
    done = burst(size)
    together = members(done)
    turned = [
        replace(e, response=replace(e.response, **_said(together[n - 1])))
        for n, e in enumerate(together)
    ]
    alone = [e for e in done.exchanges if e.part is Part.CONTROL]
    verdict = done.bench.judge(*alone, *turned)
    classes = {e.exchange: e.verdict_class for e in verdict.exchanges}
    assert {classes[e.index] for e in turned} <= {VerdictClass.LEAK, VerdictClass.CROSSED}
    assert all(classes[e.index] is VerdictClass.NONE for e in alone)


def _said(other: Exchange) -> dict[str, object]:
    response = other.response
    return {"text": response.text, "tool_calls": response.tool_calls}


def test_a_good_model_is_good_whatever_was_drawn() -> None:
    for seed in range(6):
        for plan in PROBE.plan(VIEW, PROBE.params(sizes=(2, 3, 8)), Random(seed)):
            assert ran(PROBE, plan).verdict().outcome is Outcome.GOOD


def test_a_burst_of_one_is_none() -> None:
    [no] = impossible(PROBE, sizes=(1,))
    assert "not 1" in no.reason
