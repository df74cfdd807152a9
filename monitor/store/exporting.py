"""A table into one file, row by row as the database gives them: memory does not grow with it.

Roll-ups come as finished numbers. What is sealed stays behind unless it is asked for.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import IO

from monitor.errors import StoreError, UsageError
from monitor.store.client import Client
from monitor.store.streaming import (
    Column,
    TableShape,
    Where,
    in_time_of,
    read,
    table_names,
    tables_of,
    windows,
)
from monitor.store.taking import NoRoomError, Taking

SEALED = "sealed"
_STATE = "AggregateFunction("
# In a spreadsheet, a text that begins with one of these is a formula.
_FORMULA = r"'^[=+\\-@\\t\\r]'"
_ROW_GROUP = 50_000

# Rows written, rows in all as counted before, bytes written.
OnProgress = Callable[[int, int, int], None]
OpenEngine = Callable[[], AbstractContextManager[Client]]


class Form(StrEnum):
    """How rows are written."""

    PARQUET = "parquet"
    JSONL = "jsonl"
    CSV = "csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What of a table is exported: without ``columns``, all of them.

    Of bodies those past their time (``retention.in_time``) are not.
    """

    table: str
    form: Form
    columns: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    target: str | None = None
    with_sealed: bool = False
    in_time: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What an export came to; ``left_out`` are the columns that stayed behind."""

    rows: int
    bytes: int
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """Where one Parquet file is made of rows: a folder with room for both, and an engine."""

    folder: Path
    open_engine: OpenEngine


def export(
    client: Client,
    wanted: Wanted,
    out: IO[bytes],
    workshop: Workshop,
    on_progress: OnProgress,
    *,
    most_rows: int | None = None,
) -> Exported:
    """Write the rows that are wanted to ``out``, in order, each once.

    ``most_rows`` is the most that the database gives at once, if it has such a limit. Raises
    ``UsageError`` for a table, column or choice that there is not, before anything is written,
    and ``StoreError`` if rows cannot be read or written.
    """
    shape = _table(client, wanted.table)
    columns = _chosen(shape, wanted)
    left_out = tuple(c.name for c in shape.columns if c.name == SEALED and c not in columns)
    where = _where(shape, wanted)
    parts = windows(client, shape, where, most_rows)
    expected = sum(part.rows for part in parts)
    expressions = _expressions(columns, wanted.form)

    def copied(into: IO[bytes], form: str, so_far: int) -> Exported:
        rows = 0
        for part in parts:
            for piece in read(client, shape, expressions, part, form):
                into.write(piece)
                so_far += len(piece)
                on_progress(rows, expected, so_far)
            rows += part.rows
            on_progress(rows, expected, so_far)
        return Exported(rows=rows, bytes=so_far, left_out=left_out)

    if wanted.form is not Form.PARQUET:
        header = _header(columns) if wanted.form is Form.CSV else b""
        out.write(header)
        return copied(out, "CSV" if wanted.form is Form.CSV else "JSONEachRow", len(header))
    with ExitStack() as tidied:
        with _made_in(workshop.folder):
            scratch = tempfile.TemporaryDirectory(dir=workshop.folder, prefix=".davylamp-export-")
            bench = Path(tidied.enter_context(scratch))
            rows_file, parquet_file = bench / "rows.native", bench / "rows.parquet"
            with rows_file.open("wb+") as rows:
                done = copied(rows, "Native", 0)
                rows.flush()
                with workshop.open_engine() as engine:
                    structure = _structure(client, shape, expressions)
                    _make_parquet(engine, structure, rows.fileno(), parquet_file)
        with parquet_file.open("rb") as made:
            shutil.copyfileobj(made, out)
        return Exported(rows=done.rows, bytes=parquet_file.stat().st_size, left_out=left_out)


@contextmanager
def _made_in(folder: Path) -> Iterator[None]:
    """Say of what the disk refuses here that it is the workshop's, not that of what is written."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        msg = (
            f"{folder}: the Parquet file cannot be made there: {reason} (it takes room for the "
            "rows twice; what goes to stdout is made in the folder that TMPDIR names)"
        )
        raise StoreError(msg) from error


@contextmanager
def file_at(place: Path) -> Iterator[IO[bytes]]:
    """Give a file that stands at ``place``, readable by its owner, only once all is in it.

    A pipe or a device is written to as it is. Raises ``StoreError`` if it cannot be written;
    whatever fails, nothing half done is left.
    """
    place = place.resolve()
    if place.exists() and not place.is_file():
        with _written_as_it_is(place) as file:
            yield file
        return
    try:
        descriptor, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
    except OSError as error:
        raise _unwritable(place, error) from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(place)
    except OSError as error:
        raise _unwritable(place, error) from error
    finally:
        with suppress(FileNotFoundError):
            Path(name).unlink()


@contextmanager
def _written_as_it_is(place: Path) -> Iterator[IO[bytes]]:
    try:
        with place.open("wb") as file:
            yield file
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        msg = f"{place} cannot be written: {reason}"
        raise StoreError(msg) from error


def _unwritable(place: Path, error: OSError) -> StoreError:
    reason = (error.strerror or type(error).__name__).lower()
    return StoreError(f"{place} cannot be written: {reason}; nothing was left there")


def _table(client: Client, name: str) -> TableShape:
    known = tables_of(client)
    if name not in known:
        names = ", ".join(each for each in table_names() if each in known)
        msg = f"--table: no table {name[:64]!r} (use one of: {names})"
        raise UsageError(msg)
    return known[name]


def _chosen(shape: TableShape, wanted: Wanted) -> tuple[Column, ...]:
    if not wanted.columns:
        return tuple(c for c in shape.columns if wanted.with_sealed or c.name != SEALED)
    chosen = []
    for name in dict.fromkeys(wanted.columns):
        column = shape.column(name)
        if column is None:
            names = ", ".join(each.name for each in shape.columns)
            msg = f"--columns: {shape.name} has no column {name[:64]!r} (use any of: {names})"
            raise UsageError(msg)
        if name == SEALED and not wanted.with_sealed:
            msg = f"--columns: {shape.name}.{SEALED} is exported only with --with-sealed"
            raise UsageError(msg)
        chosen.append(column)
    return tuple(chosen)


def _where(shape: TableShape, wanted: Wanted) -> Where:
    where = in_time_of(shape, wanted.in_time)
    for name, sign, instant in (("since", ">=", wanted.since), ("until", "<", wanted.until)):
        if instant is None:
            continue
        if not shape.time:
            msg = f"--{name}: rows of {shape.name} have no time"
            raise UsageError(msg)
        column = f"toDateTime64(r.{shape.time}, 3, 'UTC')"
        condition = f"{column} {sign} {{{name}:DateTime64(3, 'UTC')}}"
        where = where.also(condition, **{name: instant.astimezone(UTC)})
    if wanted.target is not None:
        named = "name" if shape.name == "targets" else "target"
        if shape.column(named) is None:
            msg = f"--target: rows of {shape.name} are of no target"
            raise UsageError(msg)
        where = where.also(f"r.{named} = {{target:String}}", target=wanted.target)
    return where


def _header(columns: tuple[Column, ...]) -> bytes:
    return (",".join(column.name for column in columns) + "\n").encode()


def _expressions(columns: tuple[Column, ...], form: Form) -> str:
    return ", ".join(f"{_expression(column, form)} AS {column.name}" for column in columns)


def _expression(column: Column, form: Form) -> str:
    value = f"r.{column.name}"
    if column.type.startswith(_STATE):
        return f"finalizeAggregation({value})"
    if form is Form.PARQUET:
        return value
    if column.is_time:
        return f"concat(replaceOne(toString({value}), ' ', 'T'), 'Z')"
    if form is Form.CSV and column.is_text:
        return f"if(match({value}, {_FORMULA}), concat('\\'', {value}), {value})"
    return value


def _structure(client: Client, shape: TableShape, expressions: str) -> str:
    """Return names and types of what is selected, as the engine writes them."""
    sql = f"DESCRIBE (SELECT {expressions} FROM {shape.source})"  # noqa: S608 - names of ours
    return ", ".join(f"{row[0]} {row[1]}" for row in client.query(sql))


def _make_parquet(engine: Client, structure: str, rows: int, file: Path) -> None:
    """Make one Parquet file of an open file of rows in the database's own form, in their order.

    Raises ``StoreError`` if the disk does not take all of it.
    """
    try:
        with file.open("wb", buffering=0) as made:
            taking = Taking(made, most_bytes=sys.maxsize)
            with taking.open():
                engine.command(
                    f"SELECT * FROM file('/proc/self/fd/{rows:d}', 'Native', {_text(structure)}) "  # noqa: S608
                    f"INTO OUTFILE '{taking.place}' TRUNCATE FORMAT Parquet SETTINGS "
                    f"max_threads = 1, output_format_parquet_row_group_size = {_ROW_GROUP}, "
                    "output_format_parquet_compression_method = 'zstd', "
                    "storage_file_read_method = 'pread'"
                )
    except NoRoomError as error:
        msg = f"{file.parent.parent}: the Parquet file cannot be made there: {error}"
        raise StoreError(msg) from error


def _text(text: str) -> str:
    """Return our own text as a literal; this place takes no parameter."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
