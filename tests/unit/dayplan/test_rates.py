"""Rates: within every budget, never under the floor, by the square-root rule if nothing binds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.dayplan.rates import FLOOR_A_DAY, Cell, allot, risk_prior

PROBES = ("canary", "burst", "boundary")
KINDS = ("ordinary", "boundary")
AMPLE = dict.fromkeys(PROBES, 1e9)


@st.composite
def plans(draw: st.DrawFn) -> tuple[list[Cell], dict[str, float], dict[str, float]]:
    count = draw(st.integers(1, 12))
    cells = [
        Cell(
            probe=draw(st.sampled_from(PROBES)),
            stratum=f"s{number}",
            budget=draw(st.sampled_from(KINDS)),
            tokens=draw(st.integers(1, 1_000_000)),
            prior=draw(st.sampled_from([1.0, 3.0, 10.0, 50.0])),
            fault_rate=draw(st.sampled_from([1.0, 0.1, 0.001])),
        )
        for number in range(count)
    ]
    budgets = {kind: draw(st.integers(0, 20_000_000)) * 1.0 for kind in KINDS}
    most = {probe: draw(st.floats(0.05, 5000)) for probe in PROBES}
    return cells, budgets, most


@given(plans())
def test_no_budget_is_passed_whatever_the_plan(plan) -> None:
    cells, budgets, most = plan
    rates = allot(cells, budgets, most)
    for kind in KINDS:
        spent = sum(rate.a_day * rate.cell.tokens for rate in rates if rate.cell.budget == kind)
        assert spent <= budgets[kind] * (1 + 1e-9)


@given(plans())
def test_no_probe_asks_more_often_than_its_interval_allows(plan) -> None:
    cells, budgets, most = plan
    rates = allot(cells, budgets, most)
    for probe in PROBES:
        assert sum(r.a_day for r in rates if r.cell.probe == probe) <= most[probe] * (1 + 1e-9)


@given(plans())
def test_what_is_affordable_keeps_its_floor(plan) -> None:
    cells, budgets, most = plan
    for rate in allot(cells, budgets, most):
        of_probe = sum(cell.probe == rate.cell.probe for cell in cells)
        floor = min(FLOOR_A_DAY, most[rate.cell.probe] / of_probe)
        assert rate.a_day == 0 or rate.a_day >= floor * (1 - 1e-9)


@given(plans())
def test_what_is_left_out_did_not_fit_and_nothing_dearer_took_its_place(plan) -> None:
    cells, budgets, most = plan
    rates = allot(cells, budgets, most)
    floor = {
        c: min(FLOOR_A_DAY, most[c.probe] / sum(o.probe == c.probe for o in cells)) for c in cells
    }
    for left_out in (rate.cell for rate in rates if not rate.affordable):
        better = [
            rate.cell
            for rate in rates
            if rate.affordable
            and rate.cell.budget == left_out.budget
            and rate.cell.dearness <= left_out.dearness
        ]
        if left_out.tokens > budgets[left_out.budget]:
            continue
        paid = sum(cell.tokens * floor[cell] for cell in better)
        assert paid + left_out.tokens * floor[left_out] > budgets[left_out.budget] * (1 - 1e-9)


@given(plans())
def test_where_nothing_binds_rates_follow_the_square_root_rule(plan) -> None:
    cells, _, _ = plan
    ample = 1e6 * sum(cell.tokens for cell in cells) * 1000
    rates = allot(cells, dict.fromkeys(KINDS, ample), dict.fromkeys(PROBES, 100 * ample))
    for kind in KINDS:
        of_kind = [rate for rate in rates if rate.cell.budget == kind]
        free = [rate for rate in of_kind if rate.a_day > FLOOR_A_DAY * 1.001]
        levels = [rate.a_day / rate.cell.weight for rate in free]
        assert not levels or max(levels) == pytest.approx(min(levels), rel=1e-6)
        if len(free) == len(of_kind) and free:
            spent = sum(rate.a_day * rate.cell.tokens for rate in free)
            assert spent == pytest.approx(ample, rel=1e-6)


@given(plans(), st.floats(0.0, 0.9))
def test_a_reserve_is_left_over_unless_floors_need_it(plan, reserve: float) -> None:
    cells, budgets, most = plan
    whole, kept = allot(cells, budgets, most), allot(cells, budgets, most, reserve=reserve)
    assert [rate.affordable for rate in whole] == [rate.affordable for rate in kept]
    for kind in KINDS:
        of_kind = [rate for rate in kept if rate.cell.budget == kind]
        spent = sum(rate.a_day * rate.cell.tokens for rate in of_kind)
        at_floor = all(rate.a_day <= FLOOR_A_DAY * (1 + 1e-6) for rate in of_kind)
        assert at_floor or spent <= budgets[kind] * (1 - reserve) * (1 + 1e-9)


def test_the_weight_is_the_root_of_prior_over_cost_and_fault_rate() -> None:
    assert Cell(probe="p", stratum="s", budget="b", tokens=400, prior=9).weight == 3 / 20
    assert Cell(probe="p", stratum="s", budget="b", tokens=1, fault_rate=0.25).weight == 2


def test_eight_lengths_are_found_in_the_hours_that_were_simulated() -> None:
    """Eight lengths from 1k to 700k, 20 million tokens a day, uniform prior, every request hit.

    A simulation gave 1.25 h in the mean and 2.9 h for the worst, where equal rates take 2.02 h.
    """
    lengths = [1, 4, 16, 64, 128, 256, 512, 700]
    cells = [
        Cell(probe="boundary", stratum=f"{n}k", budget="boundary", tokens=n * 1000) for n in lengths
    ]
    rates = allot(cells, {"boundary": 20e6}, AMPLE)
    hours = [24 / rate.a_day for rate in rates]
    assert sum(hours) / len(hours) == pytest.approx(1.25, abs=0.01)
    assert max(hours) == pytest.approx(2.9, abs=0.05)
    equal = 24 * sum(cell.tokens for cell in cells) / 20e6
    assert equal == pytest.approx(2.02, abs=0.01)


@pytest.mark.parametrize(
    ("stratum", "changed", "prior"),
    [
        ("short/c1/cold/plain/one", False, 1),
        ("over-4096/c1/cold/plain/pair", False, 10),
        ("under-4000/c1/cold/plain/pair", False, 10),
        ("under-3800/c1/cold/plain/pair", False, 1),
        ("4k/c1/cold/plain/pair", False, 10),
        ("short/c16/cold/plain/one", False, 3),
        ("short/c8/cold/plain/one", True, 5),
        ("over-131072/c32/cold/plain/pair", True, 150),
        ("short", False, 1),
        ("", False, 1),
    ],
)
def test_priors(stratum: str, changed: bool, prior: float) -> None:
    assert risk_prior(stratum, [4096, 131_072], changed=changed) == prior


@given(st.text(max_size=60), st.lists(st.integers(1, 10**9), max_size=4), st.booleans())
def test_any_stratum_has_a_prior(stratum: str, limits: list[int], changed: bool) -> None:
    assert risk_prior(stratum, limits, changed=changed) >= 1
