"""The bench of the store still runs, small, over every panel and question; what it says holds."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from monitor.store.panels import PANELS
from monitor.store.rows import MarkerRow
from tests.bench.store.generate import plan_of
from tests.bench.store.inserting import Rate
from tests.bench.store.page import of_a_pass, of_a_size, of_inserts, of_spooling
from tests.bench.store.passes import HEALTHY, Pass
from tests.bench.store.sized import Task, Weighed, weigh, what_fits
from tests.bench.store.spooling import Task as Rated
from tests.bench.store.spooling import run
from tests.unit.store.any_row import any_row
from tests.unit.store.samples import good, trial, verdict

NOW = datetime(2026, 11, 2, 12, tzinfo=UTC)
MARKER = any_row(MarkerRow, 1, NOW, trial="trial-glm-1", part_hashes=(1, 2, 3, 4))
PASSED = verdict().signals[1:]
PASSES = (
    Pass(
        name=HEALTHY,
        judged=tuple((trial(n), good(n, signals=PASSED)) for n in (1, 2, 3)),
        markers=(MARKER,),  # type: ignore[arg-type]
    ),
    Pass(name="leaks", judged=((trial(1), replace(verdict(1), finding="finding-1")),)),
)
DAYS, VERDICTS = 2, 120


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bench") / "store"


@pytest.fixture(scope="module")
def weighed(folder: Path) -> Weighed:
    task = Task(
        verdicts=VERDICTS,
        days=DAYS,
        older_sums=False,
        spans=("90 d",),
        budget_seconds=0,
        every={"signals": 2},
    )
    return weigh(task, PASSES, folder)


def test_the_tables_hold_what_was_to_be_made(weighed: Weighed) -> None:
    rows = {each.table: each.rows for each in weighed.sizes}
    # A pass that is not well has one verdict here, the others three.
    assert VERDICTS * 0.9 < weighed.verdicts <= VERDICTS
    assert rows["verdicts"] == rows["trials"] == weighed.verdicts
    assert rows["exchanges"] == 2 * rows["trials"]
    assert rows["budget_spent"] == rows["trials"]
    assert 0 < rows["signals"] < weighed.verdicts
    assert rows["verdicts_daily"] >= 20


def test_every_panel_is_asked_and_says_what_single_rows_say(weighed: Weighed) -> None:
    assert {each.panel for each in weighed.asked} == set(PANELS)
    assert {each.span for each in weighed.asked} == {"90 d", "400 d"}
    assert [each.panel for each in weighed.asked if each.naive_failed or each.same is False] == []
    compared = {each.panel for each in weighed.asked if each.same}
    assert {"verdict_classes", "noisiest_checks", "coverage", "tokens"} <= compared


def test_every_question_finds_something(weighed: Weighed) -> None:
    found = {each.question: each.found for each in weighed.answers}
    assert found["a trial by id, with all about it"] == 1
    assert found["all markers (at the start)"] > 0


def test_a_verdict_that_is_put_can_be_read_once(weighed: Weighed, folder: Path) -> None:
    found = run(Rated(rate=200, seconds=0.1, threads=2), PASSES[0].judged, folder)

    assert found.verdicts == 20
    assert found.exactly_once
    assert 0 < found.row_p50 <= found.row_p99 <= found.row_worst
    assert 0 < found.put_p50 <= found.put_p99


def rate(way: str, rows: float) -> Rate:
    return Rate(way=way, rows=rows, verdicts=9, processor_seconds=5e-6)


def test_the_page_says_it(weighed: Weighed) -> None:
    lines = [
        *of_a_pass(PASSES),
        *of_inserts([rate("quick", 900), rate("slow", 9)]),
        *of_spooling({}, 500),
        *of_a_size(weighed),
    ]
    page = "\n".join(lines)
    assert "| `exchanges` | 2.00 |" in page
    assert "| quick | 900 | 9.0 | 100 | 5 |" in page
    assert f"{weighed.verdicts:,} verdicts in 2 days" in page
    assert "`signals` of one in 2;" in page
    assert "| `verdict_classes` | 90 d |" in page
    assert "| NO |" not in page


def test_what_is_not_made_of_every_pass_is_said() -> None:
    assert what_fits(1_000, PASSES) == {}
    assert set(what_fits(10**8, PASSES)) == {"markers", "exchanges", "budget_spent"}


def test_plans_begin_at_a_midnight() -> None:
    plan = plan_of(VERDICTS, PASSES, NOW, days=DAYS)
    assert (plan.passes, plan.start) == (40, NOW - timedelta(days=DAYS))
