"""The drill's report on made-up runs: what is counted, which promise is broken, which exit."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from monitor.reports.drill import DrillReport, RunReport
from monitor.reports.drill_picture import drill_picture
from monitor.reports.drill_summary import Drilled, fault_report, likely, summarise_drill
from monitor.reports.drill_table import drill_page, render_drill
from tests.unit.drill.made_up import (
    CERTAIN,
    QUIET,
    RARE,
    SETTING,
    a_claim,
    a_first,
    a_run,
)

FOUND = a_run(first=a_first(), claims=[a_claim()])
SILENT = a_run("quiet", null=True, rate=0.0, exposed=0)
UNTOLD = RunReport(fault="certain", seed=1001, null=False, told=False, reason="the lab ended early")


def _drill(*runs: RunReport) -> DrillReport:
    return summarise_drill(SETTING, [CERTAIN, QUIET], runs)


def _broken(report: DrillReport) -> set[str]:
    return {promise.promise for promise in report.promises if not promise.kept}


@pytest.mark.parametrize(
    ("runs", "exit_code", "broken"),
    [
        ([FOUND, SILENT], 0, set()),
        ([FOUND, UNTOLD, SILENT], 3, set()),
        ([], 3, set()),
        ([a_run(), SILENT], 1, {"deterministic_detected"}),
        ([a_run(), UNTOLD, SILENT], 1, {"deterministic_detected"}),
        (
            [a_run(first=a_first(), claims=[a_claim(foreign=False, right_owner=None)]), SILENT],
            1,
            {"no_false_leak"},
        ),
        ([a_run(first=a_first(), claims=[a_claim(right_owner=False)]), SILENT], 1, {"right_owner"}),
        ([FOUND, a_run("quiet", null=True, findings=1)], 1, {"nulls_silent"}),
        ([FOUND, a_run("quiet", null=True, confirmations=1)], 1, {"nulls_silent"}),
        (
            [FOUND, a_run("quiet", null=True, first=a_first(hard=False), worst="WRONG")],
            1,
            {"nulls_silent"},
        ),
        (
            [FOUND, a_run("quiet", null=True, claims=[a_claim(foreign=False)], first=a_first())],
            1,
            {"no_false_leak", "nulls_silent"},
        ),
        ([FOUND, a_run("quiet", null=True, wrong=3, worst="WRONG")], 0, set()),
    ],
    ids=[
        "kept", "untold", "nothing run", "missed", "missed and untold", "false leak", "wrong owner",
        "finding in a null", "confirmation in a null", "tolerance exceeded in a null",
        "leak in a null", "mistakes within the tolerance of a null",
    ],
)  # fmt: skip
def test_which_promise_is_broken(runs: list[RunReport], exit_code: int, broken: set[str]) -> None:
    report = _drill(*runs)
    assert report.exit_code == exit_code
    assert _broken(report) == broken


def test_an_untold_run_counts_neither_as_detected_nor_as_silent() -> None:
    report = _drill(FOUND, UNTOLD, SILENT)
    row = report.faults[0]
    assert (row.runs, row.told, row.detected, row.missed_seeds) == (2, 1, 1, [])
    assert any("certain with seed 1001: the lab ended early" in x for x in render_drill(report))


def test_a_promise_does_not_claim_what_no_run_told() -> None:
    quiet = RunReport(fault="quiet", seed=1001, null=True, told=False, reason="the lab ended early")
    words = {promise.promise: promise.words for promise in _drill(UNTOLD, quiet).promises}
    assert words["deterministic_detected"].startswith("0 of ")
    assert " of " in words["nulls_silent"]
    assert words["nulls_silent"].startswith("0 of ")


def test_no_exposure_is_a_miss() -> None:
    row = fault_report(CERTAIN, [a_run(exposed=0)])
    assert row.allowed == 0.0
    assert not row.kept


def test_a_run_that_stopped_is_held_to_the_exposure_of_a_whole_one() -> None:
    whole = a_run("rare", rate=0.5, exposed=10, first=a_first())
    stopped = a_run("rare", 1001, rate=0.1, exposed=1, whole=False, first=a_first())
    row = fault_report(RARE, [whole, stopped])
    assert row.allowed == pytest.approx((1 - 0.5**10 + 1 - 0.9**10) / 2)
    assert row.exposed == 10


def test_a_missed_whole_run_is_held_to_its_own_exposure() -> None:
    runs = [a_run("rare", rate=1.0, exposed=10, first=a_first()), a_run("rare", 1001, exposed=0)]
    row = fault_report(RARE, runs)
    assert row.allowed == 0.5
    assert row.kept


def test_fewer_detections_than_the_exchanges_allow_break_the_promise() -> None:
    missed = [a_run("rare", seed, rate=0.5, exposed=2) for seed in range(1000, 1004)]
    assert fault_report(RARE, missed).fewer_probability == pytest.approx(0.25**4)
    assert not fault_report(RARE, missed).kept
    assert fault_report(RARE, missed[:3]).kept


def test_ordinary_mistakes_are_held_to_the_power_of_the_tolerance() -> None:
    few = a_run("rare", rate=0.2, exposed=20, wrong=4)
    row = fault_report(RARE, [few])
    assert not row.hard
    assert row.allowed < 0.2
    assert row.kept


def test_likely_faults_are_told_from_the_rest() -> None:
    rows = [
        fault_report(CERTAIN, [FOUND]),
        fault_report(RARE, [a_run("rare", rate=0.1, exposed=1)]),
    ]
    assert likely(rows) == (["certain"], ["rare"])


def test_the_reach_of_standard_binds_only_when_all_faults_are_drilled() -> None:
    drilled = [Drilled(name=f"rare-{n}", null=False) for n in range(24)]
    runs = [a_run(each.name, rate=0.1, exposed=1) for each in drilled]
    assert "reach" in _broken(summarise_drill(SETTING, drilled, runs))
    assert "reach" not in _broken(summarise_drill(SETTING, drilled[:23], runs[:23]))
    likely_runs = [a_run(each.name, first=a_first()) for each in drilled[:20]]
    assert "reach" not in _broken(summarise_drill(SETTING, drilled, [*likely_runs, *runs[20:]]))


def test_plans_are_compared_with_spending_over_nulls() -> None:
    price = _drill(FOUND, SILENT).price
    assert (price.runs, price.planned_to_charged, price.planned_to_reported) == (1, 1.0, 1.1)


def test_the_table_says_it_all_and_shouts_what_is_false() -> None:
    claims = [a_claim(), a_claim(foreign=False, right_owner=None)]
    lines = render_drill(_drill(a_run(first=a_first(), claims=claims), SILENT))
    (row,) = [line for line in lines if line.startswith("certain")]
    for words in ("1 of 1", "LEAK", "1 FALSE, 1 of 1", "1.2 s, 20 exchanges, 3000 tokens", "1.00"):
        assert words in row
    assert "BROKEN  1 of 2 verdicts LEAK or CROSSED were false" in lines
    assert lines[-1] == "A PROMISE BROKEN (exit 1)"


def test_the_page_has_a_row_for_each_and_no_open_end() -> None:
    page = drill_page(_drill(FOUND, SILENT))
    assert "| `certain` | 1 of 1 |" in page
    assert "| `quiet` | 0 of 1 |" in page
    assert "2 seeds from 1000" in page
    widths = {line.count("|") for line in page.splitlines() if line.startswith("| `certain`")}
    assert widths == {10}


def test_the_picture_is_svg_with_a_bar_for_each() -> None:
    drawn = drill_picture(_drill(FOUND, SILENT))
    root = ET.fromstring(drawn)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "certain" in texts
    assert "quiet (null)" in texts
    assert sum(element.tag.endswith("polygon") for element in root.iter()) == 1


def test_hostile_names_cannot_break_table_or_picture() -> None:
    name = "<a>|\x1b[31m"
    report = summarise_drill(SETTING, [Drilled(name=name, null=False)], [a_run(name)])
    assert "\x1b" not in "".join(render_drill(report))
    assert "<a>" not in drill_picture(report)


def test_what_is_written_as_json_is_read_back() -> None:
    report = _drill(FOUND, SILENT)
    assert DrillReport.model_validate_json(report.model_dump_json(by_alias=True)) == report
