"""prefix: a beginning at the edge of a block, a control with its own, a longer first ending."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.longtext import cut_to
from monitor.model import Exchange, Outcome, Part, VerdictClass
from monitor.probes.base import TrialPlan
from monitor.probes.prefix import HARSH_TOKENS, OFFSETS, PROBE
from tests.builders import failures
from tests.fakes.session import CHARACTERS_PER_TOKEN, perfect
from tests.unit.probe_runs import TENANTS, VIEW, Ran, planned, ran

BLOCKS = (16, 32, 64, 128)


def sent(done: Ran, part: Part) -> list[Exchange]:
    return [e for e in done.exchanges if e.part is part]


def beginning(exchange: Exchange) -> str:
    return exchange.request.messages[0].content


def one(**params) -> Ran:
    [plan] = planned(PROBE, **params)
    return ran(PROBE, plan, counts=True)


def test_control_then_donor_then_followers_who_share_the_donors_beginning() -> None:
    done = one()
    assert [e.part for e in done.exchanges] == [
        Part.CONTROL,
        Part.DONOR,
        Part.MEMBER,
        Part.MEMBER,
    ]
    [donor], [control] = sent(done, Part.DONOR), sent(done, Part.CONTROL)
    for follower in sent(done, Part.MEMBER):
        assert beginning(follower) == beginning(donor)
        assert beginning(follower) != beginning(control)
        assert len(follower.request.text()) < len(donor.request.text())
    [compared] = done.compared("warm")
    assert compared.expectation.reference == control.index
    assert compared.request.messages[1:] == control.request.messages[1:]


def test_where_tokens_are_counted_a_beginning_ends_at_the_edge_of_its_block() -> None:
    plans = planned(PROBE, pairs=12, blocks=BLOCKS, modes=("together",))
    offsets = set()
    for plan in plans:
        block = int(plan.stratum.split("/")[0].removeprefix("block"))
        done = ran(PROBE, plan, counts=True)
        for exchange in done.exchanges:
            tokens = len(beginning(exchange)) // CHARACTERS_PER_TOKEN
            assert tokens == plan.arguments["setting"].tokens
            nearest = round(tokens / block)
            offsets.add((block, tokens - nearest * block))
            # An odd multiple is the edge of this block and of no larger one.
            assert nearest % 2 == 1
    assert offsets == {(block, offset) for block in BLOCKS for offset in OFFSETS}


def test_where_tokens_are_not_counted_a_beginning_is_about_as_long() -> None:
    [plan] = planned(PROBE)
    tokens = plan.arguments["setting"].tokens
    for exchange in ran(PROBE, plan).exchanges:
        assert 3.4 * tokens <= len(beginning(exchange)) <= 4.6 * tokens


@given(
    tokens=st.integers(40, 1000),
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=5),
)
def test_a_cut_is_exact_or_says_that_it_is_not(tokens: int, sizes: list[int]) -> None:
    """With tokenizers that split words into pieces of any sizes."""

    async def count(text: str) -> int:
        return sum(-(-len(word) // sizes[len(word) % len(sizes)]) for word in text.split())

    async def cut() -> tuple[str, bool, int]:
        text, exact = await cut_to(tokens, "Logbook 123456789.", count)
        return text, exact, await count(text)

    text, exact, counted = asyncio.run(cut())
    assert text.startswith("Logbook 123456789. ")
    assert exact == (counted == tokens)


@given(counted=st.integers(-5, 10**15))
def test_a_target_that_counts_nonsense_gets_no_giant_prompt(counted: int) -> None:
    async def count(text: str) -> int:
        return counted

    text, _ = asyncio.run(cut_to(192, "Logbook 1.", count))
    assert len(text) < 192 * 12


def test_tenants_are_a_pair_and_one_in_turn() -> None:
    plans = planned(PROBE, **PROBE.presets["standard"])
    for plan in plans:
        tenants = {e.tenant for e in ran(PROBE, plan).exchanges}
        assert len(tenants) == (2 if plan.stratum.endswith("/pair") else 1)
    assert {plan.stratum.rsplit("/", 1)[1] for plan in plans} == {"pair", "one"}
    alone = planned(PROBE, replace(VIEW, tenants=TENANTS[:1]), pairs=4)
    assert {plan.stratum.rsplit("/", 1)[1] for plan in alone} == {"one"}


@pytest.mark.parametrize("engine", ["vllm", "sglang", ""])
def test_salted_ones_share_nothing_a_cache_could_use(engine: str) -> None:
    view = replace(VIEW, engine=engine)
    [plan] = planned(PROBE, view, modes=("salted",))
    assert plan.stratum.split("/")[2] == "salted"
    shared = [e for e in ran(PROBE, plan, view=view).exchanges if e.part is not Part.CONTROL]
    if engine == "vllm":
        assert len({beginning(e) for e in shared}) == 1
        assert len({e.request.cache_salt for e in shared} - {""}) == len(shared)
    else:
        assert len({beginning(e).splitlines()[0] for e in shared}) == len(shared)
        assert {e.request.cache_salt for e in shared} == {""}


def test_a_kept_tail_of_the_donor_is_foreign() -> None:
    [plan] = planned(PROBE)
    done = ran(PROBE, plan)
    [donor] = sent(done, Part.DONOR)
    tail = donor.request.messages[1].content[-60:]
    kept = [
        replace(e, response=replace(e.response, text=f"{e.response.text} {tail}"))
        if e.part is Part.MEMBER
        else e
        for e in done.exchanges
    ]
    assert done.bench.judge(*kept).verdict_class is VerdictClass.LEAK


def test_what_is_right_after_another_beginning_only_is_a_difference() -> None:
    def forgets_when_shared(request, expectation):
        if expectation.comparison == "warm":
            return "I cannot tell."
        return perfect(request, expectation)

    [plan] = planned(PROBE)
    verdict = ran(PROBE, plan, forgets_when_shared).verdict()
    assert ("REPLAY", "differs") in failures(verdict)
    assert verdict.outcome is Outcome.BAD


def test_very_long_beginnings_are_not_for_production() -> None:
    [short], [long] = planned(PROBE), planned(PROBE, tokens=2 * HARSH_TOKENS)
    assert short.gentle
    assert not long.gentle


def test_each_mode_is_asked_within_one_tenant_and_across_two() -> None:
    params = PROBE.params.model_validate(PROBE.presets["standard"])
    asked = {
        (plan.arguments["setting"].mode, plan.stratum.rsplit("/", 1)[1])
        for plan in PROBE.plan(VIEW, params, Random(4))
        if isinstance(plan, TrialPlan)
    }
    assert asked == {(mode, who) for mode in params.modes for who in ("one", "pair")}
