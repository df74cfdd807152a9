"""A report as files: a page, JSON, and each of its tables as CSV and Parquet.

The same report gives the same bytes.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from enum import Enum, StrEnum
from typing import Any

from monitor.weekly.html import html_of
from monitor.weekly.record import WeeklyReport
from monitor.weekly.tables import Column, Table, instant_text, tables_of

# In a spreadsheet, a text that begins with one of these is a formula.
_SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20"
# One that takes another separator for its own begins a text behind each of these.
_FORMULA = re.compile(rf"(^|[;|\t\r\n])(?=[\"'\s]*[{_SIGNS}]|[\t\r])")

JSON_FILE = "report.json"


class Format(StrEnum):
    """What a report may be written as."""

    HTML = "html"
    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"


def files_of(report: WeeklyReport, formats: Sequence[Format]) -> Mapping[str, bytes]:
    """Return the content of every file of a report by its name."""
    files: dict[str, bytes] = {}
    if Format.HTML in formats:
        files["report.html"] = html_of(report, [each.value for each in formats])
    if Format.JSON in formats:
        files[JSON_FILE] = json_of(report)
    for table in tables_of(report):
        if Format.CSV in formats:
            files[f"{table.name}.csv"] = csv_of(table)
        if Format.PARQUET in formats:
            files[f"{table.name}.parquet"] = parquet_of(table)
    return files


def json_of(report: WeeklyReport) -> bytes:
    """Return the report as JSON, in ASCII: whatever stands in it is plain there."""
    head, *tables = tables_of(report)
    said = dict(_plain_rows(head)[0])
    said |= {table.name: _plain_rows(table) for table in tables}
    return (json.dumps(said, indent=1, ensure_ascii=True, allow_nan=False) + "\n").encode("ascii")


def _plain_rows(table: Table) -> list[dict[str, Any]]:
    names = [column.name for column in table.columns]
    return [dict(zip(names, map(_plain, row), strict=True)) for row in table.rows]


def _plain(value: Any) -> Any:
    match value:
        case Enum():
            return value.value
        case datetime():
            return instant_text(value)
        case date():
            return value.isoformat()
        case tuple():
            return [_plain(each) for each in value]
        case _:
            return value


def csv_of(table: Table) -> bytes:
    """Return a table as CSV in UTF-8: no value is an empty field, a list is JSON.

    What a spreadsheet would take for a formula has an apostrophe before it, also behind a semicolon
    or tab, which some take for the separator.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    writer.writerows([[_field(value) for value in row] for row in table.rows])
    return text.getvalue().encode()


def _field(value: Any) -> str:
    plain = _plain(value)
    match plain:
        case None:
            return ""
        case bool():
            return "true" if plain else "false"
        case str():
            return _FORMULA.sub(r"\1'", plain)
        case list():
            return _FORMULA.sub(r"\1'", json.dumps(plain))
        case _:
            return str(plain)


def parquet_of(table: Table) -> bytes:
    """Return a table as Parquet, instants as UTC milliseconds."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema(
        [pa.field(column.name, _arrow_type(column, pa), nullable=True) for column in table.columns]
    )
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    arrays = [
        pa.array(list(_arrow_values(values)), type=field.type)
        for values, field in zip(columns, schema, strict=True)
    ]
    into = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), into, compression="zstd")
    return into.getvalue()


def _arrow_values(values: Sequence[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, Enum):
            yield value.value
        elif isinstance(value, tuple):
            yield list(value)
        else:
            yield value


def _arrow_type(column: Column, pa: Any) -> Any:
    if column.kind is tuple:
        return pa.list_(pa.string())
    if issubclass(column.kind, bool):
        return pa.bool_()
    kinds = {
        int: pa.int64(),
        float: pa.float64(),
        datetime: pa.timestamp("ms", tz="UTC"),
        date: pa.date32(),
    }
    return kinds.get(column.kind, pa.string())
