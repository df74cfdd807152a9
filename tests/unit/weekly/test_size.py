"""The page of a fleet stays small: whatever is alike is drawn or written once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

from monitor.store import open_store
from monitor.store.client import connect
from monitor.store.week_reader import WeekReader
from monitor.weekly.asking import asked_of
from monitor.weekly.computing import compute
from monitor.weekly.html import html_of
from monitor.weekly.inputs import KnownTarget
from monitor.weekly.record import CellState, WeeklyReport
from monitor.weekly.week import Week
from tests.unit.daemon.installed import config_of
from tests.unit.weekly.test_computing import answer

WEEK = Week.parse("2026-W45")
TARGETS = 40
SEED = 20261109
# A third of what a page may be, for as many targets as have pictures.
MOST_BYTES = 1_000_000


def answers(target: KnownTarget, rng: Random) -> Iterator[Any]:
    """Yield verdicts of some strata of a target, each target with others and other outcomes."""
    for place in rng.sample(target.planned, k=rng.randint(5, len(target.planned))):
        for _ in range(rng.randint(1, 3)):
            at = WEEK.since + timedelta(seconds=rng.randrange(7 * 86_400))
            outcome = rng.choices(["good", "bad", "error"], [8, 1, 1])[0]
            given = {"probe": place.probe, "shape": place.shape, "stratum": place.stratum}
            verdict_class = "WRONG" if outcome == "bad" else "none"
            yield from answer(at, outcome, target=target.name, verdict_class=verdict_class, **given)


def report_of(folder: Path) -> WeeklyReport:
    """Return the report of a fleet with one plan, computed from a store."""
    alone = asked_of(config_of(folder), WEEK)
    names = [f"target-{number:02d}" for number in range(TARGETS)]
    asked = replace(alone, targets=tuple(replace(alone.targets[0], name=name) for name in names))
    rng = Random(SEED)
    with open_store(folder / "davylamp-data") as store:
        store.writer.put([row for target in asked.targets for row in answers(target, rng)])
        store.writer.flush()
        with closing(WeekReader(connect(store.location, read_only=True))) as reader:
            return compute(reader, asked)


def test_the_page_of_forty_targets_is_small_and_shows_what_is_bad_and_what_was_not_seen(
    tmp_path: Path,
) -> None:
    report = report_of(tmp_path)
    page = html_of(report).decode()
    assert len(page.encode()) < MOST_BYTES
    for target in report.targets:
        assert page.count(f"<h3>{target.target}</h3>") == 2
    drawn = page[page.index('<h2 id="coverage">') :].split("</h2>")[1]
    states = [cell.state for cell in report.coverage]
    for number, state in enumerate(CellState):
        if state in (CellState.FAILING, CellState.NEVER_PROBED):
            assert drawn.count(f'href="#p{number}"') == states.count(state) > 0
    missed = [row for row in report.objectives if row.attainment == "missed"]
    shown = page[page.index('<h2 id="objectives">') :].split("</table>")[0]
    assert shown.count("<td class=missed>") == len(missed) > 0
    assert page.index(f"all {TARGETS} targets") < page.index('<h2 id="findings">')
