"""Migrations that are broken off, and what makes two stores the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from monitor.store.client import Client, Location, Row, connect
from monitor.store.migrate import Migration, migrate
from monitor.store.rows import TABLES, columns, values
from tests.unit.store.any_row import any_row
from tests.unit.store.samples import NOW

ROWS = 4
TWICE = 2


class BrokenOffError(Exception):
    """What stands for the death of the process."""


class Breaking:
    """A client that dies at its ``point``-th change: before it for even ones, after it for odd."""

    def __init__(self, client: Client, point: int) -> None:
        self._client = client
        self._left = point

    def command(self, sql: str, parameters: Mapping[str, Any] | None = None) -> None:
        self._pass()
        self._client.command(sql, parameters)
        self._pass()

    def insert(
        self, table: str, rows: Sequence[Row], names: Sequence[str], *, token: str = ""
    ) -> None:
        self._pass()
        self._client.insert(table, rows, names, token=token)
        self._pass()

    def query(self, sql: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        return self._client.query(sql, parameters)

    def _pass(self) -> None:
        if self._left == 0:
            raise BrokenOffError
        self._left -= 1


@contextmanager
def database(path: Path) -> Iterator[Client]:
    """Open the embedded engine alone."""
    client = connect(Location(path=path))
    try:
        yield client
    finally:
        client.close()


def broke_off(client: Client, migrations: Sequence[Migration] | None, point: int) -> bool:
    """Migrate up to a point, and say whether there was one."""
    breaking: Any = Breaking(client, point)
    try:
        migrate(breaking, migrations)
    except BrokenOffError:
        return True
    return False


def fill(client: Client, first: int = 0) -> None:
    """Put rows of several hours and days into every table that is there, as far as it is.

    Some are there twice, as after a replay: the tables replace them, and sums must not.
    """
    for kind, table in TABLES.items():
        sql = (
            "SELECT name FROM system.columns WHERE database = currentDatabase() "
            "AND table = {t:String}"
        )
        there = {row[0] for row in client.query(sql, {"t": table})}
        names = columns(kind)
        at = [place for place, name in enumerate(names) if name in there]
        rows = [
            any_row(kind, number, NOW + timedelta(hours=9 * number), version=0)
            for number in range(first, first + ROWS)
        ]
        flat = [[values(row)[place] for place in at] for row in rows]
        for block in (flat, flat[:TWICE]) if there else ():
            client.insert(table, [tuple(row) for row in block], [names[place] for place in at])


def contents(client: Client) -> dict[str, list[Row]]:
    """Return everything two stores must have in common: columns, engines, views and rows."""
    found = {
        "columns": client.query(
            "SELECT table, position, name, type, default_kind, default_expression, "
            "compression_codec, comment FROM system.columns "
            "WHERE database = currentDatabase() ORDER BY table, position"
        ),
        "tables": client.query(
            "SELECT name, engine, engine_full, as_select FROM system.tables "
            "WHERE database = currentDatabase() ORDER BY name"
        ),
        "indices": client.query(
            "SELECT table, name, type, expr FROM system.data_skipping_indices "
            "WHERE database = currentDatabase() ORDER BY table, name"
        ),
    }
    for table, engine, *_ in found["tables"]:
        if engine.endswith("MergeTree"):
            sql = f"SELECT {_shown(found, table)} FROM {table} FINAL ORDER BY ALL"  # noqa: S608
            found[table] = client.query(sql)
    return found


def _shown(found: Mapping[str, list[Row]], table: str) -> str:
    """Return the columns to compare: states as what they come to, and no instant of migrating."""
    names = []
    for owner, _, name, kind, *_ in found["columns"]:
        if owner == table and name != "applied_at":
            is_state = kind.startswith("AggregateFunction")
            # As text, because what is not a number is not even itself.
            names.append(f"toString(finalizeAggregation({name}))" if is_state else f"`{name}`")
    return ", ".join(names)
