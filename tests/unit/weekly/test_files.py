"""Machine formats hold every table whole, and nothing in them acts."""

from __future__ import annotations

import csv
import io
import json
from datetime import datetime
from enum import Enum

import pyarrow.parquet as pq
import pytest

from monitor.weekly.files import Format, csv_of, files_of, json_of, parquet_of
from monitor.weekly.tables import TITLES, Table, tables_of
from tests.unit.weekly.samples import a_report

TABLES = tables_of(a_report())


def plain(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    return list(value) if isinstance(value, tuple) else value


def test_every_table_is_a_file_of_each_format() -> None:
    files = files_of(a_report(), list(Format))
    names = ["report", *TITLES]
    assert set(files) == {"report.html", "report.json"} | {
        f"{name}.{form}" for name in names for form in ("csv", "parquet")
    }


def test_only_the_formats_asked_for_are_written() -> None:
    assert set(files_of(a_report(), [Format.JSON])) == {"report.json"}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_parquet_gives_a_table_back(table: Table) -> None:
    read = pq.read_table(io.BytesIO(parquet_of(table))).to_pylist()
    names = [column.name for column in table.columns]
    assert read == [dict(zip(names, map(plain, row), strict=True)) for row in table.rows]


@pytest.mark.parametrize("name", TITLES)
def test_an_empty_table_keeps_its_columns_and_their_types(name: str) -> None:
    [full] = [table for table in TABLES if table.name == name]
    [none] = [table for table in tables_of(a_report(**{name: ()})) if table.name == name]
    assert pq.read_schema(io.BytesIO(parquet_of(none))) == pq.read_schema(
        io.BytesIO(parquet_of(full))
    )


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_csv_and_json_say_the_same_as_parquet(table: Table) -> None:
    head, *rows = csv.reader(io.StringIO(csv_of(table).decode()))
    assert head == [column.name for column in table.columns]
    assert len(rows) == len(table.rows)
    said = json.loads(json_of(a_report()))
    [read] = [said] if table.name == "report" else said[table.name]
    for name, text, value in zip(head, rows[0], table.rows[0], strict=True):
        shown = read[name]
        if isinstance(value, datetime):
            assert text == shown == f"{value:%Y-%m-%dT%H:%M:%S}.{value.microsecond // 1000:03d}Z"
        elif isinstance(value, bool):
            assert (text, shown) == (str(value).lower(), value)
        elif isinstance(value, tuple):
            assert json.loads(text) == shown == list(value)
        else:
            assert str(shown) == text


def test_a_text_is_no_formula_in_a_spreadsheet() -> None:
    for text in ("=1+1", "+1", "-1", "@x", "\tx"):
        [table] = [t for t in tables_of(a_report(text)) if t.name == "methods"]
        [_, row] = csv.reader(io.StringIO(csv_of(table).decode()))
        assert row == [f"'{text}", f"'{text}"]


def test_what_is_not_known_is_not_zero_in_any_format() -> None:
    [table] = [t for t in tables_of(a_report()) if t.name == "trend"]
    place = [column.name for column in table.columns].index("bad_ratio")
    unknown = tuple(None if n == place else v for n, v in enumerate(table.rows[0]))
    changed = Table(name=table.name, title="", columns=table.columns, rows=(unknown,))
    [_, row] = csv.reader(io.StringIO(csv_of(changed).decode()))
    assert row[place] == ""
    assert pq.read_table(io.BytesIO(parquet_of(changed))).to_pylist()[0]["bad_ratio"] is None


def test_the_same_report_gives_the_same_bytes() -> None:
    assert files_of(a_report(), list(Format)) == files_of(a_report(), list(Format))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=1+1", "'=1+1"),
        ("seen: =x;=HYPERLINK(1)", "seen: =x;'=HYPERLINK(1)"),
        ("a; +1", "a;' +1"),
        ('a;"@x', "a;'\"@x"),
        ("a\t-1", "a\t'-1"),
        ("a|=1", "a|'=1"),
        ("\uff1d1", "'\uff1d1"),
        ("a; b = c, d-e", "a; b = c, d-e"),
    ],
)
def test_no_separator_of_a_spreadsheet_makes_a_formula(text: str, written: str) -> None:
    [table] = [t for t in tables_of(a_report(text)) if t.name == "changes"]
    _, row = csv.reader(io.StringIO(csv_of(table).decode()))
    assert written in row
