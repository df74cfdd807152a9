"""What stands in a cell of the page: never rounded to what it is not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from monitor.weekly.cells import cell, duration, heading, percent
from monitor.weekly.tables import tables_of
from tests.unit.weekly.samples import a_report


@given(st.floats(1e-12, 1 - 1e-12))
def test_a_share_is_never_rounded_to_none_or_all(ratio: float) -> None:
    assert percent(ratio) not in {"0 %", "100 %", "0.00 %", "100.00 %", "0.0000 %", "100.0000 %"}


def test_shares_are_told_in_percent() -> None:
    assert [percent(x) for x in (0, 1, 0.5, 0.00012345, 0.999999999)] == [
        *("0 %", "100 %", "50.00 %", "0.01 %"),
        "> 99.9999 %",
    ]


def test_what_is_not_known_is_a_dash_and_zero_is_not() -> None:
    assert [cell("x", value) for value in (None, "", (), 0, 0.0, False)] == [
        *("\u2013", "\u2013", "\u2013", "0", "0", "no")
    ]


def test_durations_have_the_unit_that_fits() -> None:
    assert [duration(x) for x in (7, 90, 7200, 180_000)] == ["7 s", "1.5 min", "2.0 h", "2.1 d"]


def test_headings_are_words() -> None:
    assert heading("bad_at_most") == "bad at most"
    assert heading("failed_ratio") == "failed ratio"


def test_no_two_headings_of_a_table_are_the_same() -> None:
    for table in tables_of(a_report()):
        headings = [heading(column.name) for column in table.columns]
        assert len(headings) == len(set(headings)), table.name


def test_a_budget_that_is_overspent_is_told_in_budgets() -> None:
    assert cell("budget_left", 0.25) == "25.00 %"
    assert cell("budget_left", -4.0) == "spent 5.0 times"
    assert cell("budget_left_low", -543.0) == "at worst spent 544.0 times"
    assert cell("budget_left_high", -1.5) == "at best spent 2.5 times"
    assert cell("budget_left_high", 0.5) == "50.00 %"


def test_what_takes_time_is_told_in_the_unit_that_fits_and_not_called_seconds() -> None:
    for name in ("seconds_to_close", "seconds_exposed", "seconds_held", "median_seconds"):
        assert cell(name, 158_400.0) == "1.8 d"
        assert "time" in heading(name).split()


def test_large_numbers_are_written_out() -> None:
    assert cell("usd", 12_345.67) == "12,346"
    assert cell("usd", 9.876543) == "9.877"
    assert cell("evidence", 1e200) == "1e+200"
