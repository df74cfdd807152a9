"""All tables as they are at one point, to be read while the store goes on.

A snapshot is a second name for each table's files, so it takes no room of its own at first. The
writer holds still while it is made, so that tables and roll-ups agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from monitor.errors import StoreError
from monitor.store.client import Client, Location, connect
from monitor.store.streaming import table_names, tables_of
from monitor.store.writer import Writer

PREFIX = "snapshot_"
# Making one takes some milliseconds a table and part; rows that come meanwhile wait in the spool.
_PATIENCE_SECONDS = 300.0


@contextmanager
def snapshot(writer: Writer, location: Location) -> Iterator[str]:
    """Give the prefix of the names of tables that stay as they are; one at a time.

    Everything acknowledged before is in them. Raises ``StoreError`` if it cannot be made.
    """
    if location.cluster is not None:
        msg = "a cluster cannot be held still: stop the daemon, and take the backup then"
        raise StoreError(msg)
    try:
        writer.run(_make, patience_seconds=_PATIENCE_SECONDS)
        yield PREFIX
    finally:
        with closing(connect(location)) as client:
            drop_snapshot(client)


def drop_snapshot(client: Client) -> None:
    """Remove a snapshot, also one whose process died."""
    found = client.query(
        "SELECT name FROM system.tables WHERE database = currentDatabase() "
        "AND has({names:Array(String)}, name)",
        {"names": [PREFIX + name for name in table_names()]},
    )
    for (name,) in found:
        client.command(f"DROP TABLE IF EXISTS {name} SYNC")


def _make(client: Client) -> None:
    drop_snapshot(client)
    for name in tables_of(client):
        client.command(f"CREATE TABLE IF NOT EXISTS {PREFIX}{name} CLONE AS {name}")
