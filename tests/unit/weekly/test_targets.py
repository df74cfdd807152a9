"""What a week shows of a target against the week before, and its cells."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from monitor.detect.sequence import confidence_sequence
from monitor.weekly.judging import Seen
from monitor.weekly.record import CellRow, CellState, TargetRow, Trend, TrendRow
from monitor.weekly.targets import target_row
from tests.unit.weekly.samples import a_cell, a_week
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


def row_of(weeks: Sequence[TrendRow], cells: Sequence[CellRow] = ()) -> TargetRow:
    return target_row("glm", Seen(known=target(), now=weeks[-1], hours=0), weeks, cells)


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
    assert row_of([before, now]).trend is trend


def test_cells_that_are_neither_clean_nor_failing_are_unknown() -> None:
    cells = [a_cell(state) for state in CellState]
    row = row_of([week(0), week(0)], cells)
    assert (row.cells, row.cells_clean, row.cells_failing, row.cells_unknown) == (7, 1, 1, 5)
