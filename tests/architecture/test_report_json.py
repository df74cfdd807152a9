"""The documented contract of a weekly report is the one in the code."""

from __future__ import annotations

from dataclasses import fields
from enum import Enum

import pytest

from monitor.weekly.record import REPORT_SCHEMA_VERSION, WeeklyReport
from monitor.weekly.tables import TITLES, columns_of, row_type, tables_of
from tests.architecture.json_pages import fields_of
from tests.architecture.pages import DOCS
from tests.unit.weekly.samples import a_report

PAGE = (DOCS / "report-json.md").read_text("utf-8")
SECTIONS = fields_of(PAGE)
RECORDS = {row_type(name).__name__: row_type(name) for name in TITLES}


@pytest.mark.parametrize("name", RECORDS)
def test_every_field_has_its_line_in_order(name: str) -> None:
    assert SECTIONS[name] == [column.name for column in columns_of(RECORDS[name])]


def test_the_report_has_a_line_for_its_head_and_each_table() -> None:
    head = [column.name for column in tables_of(a_report())[0].columns]
    assert SECTIONS["WeeklyReport"] == [*head, *TITLES]


def test_every_table_of_the_record_is_written() -> None:
    assert set(TITLES) <= {field.name for field in fields(WeeklyReport)}
    assert {f.name for f in fields(WeeklyReport) if f.name not in TITLES} == {
        *("schema_version", "davylamp_version", "environment", "week", "since", "until"),
        *("has_data", "judgement", "chain"),
    }


def test_nothing_is_documented_that_is_not_there() -> None:
    assert SECTIONS.keys() == {*RECORDS, "WeeklyReport"}


def test_version_and_values_stand_in_the_page() -> None:
    assert f"now **{REPORT_SCHEMA_VERSION}**" in PAGE
    for record in RECORDS.values():
        for column in columns_of(record):
            if issubclass(column.kind, Enum):
                assert not [each for each in column.kind if f"`{each.value}`" not in PAGE]
