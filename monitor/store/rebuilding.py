"""Change or erase rows that are there: only the parts of a table that hold such rows are rebuilt.

A mutation goes through every part of its table, and the embedded engine waits a tenth of a second
before each: with a year of parts that is a minute for one row. Instead a partition is copied, with
the change, into a table of its own, and takes the old one's place in one step. That happens on the
writer's thread, between two segments of the spool, so that no row can come in meanwhile; whoever
puts rows does not wait for it. A cluster, which has many hands for mutations, is given those.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from monitor.errors import StoreError
from monitor.store.client import Client
from monitor.store.writer import Writer

PREFIX = "rebuilt_"
# A partition is rebuilt in less than a second, one of many millions of rows in minutes.
_PATIENCE_SECONDS = 3_600.0
_BY_DAY = re.compile(r"[0-9]{8}")
# The copy is row for row: two that will be merged into one are two.
_ROW_FOR_ROW = "optimize_on_insert = 0, insert_deduplicate = 0, max_partitions_per_insert_block = 0"


class Rebuilding:
    """Changes rows through ``client``, while the writer holds still.

    Conditions and values are our own text; what they are bound to is in ``bound``.
    """

    def __init__(self, writer: Writer, client: Client, *, clustered: bool = False) -> None:
        self._writer = writer
        self._client = client
        self._clustered = clustered

    def update(
        self, table: str, column: str, value: str, where: str, bound: Mapping[str, Any]
    ) -> int:
        """Give a column of the rows of ``where`` another value; return how many rows that were."""
        found = self._partitions(table, "count()", where, bound)
        if self._clustered and found:
            self._client.command(
                f"ALTER TABLE {table} UPDATE {column} = {value} WHERE {where} "
                "SETTINGS mutations_sync = 2",
                bound,
            )
            return sum(found.values())
        rows = f"SELECT * REPLACE (if({where}, {value}, {column}) AS {column}) FROM {table}"  # noqa: S608
        for partition in found:
            self._rebuild(table, partition, rows, "1", bound)
        return sum(found.values())

    def delete(self, table: str, number: str, where: str, bound: Mapping[str, Any]) -> int:
        """Erase the rows of ``where``; return their ``number``, an aggregate."""
        found = self._partitions(table, number, where, bound)
        if self._clustered and found:
            self._client.command(
                f"ALTER TABLE {table} DELETE WHERE {where} SETTINGS mutations_sync = 2", bound
            )
            return sum(found.values())
        for partition in found:
            self._rebuild(table, partition, f"SELECT * FROM {table}", f"NOT ({where})", bound)  # noqa: S608
        return sum(found.values())

    def _partitions(
        self, table: str, number: str, where: str, bound: Mapping[str, Any]
    ) -> dict[str, int]:
        """Return the partitions that hold such rows, each with a number of them."""
        found = self._client.query(
            f"SELECT _partition_id, {number} FROM {table} WHERE {where} GROUP BY _partition_id",  # noqa: S608
            bound,
        )
        # The name stands in statements, where no value can be bound.
        if not all(_BY_DAY.fullmatch(str(partition)) for partition, _ in found):
            msg = f"{table}: it is not cut by day, so its parts cannot be rebuilt"
            raise StoreError(msg)
        return {str(partition): int(count) for partition, count in found}

    def _rebuild(
        self, table: str, partition: str, rows: str, kept: str, bound: Mapping[str, Any]
    ) -> None:
        def swap(_: Client) -> None:
            _swap(
                self._client, table, partition, f"{rows} WHERE {_of(partition)} AND {kept}", bound
            )

        self._writer.run(swap, patience_seconds=_PATIENCE_SECONDS)


def drop_rebuilt(client: Client) -> None:
    """Remove copies whose process died before they took their place."""
    found = client.query(
        "SELECT name FROM system.tables WHERE database = currentDatabase() "
        "AND startsWith(name, {prefix:String})",
        {"prefix": PREFIX},
    )
    for (name,) in found:
        if not re.fullmatch(r"\w+", str(name)):
            msg = "a table of an unknown name stands where copies are made; remove it"
            raise StoreError(msg)
        client.command(f"DROP TABLE IF EXISTS {name} SYNC")


def _swap(client: Client, table: str, partition: str, rows: str, bound: Mapping[str, Any]) -> None:
    """Put the rows that a query gives in place of a partition, all of it or nothing."""
    copy = PREFIX + table
    client.command(f"DROP TABLE IF EXISTS {copy} SYNC")
    client.command(f"CREATE TABLE IF NOT EXISTS {copy} AS {table}")
    try:
        client.command(f"INSERT INTO {copy} {rows} SETTINGS {_ROW_FOR_ROW}", bound)
        expected = client.query(f"SELECT count() FROM ({rows})", bound)[0][0]  # noqa: S608
        copied = client.query(f"SELECT count() FROM {copy}")[0][0]  # noqa: S608
        if copied != expected:
            msg = f"{table}: {copied} of {expected} rows were copied, so nothing was changed"
            raise StoreError(msg)
        if copied:
            client.command(f"ALTER TABLE {table} REPLACE PARTITION ID '{partition}' FROM {copy}")
        else:
            client.command(f"ALTER TABLE {table} DROP PARTITION ID '{partition}'")
    finally:
        client.command(f"DROP TABLE IF EXISTS {copy} SYNC")


def _of(partition: str) -> str:
    return f"_partition_id = '{partition}'"
