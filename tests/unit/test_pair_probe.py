"""pair: what is asked twice is the same request, cuts fall within a call, roles can be measured."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from random import Random

import pytest

from monitor.model import Exchange, Expectation, Outcome, ToolCall, VerdictClass
from monitor.probes.base import Feature, Impossible, TargetView, TenantView, TrialPlan
from monitor.probes.pair import KINDS, PROBE, cuts
from tests.builders import Bench, an_exchange, failures
from tests.fakes.session import CHARACTERS_PER_TOKEN, FakeSession, perfect

TENANTS = tuple(TenantView(name=f"tenant-{c}", isolation=f"tenant-{c}") for c in "ab")
VIEW = TargetView(name="t", model="m", tenants=TENANTS)


def planned(kind: str, view: TargetView = VIEW) -> TrialPlan | Impossible:
    [plan] = PROBE.plan(view, PROBE.params(kinds=[kind]), Random(1))
    return plan


def ran(
    kind: str, answer=perfect, view: TargetView = VIEW
) -> tuple[Bench, tuple[Exchange, ...], TrialPlan]:
    bench, plan = Bench(), planned(kind, view)
    session = FakeSession(bench=bench, plan=plan, target=view, answer=answer)
    asyncio.run(PROBE.run(plan, session))
    return bench, tuple(sorted(session.exchanges, key=lambda e: e.index)), plan


@pytest.mark.parametrize("kind", ["text", "call", "form"])
def test_the_very_same_is_asked_plainly_and_as_a_stream(kind: str) -> None:
    bench, (plain, stream), _ = ran(kind)
    assert plain.request == replace(stream.request, stream=False)
    assert stream.request.stream
    assert (stream.expectation.reference, stream.expectation.comparison) == (0, "stream")
    assert plain.expectation.reference is None
    assert bool(plain.request.tools) == (kind == "call")
    assert bool(plain.request.json_schema) == (kind == "form")
    assert bench.judge(plain, stream).outcome is Outcome.GOOD


@pytest.mark.parametrize("kind", ["text", "call", "form"])
def test_a_stream_that_says_something_else_is_found_out(kind: str) -> None:
    def other(request, expectation):
        return "I would rather not." if request.stream else perfect(request, expectation)

    bench, exchanges, _ = ran(kind, other)
    verdict = bench.judge(*exchanges)
    assert verdict.outcome is Outcome.BAD
    assert ("REPLAY", "differs") in failures(verdict)


def test_a_call_is_cut_within_its_arguments_and_nothing_else_is_expected() -> None:
    _, (whole, *cut), _ = ran("cut")
    assert whole.expectation.tool
    assert [e.request.stream for e in cut] == [True, False, True]
    assert all(e.expectation == Expectation() for e in cut)
    tokens = [e.request.max_output_tokens for e in cut]
    assert tokens == sorted(set(tokens))
    assert tokens[-1] < whole.response.usage.output_tokens
    for each in cut:
        again = replace(each.request, stream=False)
        assert replace(again, max_output_tokens=96) == whole.request


def test_a_cut_call_that_is_sent_as_complete_breaks_the_contract() -> None:
    def claims(request, expectation):
        if expectation.tool:
            return perfect(request, expectation)
        [*_, tool] = request.tools
        exchange = an_exchange(
            request.text(),
            "",
            index=request.max_output_tokens,
            response={
                "finish_reason": "tool_calls",
                "tool_calls": (ToolCall(name=tool.name, arguments='{"reference_code": "ba'),),
            },
            usage={"output_tokens": request.max_output_tokens},
        )
        return replace(exchange, request=request, expectation=expectation)

    bench, exchanges, _ = ran("cut", claims)
    verdict = bench.judge(*exchanges)
    assert verdict.verdict_class is VerdictClass.CONTRACT
    assert ("FINISH", "cut_tool_call") in failures(verdict)


def test_where_no_call_came_there_is_nothing_to_cut() -> None:
    bench, exchanges, _ = ran("cut", lambda request, expectation: "I will not.")
    assert len(exchanges) == 1
    assert cuts(an_exchange("x", None), VIEW) == ()
    assert bench.judge(*exchanges).verdict_class is VerdictClass.WRONG


def test_no_cut_is_below_the_least_output_a_target_allows() -> None:
    view = replace(VIEW, min_output_tokens=40)
    _, (_, *cut), _ = ran("cut", view=view)
    assert cut
    assert all(e.request.max_output_tokens >= 40 for e in cut)
    assert isinstance(planned("cut", replace(VIEW, min_output_tokens=1024)), Impossible)


def test_a_form_and_a_text_are_asked_at_once_by_two_tenants() -> None:
    in_flight = []

    def watching(request, expectation):
        in_flight.append(bool(request.json_schema))
        return perfect(request, expectation)

    bench, exchanges, plan = ran("batch", watching)
    assert "/c2/" in plan.stratum
    assert sorted(in_flight) == [False, True]
    assert {e.tenant for e in exchanges} == {"tenant-a", "tenant-b"}
    assert exchanges[0].expectation.nonce != exchanges[1].expectation.nonce
    swapped = [
        replace(e, response=replace(o.response, text=o.response.text))
        for e, o in zip(exchanges, reversed(exchanges), strict=True)
    ]
    assert bench.judge(*swapped).verdict_class is VerdictClass.LEAK


def test_every_role_is_asked_and_one_stands_within_the_list() -> None:
    bench, exchanges, _ = ran("roles")
    sent = [[m.role for m in e.request.messages] for e in exchanges]
    assert sent == [
        ["user"],
        ["user"],
        ["system", "user"],
        ["user", "assistant", "system", "user"],
        ["developer", "user"],
        ["user", "assistant", "user"],
    ]
    asked = [e.expectation.obey_role for e in exchanges]
    assert asked == ["", "", "system", "system", "developer", "assistant"]
    codes = [e.expectation.obey.any_of[0] for e in exchanges if e.expectation.obey]
    assert len(set(codes)) == 4
    assert codes[-1] not in exchanges[-1].request.messages[-1].content
    assert bench.judge(*exchanges).outcome is Outcome.GOOD


def test_without_a_developer_role_none_is_sent() -> None:
    view = replace(VIEW, lacks=frozenset({Feature.DEVELOPER_ROLE}))
    _, exchanges, _ = ran("roles", view=view)
    assert len(exchanges) == 5
    assert not any(m.role == "developer" for e in exchanges for m in e.request.messages)


@pytest.mark.parametrize("dropped", ["system", "developer", "assistant"])
def test_a_role_that_is_neither_counted_nor_obeyed_was_dropped(dropped: str) -> None:
    def deaf(request, expectation):
        kept = [m.content for m in request.messages if m.role != dropped]
        if expectation.obey_role == dropped:
            said = perfect(request, replace(expectation, obey=None))
        else:
            said = perfect(request, expectation)
        tokens = sum(len(content) for content in kept) // CHARACTERS_PER_TOKEN
        index = numbers.setdefault(request, len(numbers))
        exchange = an_exchange(request.text(), said, index=index, usage={"input_tokens": tokens})
        return replace(exchange, request=request, expectation=expectation)

    numbers: dict = {}
    bench, exchanges, _ = ran("roles", deaf)
    verdict = bench.judge(*exchanges)
    assert verdict.verdict_class is VerdictClass.WRONG_INPUT
    found = [s.exchange for s in verdict.signals if (s.code, s.variant) == ("ROLE", "dropped")]
    assert found == [e.index for e in exchanges if e.expectation.obey_role == dropped]


def test_a_role_that_is_read_and_ignored_is_tolerated() -> None:
    def stubborn(request, expectation):
        return perfect(request, replace(expectation, obey=None))

    bench, exchanges, _ = ran("roles", stubborn)
    verdict = bench.judge(*exchanges)
    assert verdict.verdict_class is VerdictClass.WRONG
    assert failures(verdict) == {("ROLE", "disobeyed")}


@pytest.mark.parametrize(
    ("lacked", "left"),
    [
        (Feature.STREAM, {"cut", "batch", "roles", "counts"}),
        (Feature.TOOLS, {"text", "form", "batch", "roles", "counts"}),
        (Feature.JSON_SCHEMA, {"text", "call", "cut", "roles", "counts"}),
        (Feature.SYSTEM_ROLE, {"text", "call", "form", "cut", "batch", "counts"}),
        (Feature.STOP, {"text", "call", "form", "cut", "batch", "roles", "counts"}),
    ],
)
def test_what_a_target_lacks_is_said_and_not_asked(lacked: Feature, left: set[str]) -> None:
    view = replace(VIEW, lacks=frozenset({lacked}))
    plans = {kind: planned(kind, view) for kind in KINDS}
    assert {kind for kind, plan in plans.items() if isinstance(plan, TrialPlan)} == left
    for plan in plans.values():
        if isinstance(plan, Impossible):
            assert "lacks by configuration" in plan.reason
    for kind in left:
        _, exchanges, _ = ran(kind, view=view)
        for exchange in exchanges:
            assert not (exchange.request.stream and lacked is Feature.STREAM)


def test_a_forms_schema_is_json_with_every_field_required() -> None:
    _, (plain, _), _ = ran("form")
    schema = json.loads(plain.request.json_schema)
    assert schema["required"] == list(schema["properties"])
