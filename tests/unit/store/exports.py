"""Exports, and what is read back of them by the engine."""

from __future__ import annotations

import stat
from contextlib import closing
from pathlib import Path

from monitor.store import Store
from monitor.store.client import Client, Location, connect
from monitor.store.exporting import Exported, Form, Wanted, Workshop, export, file_at
from monitor.store.streaming import Column, TableShape, tables_of

READ_AS = {Form.JSONL: "JSONEachRow", Form.CSV: "CSVWithNames", Form.PARQUET: "Parquet"}
# What the file holds for a text that a spreadsheet would take for a formula.
AS_IN_CSV = r"if(match({0}, '^\'[=+\\-@\\t\\r]'), substring({0}, 2), {0})"


def exported(store: Store, client: Client, file: Path, wanted: Wanted) -> Exported:
    """Export into a file; a server's rows become Parquet in an engine of its own."""
    at = store.location if store.location.url is None else Location(path=file.parent / "engine")
    workshop = Workshop(folder=file.parent, open_engine=lambda: closing(connect(at)))
    with file_at(file) as out:
        return export(client, wanted, out, workshop, lambda rows, expected, size: None)


def read_back(file: Path, shape: TableShape, form: Form) -> str:
    quantiles = "Array(Nullable(Float64))" if form is Form.JSONL else "Array(Float64)"
    types = [
        quantiles if "AggregateFunction(quantiles" in c.type else c.type for c in shape.columns
    ]
    named = (f"{c.name} {kind}" for c, kind in zip(shape.columns, types, strict=True))
    structure = ", ".join(named).replace("'", "\\'")
    return f"file('{file}', '{READ_AS[form]}', '{structure}')"


def content(engine: Client, source: str, values: list[str]) -> tuple[int, int]:
    sql = f"SELECT count(), sum(cityHash64(tuple({', '.join(values)}))) FROM {source}"  # noqa: S608
    [(rows, total)] = engine.query(f"{sql} SETTINGS date_time_input_format = 'best_effort'")
    return rows, total


def stored_value(column: Column, form: Form) -> str:
    if "AggregateFunction(quantiles" not in column.type:
        return column.name
    finished = f"finalizeAggregation({column.name})"
    return f"arrayMap(x -> if(isNaN(x), NULL, x), {finished})" if form is Form.JSONL else finished


def assert_read_back(store: Store, engine: Client, folder: Path, table: str, form: Form) -> None:
    """Export a table with all it has, and see that the file holds the very rows."""
    shape = tables_of(engine)[table]
    file = folder / f"{table}.{form}"
    with closing(connect(store.location, read_only=True)) as client:
        done = exported(store, client, file, Wanted(table=table, form=form, with_sealed=True))
    is_text = form is Form.CSV
    there = [AS_IN_CSV.format(c.name) if is_text and c.is_text else c.name for c in shape.columns]
    kept = content(engine, shape.source, [stored_value(c, form) for c in shape.columns])
    assert content(engine, read_back(file, shape, form), there) == kept, table
    assert done.rows == kept[0] > 0, table
    assert done.bytes == file.stat().st_size
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
