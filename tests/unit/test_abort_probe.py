"""abort: what is broken off is full of its owner's markers, and others are asked at once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from random import Random

import pytest

from monitor.model import Exchange, Failure, FailureKind, Outcome, Part, Timing, VerdictClass
from monitor.probes.abort import ASSUMED_SECONDS, LEAST_SECONDS, PROBE, prefill_seconds
from monitor.probes.base import (
    BudgetKind,
    Feature,
    Impossible,
    TargetView,
    TenantView,
    TokenLimit,
    TrialPlan,
)
from tests.builders import NOW, Bench, an_exchange
from tests.fakes.session import FakeSession, perfect

TENANTS = tuple(TenantView(name=f"tenant-{c}", isolation=f"tenant-{c}") for c in "ab")
VIEW = TargetView(name="t", model="m", tenants=TENANTS, gentle=False)


def planned(view: TargetView = VIEW, **params) -> list[TrialPlan | Impossible]:
    return PROBE.plan(view, PROBE.params(**params), Random(1))


def ran(plan: TrialPlan, answer=perfect) -> tuple[Bench, list[Exchange]]:
    bench = Bench()
    session = FakeSession(bench=bench, plan=plan, target=VIEW, answer=answer)
    asyncio.run(PROBE.run(plan, session))
    return bench, session.exchanges


def test_it_is_not_gentle_and_its_phases_are_strata_of_their_own() -> None:
    prefill, decode = planned()
    assert not prefill.gentle
    assert not decode.gentle
    assert prefill.stratum != decode.stratum


def test_a_decode_is_broken_off_and_both_tenants_are_asked_at_once() -> None:
    [plan] = planned(phases=["decode"], rounds=2)
    bench, exchanges = ran(plan)
    broken = [e for e in exchanges if e.cancelled]
    assert [e.index for e in broken] == [0, 3]
    assert all(e.request.stream and e.request.hang_up.after_chunks == 3 for e in broken)
    assert all(e.failure.kind is FailureKind.CANCELLED and e.part is Part.DONOR for e in broken)
    for number in (1, 4):
        after = [e for e in exchanges if number <= e.index <= number + 1]
        assert {e.tenant for e in after} == {"tenant-a", "tenant-b"}
        assert all(e.whole and e.request.hang_up is None for e in after)
    assert bench.judge(*exchanges).outcome is Outcome.GOOD


def test_a_prefill_is_broken_off_halfway_to_the_first_token_of_one_like_it() -> None:
    def timed(request, expectation):
        if request.hang_up is not None:
            return perfect(request, expectation)
        whole = an_exchange(request.text(), perfect(request, expectation))
        timing = Timing(started_at=NOW, total_seconds=3.0, first_token_seconds=2.0)
        return replace(whole, request=request, expectation=expectation, timing=timing)

    [plan] = planned(phases=["prefill"])
    _, exchanges = ran(plan, timed)
    [broken] = [e for e in exchanges if e.cancelled]
    assert broken.request.hang_up.after_seconds == 1.0
    measured = exchanges[0]
    assert measured.request.stream
    assert measured.request.hang_up is None
    few, many = sorted(len(e.request.text()) for e in (measured, broken))
    assert many - few < 10
    assert measured.request.text()[:20] != broken.request.text()[:20]


@pytest.mark.parametrize(
    ("first", "total", "answer", "seconds"),
    [
        (2.0, 3.0, "hi", 1.0),
        (None, 4.0, "hi", 1.0),
        (None, 4.0, None, ASSUMED_SECONDS),
        (0.0, 0.0, "hi", LEAST_SECONDS),
        (900.0, 900.0, "hi", 20.0),
    ],
)
def test_when_to_break_off_a_prefill(first, total, answer, seconds) -> None:
    timing = Timing(started_at=NOW, total_seconds=total, first_token_seconds=first)
    assert prefill_seconds(replace(an_exchange("x", answer), timing=timing)) == seconds


@pytest.mark.parametrize("phase", ["prefill", "decode"])
def test_what_was_broken_off_is_recognised_in_the_answer_after_it(phase: str) -> None:
    [plan] = planned(phases=[phase])
    bench, exchanges = ran(plan)
    broken = next(e for e in exchanges if e.cancelled)
    marker = _first_paper(broken)
    victim = next(e for e in exchanges if e.part is Part.VICTIM and e.tenant != broken.tenant)
    response = replace(victim.response, text=f"{victim.response.text} {marker}")
    found = [replace(e, response=response) if e is victim else e for e in exchanges]
    verdict = bench.judge(*found)
    assert verdict.verdict_class is VerdictClass.LEAK
    [owner] = {s.owner for s in verdict.signals if s.owner}
    assert (owner.tenant, owner.exchange) == (broken.tenant, broken.index)


def test_an_exchange_that_was_broken_off_is_not_counted() -> None:
    [plan] = planned(phases=["decode"])
    bench, exchanges = ran(plan)
    verdict = bench.judge(*exchanges)
    assert [each.counted for each in verdict.exchanges] == [False, True, True]


def test_without_streams_only_a_prefill_can_be_broken_off() -> None:
    prefill, decode = planned(replace(VIEW, lacks=frozenset({Feature.STREAM})))
    assert isinstance(prefill, TrialPlan)
    assert isinstance(decode, Impossible)
    assert "streaming" in decode.reason


SMALL = TokenLimit(tokens=4096, source="v1_models.max_model_len")


def test_a_prompt_over_a_small_limit_is_refused_and_others_are_asked_after_it() -> None:
    view = replace(VIEW, limits=(SMALL, TokenLimit(tokens=100_000, source="config")))

    def limited(asked, expectation):
        if not expectation.boundary:
            return perfect(asked, expectation)
        refused = Failure(kind=FailureKind.REFUSED, detail="too long", code=400)
        exchange = an_exchange("", None, index=2, part=Part.DONOR, failure=refused, http_status=400)
        return replace(exchange, request=asked, expectation=expectation)

    [plan] = planned(view, phases=["over"])
    assert plan.budget is BudgetKind.BOUNDARY
    assert plan.price.answered_tokens - plan.price.refused_tokens > 4096
    bench, exchanges = ran(plan, limited)
    assert [e.part.value for e in exchanges] == ["donor"] * 3 + ["victim"] * 2
    over = exchanges[2]
    assert over.refused
    assert over.expectation.size_tokens - over.expectation.size_error_tokens > 4096
    assert {e.tenant for e in exchanges[3:]} == {"tenant-a", "tenant-b"}
    assert bench.judge(*exchanges).outcome is Outcome.GOOD


def test_a_large_limit_is_left_to_the_probe_of_boundaries() -> None:
    view = replace(VIEW, limits=(TokenLimit(tokens=100_000, source="config"),))
    phases = [plan.arguments["phase"] for plan in planned(view, phases=["prefill", "over"])]
    assert phases == ["prefill"]
    [impossible] = planned(view, phases=["over"])
    assert isinstance(impossible, Impossible)


def _first_paper(exchange: Exchange) -> str:
    text = exchange.request.text()
    return text[text.index("holds the paper ") + len("holds the paper ") :].split(".")[0]
