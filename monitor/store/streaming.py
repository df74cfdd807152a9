"""Tables as they are in a database, and their rows in order, however many there are.

Rows come by partition (a day, for most tables) and within one by the table's key, so two readings
of the same rows are equal, and memory does not grow with them. No row comes twice (``FINAL``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from monitor.errors import StoreError
from monitor.store.client import Client
from monitor.store.migrate import Migration, shipped

LEDGER = "schema_migrations"
_MADE = re.compile(r"^\s*CREATE TABLE IF NOT EXISTS (\w+)", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_IN_PARTITION = re.compile(r"(?:\w+\()?(\w+)\)?", re.ASCII)
_ROWS_TOGETHER = 20_000
BODIES = "bodies"
_MERGES_ROWS = ("ReplacingMergeTree", "AggregatingMergeTree")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column as the database has it; ``type`` is in ClickHouse's words."""

    name: str
    type: str

    @property
    def is_text(self) -> bool:
        """Whether it is a string that is never null."""
        return self.type in {"String", "LowCardinality(String)"}

    @property
    def is_time(self) -> bool:
        """Whether it is an instant."""
        return re.fullmatch(r"(Nullable\()?DateTime(64)?(\(.*\))?\)?", self.type) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableShape:
    """A table as the database has it: ``key`` is what its rows are sorted by.

    ``time`` is the column that says when a row is of, empty if none does. ``stored_as`` is its
    name in the database, another one in a snapshot.
    """

    name: str
    engine: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    time: str
    stored_as: str

    @property
    def source(self) -> str:
        """What stands behind FROM: the rows, called ``r``, each once."""
        final = " FINAL" if self.engine.endswith(_MERGES_ROWS) else ""
        return f"{self.stored_as} AS r{final}"

    def column(self, name: str) -> Column | None:
        """Return the column of a name."""
        return next((column for column in self.columns if column.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which rows: conditions of ours, and the values of their parameters."""

    conditions: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def also(self, condition: str, **parameters: Any) -> Where:
        """Return what holds both this and a condition."""
        return Where(
            conditions=(*self.conditions, condition), parameters={**self.parameters, **parameters}
        )

    def __str__(self) -> str:
        return " AND ".join(self.conditions) or "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Rows that one query returns, and how many they were when they were counted."""

    where: Where
    rows: int


def table_names(migrations: Sequence[Migration] | None = None) -> tuple[str, ...]:
    """Return the tables that migrations make (by default all of this version), ledger first.

    Some of them may be gone again.
    """
    files = shipped() if migrations is None else migrations
    made = (name for migration in files for name in _MADE.findall(migration.sql))
    return tuple(dict.fromkeys((LEDGER, *made)))


def tables_of(client: Client, prefix: str = "") -> dict[str, TableShape]:
    """Return our tables as this database has them, in the order in which they are made.

    With a ``prefix`` they are those of a snapshot.
    """
    names = [prefix + name for name in table_names()]
    found = client.query(
        "SELECT name, engine, sorting_key, partition_key FROM system.tables "
        "WHERE database = currentDatabase() AND has({names:Array(String)}, name)",
        {"names": names},
    )
    columns: dict[str, list[Column]] = {str(row[0]): [] for row in found}
    for table, name, kind in client.query(
        "SELECT table, name, type FROM system.columns WHERE database = currentDatabase() "
        "AND has({names:Array(String)}, table) AND default_kind NOT IN ('ALIAS', 'MATERIALIZED') "
        "ORDER BY table, position",
        {"names": names},
    ):
        columns[str(table)].append(Column(name=str(name), type=str(kind)))
    shapes = {
        str(name): TableShape(
            name=str(name).removeprefix(prefix),
            stored_as=str(name),
            engine=str(engine),
            columns=tuple(columns[str(name)]),
            key=_names(str(name), str(key)),
            time=_time(str(partition), columns[str(name)]),
        )
        for name, engine, key, partition in found
    }
    return {shapes[name].name: shapes[name] for name in names if name in shapes}


def _names(table: str, key: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in key.split(","))
    if not all(_NAME.fullmatch(name) for name in names):
        msg = f"{table}: its sorting key is not made of columns ({key})"
        raise StoreError(msg)
    return names


def _time(partition: str, columns: Sequence[Column]) -> str:
    named = _IN_PARTITION.fullmatch(partition)
    if named is not None:
        return named[1]
    return next((column.name for column in columns if column.is_time), "")


def in_time_of(shape: TableShape, in_time: int | None) -> Where:
    """Return which rows may be read: of bodies those whose time has not come (``in_time``)."""
    if shape.name != BODIES or in_time is None:
        return Where()
    condition = "(r.held OR r.stored_at > fromUnixTimestamp64Milli({in_time:Int64}))"
    return Where().also(condition, in_time=in_time)


def windows(
    client: Client, shape: TableShape, where: Where, most_rows: int | None = None
) -> list[Window]:
    """Return what to read in turn, in order; each has at most ``most_rows`` where that can be.

    A partition that has more is read in parts that begin with the same columns of the key, and
    small ones are read together, sorted: so few that they fit into memory.
    """
    parts: list[Window] = []
    fits = 0 if shape.name == BODIES else min(_ROWS_TOGETHER, most_rows or _ROWS_TOGETHER)
    for partitions, rows in _together(_counted(client, shape, where, "_partition_id"), fits):
        condition = "has({partitions:Array(String)}, r._partition_id)"
        window = Window(where=where.also(condition, partitions=partitions), rows=rows)
        parts += _split(client, shape, window, 0, most_rows)
    return parts


def _together(found: list[tuple[str, int]], fits: int) -> list[tuple[list[str], int]]:
    parts: list[tuple[list[str], int]] = []
    for partition, rows in found:
        if parts and parts[-1][1] + rows <= fits:
            names, before = parts.pop()
            parts.append(([*names, partition], before + rows))
        else:
            parts.append(([partition], rows))
    return parts


def _split(
    client: Client, shape: TableShape, window: Window, depth: int, most_rows: int | None
) -> list[Window]:
    if most_rows is None or window.rows <= most_rows or depth == len(shape.key):
        return [window]
    name = shape.key[depth]
    column = shape.column(name)
    if column is None or not column.is_text:
        return [window]
    parts: list[Window] = []
    for value, rows in _counted(client, shape, window.where, name):
        where = window.where.also(f"r.{name} = {{k{depth}:String}}", **{f"k{depth}": value})
        parts += _split(client, shape, Window(where=where, rows=rows), depth + 1, most_rows)
    return parts


def _counted(client: Client, shape: TableShape, where: Where, column: str) -> list[tuple[str, int]]:
    sql = (
        f"SELECT r.{column} AS part, count() FROM {shape.source} "  # noqa: S608 - names of ours
        f"WHERE {where} GROUP BY part ORDER BY part"
    )
    return [(str(part), int(rows)) for part, rows in client.query(sql, where.parameters)]


def read(
    client: Client, shape: TableShape, expressions: str, window: Window, form: str
) -> Iterator[bytes]:
    """Yield the rows of a window in a form of the database; ``expressions`` are of ``r``."""
    together = len(window.where.parameters["partitions"]) > 1
    order = ", ".join(f"r.{name}" for name in (*["_partition_id"][:together], *shape.key))
    sql = (
        f"SELECT {expressions} FROM {shape.source} "  # noqa: S608 - names of ours
        f"WHERE {window.where} ORDER BY {order}"
    )
    return client.stream(sql, form, window.where.parameters)
