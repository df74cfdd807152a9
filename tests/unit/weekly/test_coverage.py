"""The coverage map: never probed is as visible as failing, and few is not clean."""

from __future__ import annotations

import math
import re

import pytest

from monitor.store.week_reader import Tally
from monitor.weekly.coverage import (
    LEAST_ANSWERS,
    concurrency_order,
    length_order,
    map_of,
    strata_of,
)
from monitor.weekly.inputs import KnownTarget, Place
from monitor.weekly.pictures import SYMBOLS, map_picture
from monitor.weekly.record import CellRow, CellState
from tests.unit.weekly.samples import a_cell


def place(shape: str, length: str, concurrency: int = 1, cache: str = "cold") -> Place:
    stratum = f"{length}/c{concurrency}/{cache}/plain/one"
    return Place(probe=shape, shape=shape, stratum=stratum)


def target(*planned: Place) -> KnownTarget:
    return KnownTarget(
        name="glm",
        model="m",
        asked=True,
        nodes=(),
        finds_nodes=False,
        objective_ratio=0.999,
        planned=planned,
        gaps=(),
    )


def states(strata: object) -> dict[tuple[str, str, str], CellState]:
    cells = map_of(strata)  # type: ignore[arg-type]
    return {(c.shape, c.length, c.concurrency): c.state for c in cells}


def test_each_cell_says_what_is_known_of_it() -> None:
    planned = [place("canary", "short"), place("pair", "short"), place("pair", "short", 8)]
    found = {
        planned[0]: Tally(good=LEAST_ANSWERS),
        planned[1]: Tally(good=LEAST_ANSWERS - 1),
        place("burst", "short", 8): Tally(good=100, bad=1),
        place("repeat", "short"): Tally(errors=3, invalid=2),
    }
    seen = states(strata_of(target(*planned), "glm", found))
    assert seen["canary", "short", "c1"] is CellState.CLEAN
    assert seen["pair", "short", "c1"] is CellState.FEW
    assert seen["pair", "short", "c8"] is CellState.NEVER_PROBED
    assert seen["burst", "short", "c8"] is CellState.FAILING
    assert seen["repeat", "short", "c1"] is CellState.NOT_ANSWERED
    assert seen["canary", "short", "c8"] is CellState.NOT_PLANNED
    assert len(seen) == 8


def test_strata_of_one_cell_are_added_up() -> None:
    warm, cold = place("canary", "short", cache="warm"), place("canary", "short")
    rows = strata_of(
        target(warm, cold), "glm", {warm: Tally(good=20, errors=1), cold: Tally(good=9)}
    )
    [cell] = map_of(rows)
    assert (cell.good, cell.errors, cell.state) == (29, 1, CellState.CLEAN)
    assert cell.bad_at_most == pytest.approx(1 - 0.05 ** (1 / 29))


def test_a_length_of_one_shape_alone_is_no_cell_of_the_others() -> None:
    rows = strata_of(target(place("canary", "short"), place("boundary", "over-4096")), "glm", {})
    assert set(states(rows)) == {("canary", "short", "c1"), ("boundary", "over-4096", "c1")}


def test_nothing_asked_leaves_everything_possible() -> None:
    [row] = strata_of(target(place("canary", "short")), "glm", {})
    assert (row.planned, row.bad_at_most, row.shown_at_least) == (True, 1.0, None)


def test_what_was_seen_of_a_target_that_is_not_configured_any_more_is_told() -> None:
    [row] = strata_of(None, "gone", {place("canary", "short"): Tally(good=299)})
    assert (row.target, row.planned) == ("gone", False)
    assert row.bad_at_most == pytest.approx(0.01, rel=0.01)
    assert row.shown_at_least == row.bad_at_most


def test_the_least_number_of_answers_would_show_a_fault_in_a_tenth() -> None:
    assert 0.9**LEAST_ANSWERS <= 0.05 < 0.9 ** (LEAST_ANSWERS - 1)
    assert math.isclose(LEAST_ANSWERS, 29)


def test_lengths_and_concurrencies_stand_in_their_order() -> None:
    assert sorted(["128k", "short", "8k", "1.5k", "mixed"], key=length_order) == [
        *("mixed", "short", "1.5k", "8k", "128k")
    ]
    assert sorted(["c32", "c2", "-", "c1"], key=concurrency_order) == ["-", "c1", "c2", "c32"]


def drawn(*cells: CellRow) -> str:
    """Return the map of cells with all that it refers to."""
    picture = map_picture(cells)
    symbols = dict(re.findall(r'<g id="(\w+)">(.*?)</g>', SYMBOLS))
    return picture + "".join(symbols[name] for name in re.findall(r'href="#([^"]+)"', picture))


def test_what_was_never_probed_is_drawn_as_heavily_as_what_fails() -> None:
    def edges(state: CellState, **given: int) -> int:
        return drawn(a_cell(state, **given)).count('stroke-width="3"')

    failing = edges(CellState.FAILING, bad=1)
    for state in (CellState.NEVER_PROBED, CellState.NOT_PLANNED, CellState.NOT_ANSWERED):
        assert edges(state) >= failing > 0, state
    assert edges(CellState.CLEAN) == edges(CellState.FEW) == 0
    assert "#c6e7d4" not in drawn(a_cell(CellState.FEW))
    assert "#c6e7d4" in drawn(a_cell(CellState.CLEAN))


def test_shapes_that_no_plan_asks_at_a_concurrency_share_a_hatched_row_with_their_names() -> None:
    def cells(shape: str, state: CellState) -> list[CellRow]:
        return [a_cell(state, shape=shape, length=length) for length in ("short", "8k")]

    shapes = [f"shape-{number}" for number in range(9)]
    unplanned = [cell for shape in shapes for cell in cells(shape, CellState.NOT_PLANNED)]
    picture = drawn(*cells("canary", CellState.CLEAN), *unplanned)
    assert picture.count(">no plan<") == 2
    assert "9 other shapes" in picture
    assert [shape for shape in shapes if shape not in picture] == []
    assert len(picture) < len(drawn(*unplanned[:2])) + 2_000
    # One alone has a row of its own, and so has one that is only in part without a plan.
    part = [a_cell(CellState.NOT_PLANNED), a_cell(CellState.NEVER_PROBED, length="8k")]
    assert "other shapes" not in drawn(*cells("pair", CellState.NOT_PLANNED), *part)


def test_a_cell_with_a_planned_stratum_that_nobody_judged_is_not_clean() -> None:
    asked, never = place("canary", "short"), place("canary", "short", cache="warm")
    cell = ("canary", "short", "c1")
    of = target(asked, never)
    assert states(strata_of(of, "glm", {asked: Tally(good=100)}))[cell] is CellState.PARTLY
    mute = {asked: Tally(good=100), never: Tally(errors=3)}
    assert states(strata_of(of, "glm", mute))[cell] is CellState.PARTLY
    both = {asked: Tally(good=100), never: Tally(good=1)}
    assert states(strata_of(of, "glm", both))[cell] is CellState.CLEAN
    assert "only in part" in drawn(a_cell(CellState.PARTLY))
    assert "#c6e7d4" not in drawn(a_cell(CellState.PARTLY))


def test_a_planned_stratum_that_is_hardly_judged_is_not_made_up_for_by_another() -> None:
    asked, blind = place("canary", "short"), place("canary", "short", cache="warm")
    found = {asked: Tally(good=168), blind: Tally(good=5, invalid=167)}
    rows = strata_of(target(asked, blind), "glm", found)
    assert set(states(rows).values()) == {CellState.PARTLY}
    half = {asked: Tally(good=168), blind: Tally(good=84, errors=40, invalid=44)}
    rows = strata_of(target(asked, blind), "glm", half)
    assert set(states(rows).values()) == {CellState.CLEAN}
    # Nobody promised to ask what is not planned.
    rows = strata_of(target(asked), "glm", found)
    assert set(states(rows).values()) == {CellState.CLEAN}


def test_a_cell_of_which_less_than_half_could_be_judged_is_not_clean() -> None:
    asked = place("canary", "short")
    found = {asked: Tally(good=LEAST_ANSWERS, invalid=900)}
    assert set(states(strata_of(target(asked), "glm", found)).values()) == {CellState.FEW}
