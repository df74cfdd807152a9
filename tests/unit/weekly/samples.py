"""Reports with a row in every table, made of the types of their fields."""

from __future__ import annotations

import dataclasses
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from typing import Any

from monitor.weekly.record import (
    CellRow,
    CellState,
    ChainHead,
    DayRow,
    FindingRow,
    Judgement,
    TargetRow,
    TrendRow,
    WeeklyReport,
)
from monitor.weekly.tables import TITLES, Column, columns_of, row_type
from monitor.weekly.week import Week

WEEK = Week.parse("2026-W45")


def a_row(record: Any, text: str = "glm", **given: Any) -> Any:
    """Return a row whose texts are all ``text``, whatever else they are."""
    return record(**{c.name: _value(c, text) for c in columns_of(record)} | given)


def _value(column: Column, text: str) -> Any:
    if issubclass(column.kind, Enum):
        return next(iter(column.kind))
    return {
        str: text,
        bool: True,
        int: 7,
        float: 0.25,
        tuple: (text, text),
        date: date(2026, 11, 3),
        datetime: WEEK.since + timedelta(days=1, seconds=2, milliseconds=345),
    }[column.kind]


def a_report(text: str = "glm", **tables: Any) -> WeeklyReport:
    """Return a report with a row in each table, but those that are given."""
    rows = {name: (a_row(row_type(name), text),) for name in TITLES}
    return WeeklyReport(
        davylamp_version="1.2.3",
        environment="lab",
        week=WEEK.label,
        since=WEEK.since,
        until=WEEK.until,
        has_data=True,
        judgement=Judgement.BAD,
        chain=ChainHead(seq=3, hash="ab" * 32, at=datetime(2026, 11, 8, tzinfo=UTC)),
        **(rows | tables),
    )


def a_cell(state: CellState, **given: Any) -> CellRow:
    """Return a cell of a map."""
    fields = {"target": "glm", "shape": "canary", "length": "short", "concurrency": "c1"}
    counts = {"good": 0, "bad": 0, "errors": 0, "invalid": 0, "bad_at_most": 1.0}
    return CellRow(**(fields | counts | {"state": state} | given))


def a_week(**given: Any) -> TrendRow:
    """Return a week of a target without any exchange."""
    counts = {"good": 0, "bad": 0, "errors": 0, "invalid": 0}
    bounds = {"bad_ratio": None, "bad_at_least": 0.0, "bad_at_most": 1.0}
    return TrendRow(**({"target": "glm", "week": WEEK.label} | counts | bounds | given))


def a_finding(**given: Any) -> FindingRow:
    """Return a finding that nobody closed."""
    fields = {"finding_class": "LEAK", "state": "confirmed", "closed_at": None, "closed_by": ""}
    return dataclasses.replace(a_row(FindingRow), **(fields | given))


__all__ = ["WEEK", "DayRow", "TargetRow", "a_cell", "a_finding", "a_report", "a_row", "a_week"]
