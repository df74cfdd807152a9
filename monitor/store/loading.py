"""Rows of a backup into empty tables: all of them, or the store says that it is not whole.

The tables are made as they were when the backup was taken. The views that add up roll-ups are
away while rows come in, because the backup has the sums; then they are made again. What was
broken off anywhere begins anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from monitor.errors import StoreError
from monitor.store.backup import FORMAT, Content, content_of
from monitor.store.client import Client
from monitor.store.manifest import Manifest, TableEntry
from monitor.store.migrate import Migration, migrate, shipped
from monitor.store.streaming import LEDGER, TableShape, Where, table_names, tables_of
from monitor.store.unfinished import is_unfinished, put_up_sign

_VIEW = re.compile(r"\s*CREATE MATERIALIZED VIEW IF NOT EXISTS (\w+)")
_OF_A_NEW_STORE = ("begin", "migrate", "retention")

# A table that is begun, rows so far, rows in all, bytes of files so far.
OnRows = Callable[[str, int, int, int], None]


def check_schema(manifest: Manifest) -> tuple[Migration, ...]:
    """Return the migrations that a backup was taken at.

    Raises ``StoreError`` if this version does not have them.
    """
    known = shipped()
    taken = tuple((entry.version, entry.name, entry.checksum) for entry in manifest.migrations)
    newest = max((version for version, _, _ in taken), default=0)
    if newest > known[-1].version:
        msg = (
            f"the backup is of a newer Davylamp ({manifest.davylamp}, schema {newest}; this one "
            f"knows {known[-1].version}): install that version"
        )
        raise StoreError(msg)
    at = known[: len(taken)]
    if not taken or taken != tuple((each.version, each.name, each.checksum) for each in at):
        msg = (
            "the backup was taken at other migrations than those of this version: install "
            f"Davylamp {manifest.davylamp}, which took it"
        )
        raise StoreError(msg)
    return at


def refuse_filled(client: Client, place: object) -> None:
    """Raise ``StoreError`` if a store holds rows, other than of a restore that was broken off."""
    if is_unfinished(client):
        return
    for name, shape in tables_of(client).items():
        where = Where()
        if name == LEDGER:
            continue
        if name == "audit_log":
            own = list(_OF_A_NEW_STORE)
            where = where.also("NOT has({own:Array(String)}, r.action)", own=own)
        sql = f"SELECT count() FROM {shape.source} WHERE {where}"  # noqa: S608 - names of ours
        [(rows,)] = client.query(sql, where.parameters)
        if rows:
            msg = (
                f"{place}: the store is not empty ({name} holds {rows} rows), and a backup is "
                "restored into an empty one only (give another storage.path or database)"
            )
            raise StoreError(msg)


def load(client: Client, folder: Path, manifest: Manifest, on_rows: OnRows) -> None:
    """Fill the database with the rows of a backup, and see that they are all there.

    From its first statement on, the store says that it is not whole; it goes on to say so until
    the caller takes the sign down. Raises ``StoreError`` for rows that did not come in as they
    were.
    """
    at = check_schema(manifest)
    put_up_sign(client)
    _clear(client)
    migrate(client, at)
    views = _views_of(client)
    for view in views:
        client.command(f"DROP VIEW IF EXISTS {view} SYNC")
    shapes = tables_of(client)
    for name in _with_term(client):
        client.command(f"ALTER TABLE {name} REMOVE TTL")
    client.command(f"TRUNCATE TABLE IF EXISTS {LEDGER}")
    rows = size = 0
    for table in manifest.tables:
        on_rows(table.name, rows, manifest.rows, size)
        _fill(client, _shape(shapes, table), folder, table)
        rows, size = rows + table.rows, size + table.bytes
    on_rows("all tables", rows, manifest.rows, size)
    for view in views:
        client.command(_statements_of_views(at)[view])
    if _views_of(client) != views:
        msg = "the views that add up the roll-ups could not be made again"
        raise StoreError(msg)


def _clear(client: Client) -> None:
    """Remove what a restore that was broken off has left, and what an empty store has."""
    for view in _statements_of_views(shipped()):
        client.command(f"DROP VIEW IF EXISTS {view} SYNC")
    for table in table_names():
        client.command(f"DROP TABLE IF EXISTS {table} SYNC")


def _shape(shapes: dict[str, TableShape], table: TableEntry) -> TableShape:
    shape = shapes.get(table.name)
    if shape is None or {column.name for column in shape.columns} != set(table.column_names):
        msg = f"{table.file}: its schema has no table {table.name} with these columns"
        raise StoreError(msg)
    return shape


def _fill(client: Client, shape: TableShape, folder: Path, table: TableEntry) -> None:
    if table.rows:
        client.insert_file(table.name, table.column_names, folder / table.file, FORMAT)
    taken = Content(rows=table.rows, total=int(table.content))
    every_row = replace(shape, engine="MergeTree")
    for each in (every_row, shape):
        found = content_of(client, each, table.column_names)
        if found != taken:
            msg = (
                f"{table.file}: {found.rows} of {table.rows} rows came in, or not as they were; "
                "the store is not whole"
            )
            raise StoreError(msg)


def _views_of(client: Client) -> list[str]:
    names = list(_statements_of_views(shipped()))
    found = client.query(
        "SELECT name FROM system.tables WHERE database = currentDatabase() "
        "AND has({names:Array(String)}, name) ORDER BY name",
        {"names": names},
    )
    return [str(row[0]) for row in found]


def _statements_of_views(migrations: tuple[Migration, ...]) -> dict[str, str]:
    """Return the last statement that makes each view."""
    return {
        made[1]: statement
        for migration in migrations
        for statement in migration.statements()
        if (made := _VIEW.match(statement))
    }


def _with_term(client: Client) -> list[str]:
    """Return the tables that would let go of rows while their number is still looked at."""
    found = client.query(
        "SELECT name FROM system.tables WHERE database = currentDatabase() "
        "AND has({names:Array(String)}, name) AND position(engine_full, ' TTL ') > 0",
        {"names": list(table_names())},
    )
    return [str(row[0]) for row in found]
