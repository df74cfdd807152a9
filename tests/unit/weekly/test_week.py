"""Weeks are those of ISO 8601, in UTC."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.weekly.week import Week


@given(st.dates(date(2000, 1, 10), date(2090, 1, 1)))
def test_a_week_is_read_back_from_its_label(day: date) -> None:
    week = Week.of(datetime.combine(day, datetime.min.time(), UTC))
    assert Week.parse(week.label) == week
    assert day in week.days
    assert week.earlier(1).until == week.since
    assert week.until - week.since == timedelta(days=7)
    assert week.label == f"{day.isocalendar().year:04d}-W{day.isocalendar().week:02d}"


@pytest.mark.parametrize(
    "text",
    [
        "2026-W00",
        "2026-W54",
        "2025-W53",
        "2026-48",
        "2026-W4",
        "2026-W48 ",
        "9999-W52",
        "0001-W01",
        "٢٠٢٦-W48",
        "",
    ],
)
def test_what_is_no_week_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Week.parse(text)


def test_a_year_may_have_a_week_53() -> None:
    assert Week.parse("2026-W53").days[-1] == date(2027, 1, 3)


def test_only_a_monday_begins_a_week() -> None:
    with pytest.raises(ValueError, match="no Monday"):
        Week(date(2026, 11, 3))


def test_the_last_week_is_the_one_that_is_over() -> None:
    monday = datetime(2026, 11, 9, tzinfo=UTC)
    assert Week.last_before(monday).label == "2026-W45"
    assert Week.last_before(monday - timedelta(microseconds=1)).label == "2026-W44"
    east = datetime(2026, 11, 9, 1, tzinfo=timezone(timedelta(hours=2)))
    assert Week.last_before(east).label == "2026-W44"
