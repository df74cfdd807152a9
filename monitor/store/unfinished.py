"""The sign that a restore is under way: while it stands, a store is not to be used."""

from __future__ import annotations

from monitor.errors import StoreError
from monitor.store.client import Client

SIGN = "restore_unfinished"


def put_up_sign(client: Client) -> None:
    """Say that what is in the database is not whole."""
    client.command(f"CREATE TABLE IF NOT EXISTS {SIGN} (at UInt8) ENGINE = MergeTree ORDER BY at")


def take_down_sign(client: Client) -> None:
    """Say that it is whole."""
    client.command(f"DROP TABLE IF EXISTS {SIGN}")


def is_unfinished(client: Client) -> bool:
    """Whether a restore was begun here that did not come to its end."""
    found = client.query(
        "SELECT count() FROM system.tables WHERE database = currentDatabase() "
        "AND name = {sign:String}",
        {"sign": SIGN},
    )
    return bool(found[0][0])


def refuse_unfinished(client: Client, place: object) -> None:
    """Raise ``StoreError`` with the remedy if a restore did not come to its end here."""
    if is_unfinished(client):
        msg = (
            f"{place}: a restore was broken off and the store is not whole; run "
            "`davylamp db restore` again, it begins anew"
        )
        raise StoreError(msg)
