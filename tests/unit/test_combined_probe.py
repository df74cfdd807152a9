"""combined: every pair of axis values meets in some cell, and cells do what they say."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import astuple, replace
from itertools import combinations, product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model import Exchange, Part
from monitor.planning import plan_pass, profile_choices
from monitor.probes.base import Feature, TargetView, TrialPlan
from monitor.probes.combined import PROBE, Cell, Params, cells
from tests.builders import Bench
from tests.contract.test_probes import TENANTS, VIEW
from tests.fakes.session import FakeSession

AXES = (
    ("short", "pages", "long"),
    ("cold", "warm", "returning"),
    ("one", "pair"),
    ("plain", "stream", "tools"),
)


def pairs(rows: Iterable[tuple[object, ...]]) -> set[tuple[object, ...]]:
    return {(i, j, row[i], row[j]) for row in rows for i, j in combinations(range(len(row)), 2)}


@given(concurrency=st.lists(st.integers(1, 32), min_size=1, max_size=6, unique=True))
def test_every_possible_pair_of_values_is_in_some_cell(concurrency: list[int]) -> None:
    lengths, caches, tenants, transports = AXES
    possible = [
        row
        for row in product(lengths, caches, concurrency, tenants, transports)
        if not (row[1] == "warm" and row[0] == "short") and not (row[3] == "pair" and row[2] == 1)
    ]
    found = [astuple(cell) for cell in cells(VIEW, concurrency)]
    assert set(found) <= set(possible)
    assert pairs(found) == pairs(possible)
    assert len(found) < len(possible) / 2


def test_what_a_target_lacks_is_in_no_cell() -> None:
    alone = replace(VIEW, tenants=TENANTS[:1], lacks=frozenset({Feature.TOOLS, Feature.STREAM}))
    found = cells(alone, (1, 2))
    assert {cell.tenants for cell in found} == {"one"}
    assert {cell.transport for cell in found} == {"plain"}


def test_returning_sessions_and_large_bursts_are_not_gentle() -> None:
    plan = plan_pass(VIEW, profile_choices("deep", ("combined",)), rng=Random(1))
    assert all(cell_of(trial).gentle for trial in plan.trials)
    held = [gap for gap in plan.not_probed if gap.code == "not_gentle"]
    assert any("/returning/" in gap.stratum for gap in held)
    assert any("/c32/" in gap.stratum for gap in held)
    harsh = plan_pass(
        replace(VIEW, gentle=False), profile_choices("deep", ("combined",)), rng=Random(1)
    )
    assert len(harsh.trials) == len(plan.trials) + len(held)


def cell_of(plan: TrialPlan) -> Cell:
    cell: Cell = plan.arguments["cell"]
    return cell


def sent(cell: Cell, view: TargetView = VIEW) -> list[Exchange]:
    params = Params(concurrency=(cell.concurrency,))
    plans = [p for p in PROBE.plan(view, params, Random(2)) if isinstance(p, TrialPlan)]
    plan = replace(plans[0], arguments={**plans[0].arguments, "cell": cell})
    session = FakeSession(bench=Bench(), plan=plan, target=view)
    asyncio.run(PROBE.run(plan, session))
    return session.exchanges


def a_cell(**fields: object) -> Cell:
    values = {
        "length": "pages",
        "cache": "cold",
        "concurrency": 3,
        "tenants": "pair",
        "transport": "plain",
    }
    return Cell(**(values | fields))  # type: ignore[arg-type]


def test_a_warm_cell_shares_one_beginning_that_was_sent_before() -> None:
    first, *members = sent(a_cell(cache="warm"))
    assert first.part is Part.DONOR
    beginnings = {e.request.messages[0].content for e in (first, *members)}
    assert len(beginnings) == 1
    assert len(members) == 3
    assert len({e.request.messages[-1].content for e in members}) == 3


def test_a_cold_cell_shares_nothing() -> None:
    found = sent(a_cell())
    assert len({e.request.messages[0].content for e in found}) == 3
    assert {e.tenant for e in found} == {e.tenant for e in found[:2]}
    assert len({e.tenant for e in found}) == 2


@pytest.mark.parametrize("transport", ["plain", "stream", "tools"])
def test_sessions_return_after_load_and_are_asked_what_they_were_told(transport: str) -> None:
    found = sent(a_cell(cache="returning", transport=transport))
    parts = [e.part for e in found]
    assert parts[:3] == [Part.TURN] * 3
    assert parts[3:5] == [Part.CONTROL] * 2
    told = [e.expectation.answers[0].any_of[0] for e in found[:3]]
    recalled = [e for e in found[5:] if e.expectation.answer_task == "recalled"]
    assert sorted(e.expectation.answers[0].any_of[0] for e in recalled) == sorted(told)
    for exchange in recalled:
        assert exchange.expectation.answers[0].any_of[0] in exchange.request.text()
        assert exchange.request.stream is (transport == "stream")
    assert any(e.expectation.tool for e in found) is (transport == "tools")


def test_the_long_beginning_fits_the_smallest_limit() -> None:
    [exchange, *_] = sent(a_cell(length="long"))
    assert 1500 < len(exchange.request.text()) < 4096 * 3
    unlimited = sent(a_cell(length="long"), replace(VIEW, limits=()))
    assert len(unlimited[0].request.text()) > 10_000
