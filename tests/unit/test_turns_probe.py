"""turns: the whole history is sent each time, what was said must be known, a failure ends it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model import (
    Exchange,
    Failure,
    FailureKind,
    Outcome,
    Part,
    ToolCall,
    VerdictClass,
)
from monitor.probes.base import Feature, TargetView, TenantView, TrialPlan
from monitor.probes.conversation import ANSWER_CHARACTERS, Conversation, Step, Talk, agenda
from monitor.probes.turns import PROBE
from tests.builders import Bench, an_exchange, failures
from tests.fakes.session import FakeSession, perfect

TENANTS = tuple(TenantView(name=f"tenant-{c}", isolation=f"tenant-{c}") for c in "ab")
VIEW = TargetView(name="t", model="m", tenants=TENANTS, gentle=False)


def planned(view: TargetView = VIEW, **params) -> list[TrialPlan]:
    return PROBE.plan(view, PROBE.params(**params), Random(1))


def ran(plan: TrialPlan, answer=perfect, view: TargetView = VIEW) -> tuple[Bench, list[Exchange]]:
    bench = Bench()
    session = FakeSession(bench=bench, plan=plan, target=view, answer=answer)
    asyncio.run(PROBE.run(plan, session))
    return bench, session.exchanges


def of(exchanges: list[Exchange], tenant: str) -> list[Exchange]:
    return [e for e in exchanges if e.tenant == tenant and e.part is Part.TURN]


def roles(exchange: Exchange) -> list[str]:
    return [message.role for message in exchange.request.messages]


def test_two_tenants_take_turns_and_each_sends_its_whole_history() -> None:
    [plan] = planned(turns=5, returning=0)
    _, exchanges = ran(plan)
    tenants = {t: of(exchanges, t) for t in ("tenant-a", "tenant-b")}
    for turns in tenants.values():
        assert [e.expectation.turn for e in turns] == [1, 2, 3, 3, 4, 5]
        for earlier, later in pairwise(turns):
            sent = earlier.request.messages
            assert later.request.messages[: len(sent)] == sent
            answer = later.request.messages[len(sent)]
            assert answer.role == "assistant"
            assert answer.content == earlier.response.text
    firsts = [e.index for e in exchanges if e.expectation.turn == 1]
    assert firsts == [0, 1]


def test_a_call_and_its_result_are_in_the_history() -> None:
    [plan] = planned(turns=5, returning=0)
    _, exchanges = ran(plan)
    last = of(exchanges, "tenant-a")[-1]
    after = [*["user", "assistant"] * 2, "user"]
    assert roles(last) == ["system", *["user", "assistant"] * 3, "tool", "assistant", *after]
    called, result = last.request.messages[6:8]
    assert called.calls[0].id == result.call_id != ""
    assert called.calls[0].name in {tool.name for tool in last.request.tools}


def test_the_code_of_the_first_turn_is_asked_for_last_and_stands_in_no_later_question() -> None:
    [plan] = planned(turns=6, returning=0)
    _, exchanges = ran(plan)
    first, *_, last = of(exchanges, "tenant-b")
    assert first.expectation.answers[0].any_of == last.expectation.answers[0].any_of
    assert first.expectation.answers[0].any_of[0] not in last.request.messages[-1].content


def test_the_system_codes_differ_and_anothers_in_an_answer_is_a_leak() -> None:
    [plan] = planned(turns=3, returning=0)
    bench, exchanges = ran(plan)
    a, b = (of(exchanges, tenant) for tenant in ("tenant-a", "tenant-b"))
    assert {e.expectation.obey_role for e in (*a, *b)} == {"system"}
    theirs = a[0].expectation.obey.any_of[0]
    response = replace(b[-1].response, text=f"{b[-1].response.text} {theirs}")
    swapped = [replace(e, response=response) if e is b[-1] else e for e in exchanges]
    assert bench.judge(*exchanges).outcome is Outcome.GOOD
    assert bench.judge(*swapped).verdict_class is VerdictClass.LEAK


def test_a_model_that_forgets_its_earlier_turns_is_found_out() -> None:
    def forgetful(request, expectation):
        kind = expectation.answer_task
        return "What code?" if kind == "recalled" else perfect(request, expectation)

    [plan] = planned(turns=3, returning=0)
    bench, exchanges = ran(plan, forgetful)
    assert ("ONTOPIC", "wrong") in failures(bench.judge(*exchanges))


def asking_for_the_given(exchanges: list[Exchange]) -> list[Exchange]:
    return [e for e in exchanges if e.expectation.answer_task == "given"]


def test_what_an_earlier_answer_gave_stands_in_no_message_but_that_answer() -> None:
    [plan] = planned(turns=3, returning=1)[1:]
    _, exchanges = ran(plan)
    asked = asking_for_the_given(of(exchanges, "tenant-a"))
    assert len(asked) == 2
    assert len({e.expectation.answers[0].any_of for e in asked}) == 1
    for exchange in asked:
        [code] = exchange.expectation.answers[0].any_of
        ours = next(m for m in exchange.request.messages if code in m.content)
        assert ours.role == "assistant"
        others = [m.content for m in exchange.request.messages if m.role != "assistant"]
        assert code not in "\n".join(others)


@pytest.mark.parametrize(
    ("pair", "verdict"), [("tenants", VerdictClass.LEAK), ("one tenant", VerdictClass.CROSSED)]
)
def test_the_answer_another_conversation_was_given_shows_whose_it_is(
    pair: str, verdict: VerdictClass
) -> None:
    """A store of sessions that hands out another's earlier answers: the question still stands."""
    view = VIEW if pair == "tenants" else replace(VIEW, tenants=TENANTS[:1])
    given: list[str] = []

    def of_another(request, expectation):
        if expectation.answer_task != "given":
            return perfect(request, expectation)
        given.extend(expectation.answers[0].any_of)
        return perfect(request, expectation).replace(given[-1], given[0])

    [plan] = planned(view, turns=3, returning=0)
    bench, exchanges = ran(plan, of_another, view)
    assert len(set(given)) == 2
    assert bench.judge(*exchanges).verdict_class is verdict


def test_an_earlier_answer_that_was_merely_forgotten_is_tolerated() -> None:
    def forgetful(request, expectation):
        if expectation.answer_task != "given":
            return perfect(request, expectation)
        return f"{expectation.nonce}\n{expectation.obey.any_of[0]}"

    [plan] = planned(turns=3, returning=0)
    bench, exchanges = ran(plan, forgetful)
    verdict = bench.judge(*exchanges)
    assert ("ONTOPIC", "wrong") in failures(verdict)
    assert verdict.verdict_class is VerdictClass.WRONG


def test_a_total_and_a_list_grow_from_turn_to_turn() -> None:
    [plan] = planned(turns=8, returning=0)
    _, exchanges = ran(plan)
    turns = of(exchanges, "tenant-a")
    totals = [e.expectation.answers[0] for e in turns if e.expectation.answer_task == "total"]
    assert len({int(total.any_of[0]) for total in totals}) == len(totals) == 2
    lists = [e.expectation.answers for e in turns if e.expectation.answer_task == "list"]
    assert [len(items) for items in lists] == [1, 2]


@pytest.mark.parametrize("kind", [FailureKind.TIMEOUT, FailureKind.CUT_STREAM])
def test_a_failed_turn_ends_its_conversation_and_not_the_other(kind: FailureKind) -> None:
    def failing(request, expectation):
        said = perfect(request, expectation)
        if expectation.turn != 2 or failed_once:
            return said
        failed_once.append(expectation.nonce)
        exchange = an_exchange(request.text(), "par", tenant="tenant-a", index=2)
        failure = Failure(kind=kind, detail="broken")
        return replace(exchange, request=request, expectation=expectation, failure=failure)

    failed_once: list[str] = []
    [plan] = planned(turns=5, returning=0)
    _, exchanges = ran(plan, failing)
    counts = sorted(
        sum(failed_once[0] in e.request.text() for e in exchanges if e.tenant == tenant)
        for tenant in ("tenant-a", "tenant-b")
    )
    assert counts == [0, 1]
    assert len(exchanges) == 2 + 6


def test_a_call_that_never_came_is_not_answered_and_the_talk_goes_on() -> None:
    def no_tools(request, expectation):
        return "I will not." if expectation.tool else perfect(request, expectation)

    [plan] = planned(turns=5, returning=0)
    bench, exchanges = ran(plan, no_tools)
    turns = of(exchanges, "tenant-a")
    assert [e.expectation.turn for e in turns] == [1, 2, 3, 4, 5]
    assert ("STRUCT", "not_called") in failures(bench.judge(*exchanges))
    assert bench.judge(*exchanges).verdict_class is VerdictClass.WRONG


def test_without_tools_or_a_system_role_neither_is_asked_for() -> None:
    lacks = frozenset({Feature.TOOLS, Feature.SYSTEM_ROLE, Feature.STREAM})
    view = replace(VIEW, lacks=lacks)
    for plan in planned(view, pairs=2, turns=8):
        _, exchanges = ran(plan, view=view)
        for exchange in exchanges:
            if exchange.part is Part.TURN:
                assert not exchange.request.tools
                assert "system" not in roles(exchange)
                assert exchange.expectation.obey is None
            assert not exchange.request.stream


def test_a_returning_conversation_is_asked_again_after_others_and_is_not_gentle() -> None:
    staying, returning = planned(turns=3, load=5)
    assert staying.gentle
    assert not returning.gentle
    assert staying.stratum != returning.stratum
    _, exchanges = ran(returning)
    parts = [e.part for e in sorted(exchanges, key=lambda e: e.index)]
    load = [number for number, part in enumerate(parts) if part is Part.CONTROL]
    assert load == list(range(load[0], load[0] + 5))
    after = exchanges[load[-1] + 1 :]
    assert {e.expectation.answer_task for e in after} == {"recalled", "given", "total"}
    assert {e.tenant for e in after} == {"tenant-a", "tenant-b"}
    assert all(
        e.request.messages[:1] == of(exchanges, e.tenant)[0].request.messages[:1] for e in after
    )


@given(
    text=st.text(st.characters(), max_size=3000),
    arguments=st.text(max_size=40) | st.just("[" * 900) | st.just("{}"),
    calls=st.integers(0, 3),
)
def test_whatever_comes_back_can_be_sent_back(text: str, arguments: str, calls: int) -> None:
    def hostile(request, expectation):
        call = ToolCall(name=expectation.tool or "x", arguments=arguments, id="\ud800" * 2000)
        exchange = an_exchange(request.text(), text, response={"tool_calls": (call,) * calls})
        return replace(exchange, request=request, expectation=expectation)

    plan = planned(turns=4, returning=0)[0]
    session = FakeSession(bench=Bench(), plan=plan, target=VIEW, answer=hostile)
    talk = Talk(Conversation(session=session, tenant=TENANTS[0], rng=Random(2)))
    for step in (Step.TELL, Step.GIVEN, Step.CALL, Step.RECALL):
        asyncio.run(talk.take(step))
    for exchange in session.exchanges:
        exchange.request.text().encode()
        for message in exchange.request.messages:
            assert len(message.content) <= max(ANSWER_CHARACTERS, 700)
            assert message.content.strip() or message.calls
            answered = [m.call_id for m in exchange.request.messages if m.role == "tool"]
            called = [c.id for m in exchange.request.messages for c in m.calls]
            assert answered == called


@given(turns=st.integers(3, 8), tools=st.booleans())
def test_an_agenda_tells_first_and_recalls_last(turns: int, tools: bool) -> None:
    view = VIEW if tools else replace(VIEW, lacks=frozenset({Feature.TOOLS}))
    steps = agenda(turns, view)
    assert len(steps) == turns
    assert (steps[0], *steps[-2:]) == (Step.TELL, Step.GIVEN, Step.RECALL)
    assert steps.count(Step.GIVEN) == 1
    assert steps.count(Step.CALL) == (1 if tools and turns > 4 else 0)
