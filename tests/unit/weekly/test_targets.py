"""The judgement of a target: not enough to tell is never good."""

from __future__ import annotations

from typing import Any

import pytest

from monitor.detect.sequence import confidence_sequence
from monitor.weekly.record import CellState, Judgement, Trend, TrendRow
from monitor.weekly.targets import target_row
from tests.unit.weekly.samples import a_cell, a_finding, a_week
from tests.unit.weekly.test_coverage import target


def week(good: int, bad: int = 0, errors: int = 0, invalid: int = 0) -> TrendRow:
    low, high = confidence_sequence(bad, good + bad)
    return a_week(
        good=good,
        bad=bad,
        errors=errors,
        invalid=invalid,
        bad_ratio=bad / (good + bad) if good + bad else None,
        bad_at_least=low,
        bad_at_most=high,
    )


def judged(now: TrendRow, *findings: Any, known: Any = target()) -> Any:  # noqa: B008 - frozen
    return target_row("glm", known, [week(0), now], findings, [])


def test_enough_good_answers_and_no_finding_are_good() -> None:
    assert judged(week(2_995)).judgement is Judgement.GOOD


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (week(0), "nothing was asked"),
        (week(2_994), "leave up to 0.1000%"),
        (week(5_000, bad=3), "may be bad"),
        (week(3_000, errors=3_001), "could be judged"),
        (week(3_000, invalid=3_001), "could be judged"),
    ],
)
def test_what_does_not_show_that_it_is_good_could_not_be_told(now: TrendRow, words: str) -> None:
    row = judged(now)
    assert row.judgement is Judgement.UNSURE
    assert words in row.why


def test_a_proven_finding_is_bad_however_good_the_answers_are() -> None:
    row = judged(week(10_000), a_finding(finding_class="DRIFT"), a_finding())
    assert (row.judgement, row.why) == (Judgement.BAD, "2 findings, the worst LEAK")


def test_a_finding_that_was_closed_in_the_week_was_one_and_a_dismissed_one_was_none() -> None:
    assert judged(week(10_000), a_finding(state="resolved")).judgement is Judgement.BAD
    assert judged(week(10_000), a_finding(state="dismissed")).judgement is Judgement.GOOD


def test_a_finding_in_review_is_not_yet_anything() -> None:
    row = judged(week(10_000), a_finding(finding_class="SUSPECT", state="needs_review"))
    assert (row.judgement, row.why) == (Judgement.UNSURE, "1 finding in review")


def test_too_many_bad_answers_are_bad_without_a_finding() -> None:
    assert judged(week(1_000, bad=50)).judgement is Judgement.BAD


def test_a_target_that_is_not_configured_any_more_is_never_good() -> None:
    assert judged(week(10_000), known=None).judgement is Judgement.UNSURE


@pytest.mark.parametrize(
    ("before", "now", "trend"),
    [
        (week(1_000), week(900, bad=100), Trend.WORSE),
        (week(900, bad=100), week(1_000), Trend.BETTER),
        (week(1_000), week(1_000, bad=2), Trend.NO_CHANGE_SHOWN),
        (week(0, errors=9), week(1_000), Trend.UNKNOWN),
        (week(1_000), week(0), Trend.UNKNOWN),
    ],
)
def test_a_trend_is_told_only_where_intervals_lie_apart(
    before: TrendRow, now: TrendRow, trend: Trend
) -> None:
    assert target_row("glm", target(), [before, now], [], []).trend is trend


def test_cells_that_are_neither_clean_nor_failing_are_unknown() -> None:
    cells = [a_cell(state) for state in CellState]
    row = target_row("glm", target(), [week(0), week(0)], [], cells)
    assert (row.cells, row.cells_clean, row.cells_failing, row.cells_unknown) == (6, 1, 1, 4)
