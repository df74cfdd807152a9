"""pair counts: what limits, stop strings and forms do to answers, and how these are counted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from monitor.model import (
    Exchange,
    Expectation,
    Failure,
    FailureKind,
    Outcome,
    Request,
    Verdict,
    VerdictClass,
)
from monitor.probes.base import Feature, TargetView, TenantView, TrialPlan
from monitor.probes.counting import CUT_TOKENS, LAST
from monitor.probes.pair import PROBE
from tests.builders import Bench, failures
from tests.fakes.session import Answer, FakeSession, perfect

TENANTS = tuple(TenantView(name=f"tenant-{c}", isolation=f"tenant-{c}") for c in "abc")
VIEW = TargetView(name="t", model="m", tenants=TENANTS)
Change = Callable[[Exchange], Exchange]


def ran(
    answer: Answer = perfect, view: TargetView = VIEW
) -> tuple[Bench, tuple[Exchange, ...], TrialPlan]:
    [plan] = PROBE.plan(view, PROBE.params(kinds=["counts"]), Random(1))
    assert isinstance(plan, TrialPlan)
    bench = Bench()
    session = FakeSession(bench=bench, plan=plan, target=view, answer=answer)
    asyncio.run(PROBE.run(plan, session))
    return bench, tuple(sorted(session.exchanges, key=lambda e: e.index)), plan


def judged(change: Change) -> Verdict:
    """Return the verdict on a healthy trial of which each exchange was changed."""
    bench, exchanges, _ = ran()
    return bench.judge(*(change(each) for each in exchanges))


def said(exchange: Exchange, text: str = "", finish: str = "", **usage: int) -> Exchange:
    assert exchange.response is not None
    response = exchange.response
    counts = replace(response.usage, **usage)
    changed = replace(
        response,
        text=text or response.text,
        finish_reason=finish or response.finish_reason,
        usage=counts,
    )
    return replace(exchange, response=changed)


def whole(exchange: Exchange) -> str:
    return perfect(replace(exchange.request, stop=""), exchange.expectation)


def is_cut(exchange: Exchange) -> bool:
    return exchange.request.max_output_tokens == CUT_TOKENS


def test_everybody_counts_then_all_at_once_under_limits_and_with_stops_of_their_own() -> None:
    bench, exchanges, plan = ran()
    assert len(exchanges) == 3 * 4 + 1
    assert "/c6/" in plan.stratum
    stops = [e.request.stop for e in exchanges if e.request.stop]
    assert len(stops) == 4
    assert len(set(stops)) == 3
    assert sum(is_cut(e) for e in exchanges) == 3
    assert {e.tenant for e in exchanges} == {tenant.name for tenant in TENANTS}
    assert {e.request.stream for e in exchanges} == {True, False}
    assert len({e.request.messages for e in exchanges}) == len(exchanges)
    verdict = bench.judge(*exchanges)
    assert (verdict.outcome, verdict.verdict_class) == (Outcome.GOOD, VerdictClass.NONE)


def test_the_only_tenant_counts_twice() -> None:
    bench, exchanges, _ = ran(view=replace(VIEW, tenants=TENANTS[:1]))
    assert len(exchanges) == 2 * 4 + 1
    assert bench.judge(*exchanges).outcome is Outcome.GOOD


@pytest.mark.parametrize(
    ("view", "stops", "cuts"),
    [
        (replace(VIEW, lacks=frozenset({Feature.STOP})), 0, 3),
        (replace(VIEW, min_output_tokens=LAST), 4, 0),
        (replace(VIEW, min_output_tokens=20), 4, 3),
    ],
    ids=["no stop strings", "no short answers", "somewhat short"],
)
def test_what_a_target_does_not_offer_is_not_asked(view: TargetView, stops: int, cuts: int) -> None:
    _, exchanges, _ = ran(view=view)
    assert sum(bool(e.request.stop) for e in exchanges) == stops
    assert sum(e.request.max_output_tokens < LAST for e in exchanges) == cuts


def test_a_target_that_refuses_stop_strings_is_asked_once_and_is_no_error() -> None:
    _, healthy, _ = ran()

    def strict(request: Request, expectation: Expectation) -> Exchange | str:
        if not request.stop:
            return perfect(request, expectation)
        [exchange] = (e for e in healthy if e.index == 6)
        failure = Failure(kind=FailureKind.HTTP_STATUS, detail="unsupported", code=400)
        return replace(
            exchange, request=request, expectation=expectation, response=None, failure=failure
        )

    bench, exchanges, _ = ran(strict)
    assert sum(bool(e.request.stop) for e in exchanges) == 1
    verdict = bench.judge(*exchanges)
    assert (verdict.outcome, verdict.verdict_class) == (Outcome.GOOD, VerdictClass.SUSPECT)
    assert failures(verdict) == {("PARAM", "stop_refused")}
    assert [each.exchange for each in verdict.exchanges if not each.counted] == [6]


def test_a_server_error_beside_a_stop_string_stays_one() -> None:
    failure = Failure(kind=FailureKind.HTTP_STATUS, detail="broken", code=500)
    verdict = judged(lambda e: replace(e, response=None, failure=failure) if e.request.stop else e)
    assert verdict.outcome is Outcome.ERROR


def test_stop_strings_that_nobody_heeds_are_shown_and_no_alarm() -> None:
    verdict = judged(lambda e: said(e, whole(e)) if e.request.stop else e)
    assert (verdict.outcome, verdict.verdict_class) == (Outcome.GOOD, VerdictClass.SUSPECT)
    assert failures(verdict) == {("PARAM", "stop_never")}


@pytest.mark.parametrize("some", ["tenant", "stream"])
def test_stop_strings_that_only_some_answers_heed_are_ignored(some: str) -> None:
    def strikes(exchange: Exchange) -> bool:
        chosen = exchange.request.stream if some == "stream" else exchange.tenant == "tenant-b"
        return chosen and bool(exchange.request.stop)

    verdict = judged(lambda e: said(e, whole(e)) if strikes(e) else e)
    assert verdict.verdict_class is VerdictClass.CONTRACT
    assert ("PARAM", "stop_ignored") in failures(verdict)


def test_a_stop_string_that_is_left_in_the_answer_ends_it_all_the_same() -> None:
    verdict = judged(
        lambda e: said(e, f"{e.response.text}{e.request.stop}") if e.request.stop else e
    )
    assert verdict.verdict_class is VerdictClass.NONE


def test_an_answer_that_ends_at_the_stop_string_of_another_is_told() -> None:
    bench, exchanges, _ = ran()
    stops = [e for e in exchanges if e.request.stop]
    short = said(exchanges[2], stops[-1].response.text)
    verdict = bench.judge(*(short if e.index == 2 else e for e in exchanges))
    assert verdict.verdict_class is VerdictClass.CONTRACT
    assert ("PARAM", "stop_of_another") in failures(verdict)


def test_stop_strings_that_were_exchanged_are_told() -> None:
    bench, exchanges, _ = ran()
    one, other = [e for e in exchanges if e.request.stop][-2:]
    crossed = {
        one.index: said(one, other.response.text),
        other.index: said(other, one.response.text),
    }
    verdict = bench.judge(*(crossed.get(e.index, e) for e in exchanges))
    found = [s.exchange for s in verdict.signals if s.variant == "stop_of_another"]
    assert found == sorted(crossed)


def test_a_count_that_its_model_ends_there_has_no_comma_and_is_no_stop_of_another() -> None:
    bench, exchanges, _ = ran()
    stops = [e for e in exchanges if e.request.stop]
    ended = said(exchanges[2], stops[-1].response.text.rstrip(", "))
    verdict = bench.judge(*(ended if e.index == 2 else e for e in exchanges))
    assert failures(verdict) == {("ONTOPIC", "wrong"), ("REPLAY", "differs")}


def test_a_limit_that_is_not_kept_is_told_whatever_is_counted() -> None:
    verdict = judged(lambda e: said(e, whole(e), "stop", output_tokens=12) if is_cut(e) else e)
    assert verdict.verdict_class is VerdictClass.CONTRACT
    assert ("PARAM", "over_limit") in failures(verdict)


def test_a_cut_answer_that_says_stop_is_told() -> None:
    verdict = judged(lambda e: said(e, finish="stop") if is_cut(e) else e)
    assert verdict.verdict_class is VerdictClass.CONTRACT
    assert failures(verdict) == {("PARAM", "cut_as_whole")}


@pytest.mark.parametrize(("end", "cut"), [("7", False), ("7,", True)])
def test_one_answer_that_ends_at_its_limit_is_cut_only_behind_a_comma(end: str, cut: bool) -> None:
    bench, exchanges, _ = ran()
    first = next(e for e in exchanges if is_cut(e))
    ended = said(first, f"1, 2, 3, 4, 5, 6, {end}", "stop", output_tokens=CUT_TOKENS)
    verdict = bench.judge(*(ended if e.index == first.index else e for e in exchanges))
    assert failures(verdict) == ({("PARAM", "cut_as_whole")} if cut else set())


def test_a_count_that_its_model_ends_at_its_stop_string_does_not_show_that_any_is_heeded() -> None:
    _, exchanges, _ = ran()
    first = next(e.index for e in exchanges if e.request.stop)

    def change(exchange: Exchange) -> Exchange:
        if not exchange.request.stop:
            return exchange
        ends = exchange.response.text.rstrip(", ") if exchange.index == first else whole(exchange)
        return said(exchange, ends)

    assert failures(judged(change)) == {("PARAM", "stop_never")}


def test_a_model_that_stops_before_its_limit_is_not_cut() -> None:
    verdict = judged(lambda e: said(e, "1, 2, 3", "stop", output_tokens=7) if is_cut(e) else e)
    assert verdict.verdict_class is VerdictClass.NONE


def test_a_model_that_cannot_count_is_wrong_and_says_nothing_of_parameters() -> None:
    bench, exchanges, _ = ran(lambda request, expectation: "One, two, many.")
    verdict = bench.judge(*exchanges)
    assert verdict.verdict_class is VerdictClass.WRONG
    assert failures(verdict) == {("ONTOPIC", "wrong")}


def test_thoughts_may_take_all_tokens_and_end_at_a_stop_string() -> None:
    def thinks(exchange: Exchange) -> Exchange:
        if not (is_cut(exchange) or exchange.request.stop):
            return exchange
        empty = replace(exchange.response, text="", reasoning_text="So 1, 2, 3 and so on.")
        return replace(exchange, response=empty)

    verdict = judged(thinks)
    assert (verdict.outcome, verdict.verdict_class) == (Outcome.GOOD, VerdictClass.NONE)


@pytest.mark.parametrize(
    ("factor", "more", "uneven"),
    [(1.3, 0, True), (2.0, 0, True), (0.5, 0, True), (1.0, 900, False), (1.1, 0, False)],
    ids=["more", "twice", "half", "a system prompt of his own", "another tokenizer"],
)
def test_a_tenant_whose_prompts_take_more_is_told(
    factor: float, more: int, *, uneven: bool
) -> None:
    def count(exchange: Exchange) -> Exchange:
        tokens = exchange.response.usage.input_tokens
        if exchange.tenant != "tenant-b":
            return exchange
        return said(exchange, input_tokens=round(tokens * factor) + more)

    verdict = judged(count)
    assert (("USAGE_IN", "uneven") in failures(verdict)) is uneven
    assert (verdict.outcome is Outcome.BAD) is uneven


def test_cached_tokens_beside_the_prompts_are_no_uneven_count() -> None:
    def beside(exchange: Exchange) -> Exchange:
        tokens, cached = exchange.response.usage.input_tokens, 64 * (exchange.index % 3)
        cached = min(cached, tokens - 20)
        return said(exchange, input_tokens=tokens - cached, cached_tokens=cached)

    assert ("USAGE_IN", "uneven") not in failures(judged(beside))


@pytest.mark.parametrize(
    ("factor", "off"), [(2.0, True), (1.7, False)], ids=["twice", "another tokenizer"]
)
def test_streams_that_count_the_same_answer_twice_are_told(factor: float, *, off: bool) -> None:
    def count(exchange: Exchange) -> Exchange:
        tokens = exchange.response.usage.output_tokens
        return (
            said(exchange, output_tokens=round(tokens * factor))
            if exchange.request.stream
            else exchange
        )

    assert (("USAGE_OUT", "twin_off") in failures(judged(count))) is off


def test_thoughts_that_are_counted_and_never_shown_are_no_wrong_count() -> None:
    def think(exchange: Exchange) -> Exchange:
        tokens = exchange.response.usage.output_tokens
        return said(exchange, output_tokens=tokens + 37 * exchange.index)

    bench, exchanges, _ = ran()
    counted = [each if is_cut(each) else think(each) for each in exchanges]
    assert ("USAGE_OUT", "twin_off") not in failures(bench.judge(*counted))
