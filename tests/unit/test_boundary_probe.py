"""Where the boundary probe stands, by what it can know of the tokenizer."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.longtext import SENTENCES, assumed_ruler, filler, measured_ruler, with_needles
from monitor.model import Exchange
from monitor.probes.base import TokenLimit, TrialPlan
from monitor.probes.boundary import PROBE, Params
from monitor.probes.standing import BAND_MARGIN_TOKENS, OUTPUT_TOKENS
from tests.builders import Bench
from tests.contract.test_probes import VIEW
from tests.fakes.session import FakeSession, perfect


def victims(limit: int, side: str, *, counts: bool = False) -> list[Exchange]:
    view = replace(VIEW, limits=(TokenLimit(tokens=limit, source="config"),))
    params = Params(sides=(side,))
    [plan] = [p for p in PROBE.plan(view, params, Random(1)) if isinstance(p, TrialPlan)]
    session = FakeSession(bench=Bench(), plan=plan, target=view, answer=perfect, counts=counts)
    asyncio.run(PROBE.run(plan, session))
    return [e for e in session.exchanges if e.expectation.boundary]


def size(exchange: Exchange) -> int:
    return len(exchange.request.text()) // 4


@pytest.mark.parametrize("limit", [1500, 4096, 16_000, 131_072, 1_048_576])
@pytest.mark.parametrize("counts", [False, True])
def test_under_fits_outside_the_band_and_over_exceeds_the_limit(limit: int, counts: bool) -> None:
    [under] = victims(limit, "under", counts=counts)
    [over] = victims(limit, "over", counts=counts)
    assert size(under) + OUTPUT_TOKENS + BAND_MARGIN_TOKENS <= limit
    assert size(over) > limit
    assert size(under) > 0.93 * (limit - OUTPUT_TOKENS) - 80


@pytest.mark.parametrize("side", ["under", "over"])
def test_the_stated_size_is_true_within_its_stated_error(side: str) -> None:
    for counts in (False, True):
        [victim] = victims(4096, side, counts=counts)
        expectation = victim.expectation
        assert expectation.size_tokens is not None
        error = max(expectation.size_error_tokens, 1)
        assert abs(size(victim) - expectation.size_tokens) <= error
        assert (expectation.size_error_tokens == 0) == counts


def test_donors_fill_more_than_one_page_and_go_first() -> None:
    view = replace(VIEW, limits=(TokenLimit(tokens=4096, source="config"),))
    [plan, _] = PROBE.plan(view, Params(), Random(1))
    session = FakeSession(bench=Bench(), plan=plan, target=view)
    asyncio.run(PROBE.run(plan, session))
    parts = [e.part.value for e in session.exchanges]
    assert parts == ["donor", "donor", "victim"]
    assert all(size(e) > 128 for e in session.exchanges[:2])
    assert session.exchanges[0].tenant != session.exchanges[2].tenant


@given(st.integers(0, 3000), st.integers(1, 4))
def test_filler_has_so_many_sentences_and_needles_keep_their_order(sentences, needles) -> None:
    marks = [f"NEEDLE{i}" for i in range(needles)]
    text = with_needles(sentences, marks, Random(sentences))
    places = [text.index(mark) for mark in marks]
    assert places == sorted(places)
    assert len(filler(sentences)) == sentences


@given(st.floats(2, 6), st.integers(5, 200), st.integers(2, 6), st.integers(1, 500))
def test_a_measured_ruler_is_exact_for_a_linear_tokenizer(rate, overhead, few, more) -> None:
    per_sentence = round(44 / rate)
    points = [
        (n * len(SENTENCES), overhead + n * len(SENTENCES) * per_sentence)
        for n in (few, few + more)
    ]
    ruler = measured_ruler(*points)
    assert ruler is not None
    assert ruler.tokens(1000) == overhead + 1000 * per_sentence


@pytest.mark.parametrize(
    "points", [((16, 300), (40, 300)), ((16, 1), (40, 2)), ((40, 9), (16, 99))]
)
def test_counts_that_cannot_be_true_measure_nothing(points) -> None:
    assert measured_ruler(*points) is None
    assert not assumed_ruler(500).measured


def planned(limits: tuple[int, ...], **params: object) -> list[TrialPlan]:
    stated = tuple(TokenLimit(tokens=tokens, source="config") for tokens in limits)
    found = PROBE.plan(replace(VIEW, limits=stated), Params(**params), Random(1))
    return [plan for plan in found if isinstance(plan, TrialPlan)]


def stand(plan: TrialPlan, limits: tuple[int, ...]) -> Exchange:
    stated = tuple(TokenLimit(tokens=tokens, source="config") for tokens in limits)
    view = replace(VIEW, limits=stated)
    session = FakeSession(bench=Bench(), plan=plan, target=view, answer=perfect)
    asyncio.run(PROBE.run(plan, session))
    return session.exchanges[-1]


def test_inside_stands_at_parts_of_the_smallest_limit_at_their_own_price() -> None:
    limits = (65_536, 16_384)
    inside = [p for p in planned(limits, inside=(2, 4, 8)) if p.stratum.startswith("inside-")]
    assert [p.stratum.partition("/")[0] for p in inside] == [
        "inside-8192",
        "inside-4096",
        "inside-2048",
    ]
    assert inside[0].price.answered_tokens > inside[1].price.answered_tokens
    for plan in inside:
        exchange = stand(plan, limits)
        tokens = plan.arguments["tokens"]
        assert 0.9 * tokens - 80 < size(exchange) <= tokens
        assert exchange.expectation.boundary == "under"
        assert exchange.expectation.limit_tokens == 16_384


def test_what_a_donor_shows_already_is_not_asked_inside() -> None:
    inside = [p.stratum for p in planned((4096,), inside=(2, 8)) if "inside" in p.stratum]
    assert inside == ["inside-2048/c1/cold/plain/pair"]


def test_the_band_is_where_either_answer_is_right() -> None:
    [plan] = planned((4096,), sides=("band",))
    exchange = stand(plan, (4096,))
    assert 4096 - OUTPUT_TOKENS - BAND_MARGIN_TOKENS <= size(exchange) <= 4096
    assert plan.price.refused_tokens < plan.price.answered_tokens
