"""Count what is in a store: nothing twice, nothing half, and sums that say the same as rows."""

from __future__ import annotations

from collections.abc import Iterable

from monitor.store import Store
from monitor.store.client import Client

PATIENCE_SECONDS = 120
# Table, what makes a row of it the same row, and the roll-ups that count its rows.
_COUNTED = {
    "verdicts": "id",
    "exchange_verdicts": "verdict, exchange",
    "signals": "verdict, position",
    "exchanges": "trial, exchange",
}
# Signals without a row of their own are counted with the others.
BESIDE_ROWS = {"signals": "SELECT sum(length(quiet_codes)) FROM exchange_verdicts"}


def verdicts_of(store: Store) -> list[str]:
    """Return the id of every row of verdicts, merged or not."""
    return store.writer.run(
        lambda client: [str(row[0]) for row in client.query("SELECT id FROM verdicts")],
        patience_seconds=PATIENCE_SECONDS,
    )


def assert_exactly_once(store: Store, acknowledged: Iterable[str]) -> int:
    """Hold a store against what was acknowledged, and return how many verdicts it has.

    Rows are counted as they lie on the disk, not as merging would make them.
    """
    found, wanted = verdicts_of(store), set(acknowledged)
    assert not wanted - set(found), f"lost: {sorted(wanted - set(found))[:5]}"
    assert len(found) == len(set(found)), "a verdict was written twice"
    for question in (_assert_sums, _assert_whole):
        store.writer.run(question, patience_seconds=PATIENCE_SECONDS)
    assert store.writer.stats().dropped_rows == {}
    return len(found)


def _assert_sums(client: Client) -> None:
    for table, key in _COUNTED.items():
        counted = f"SELECT count(), uniqExact({key}) FROM {table}"  # noqa: S608 - our own names
        ((rows, distinct),) = client.query(counted)
        assert rows == distinct, f"{table}: {rows} rows of {distinct}"
        [(beside,)] = client.query(BESIDE_ROWS.get(table, "SELECT 0"))
        for step in ("hourly", "daily"):
            sums = f"SELECT sum(number) FROM {table}_{step}"  # noqa: S608 - our own names
            ((summed,),) = client.query(sums)
            assert summed == rows + beside, f"{table}_{step} counts {summed} of {rows} + {beside}"


def _assert_whole(client: Client) -> None:
    """A trial and its verdict are kept together or not at all; a stream's is of no trial."""
    of_trials = "(SELECT * FROM verdicts WHERE source != 'stream')"
    for key, table, other_key, other in (
        ("trial", of_trials, "id", "trials"),
        ("id", "trials", "trial", "verdicts"),
        ("id", "trials", "trial", "exchanges"),
        ("id", of_trials, "verdict", "exchange_verdicts"),
        ("verdict", "exchange_verdicts", "id", "verdicts"),
    ):
        sql = (
            f"SELECT count() FROM {table} "  # noqa: S608 - our own names
            f"WHERE {key} NOT IN (SELECT {other_key} FROM {other})"
        )
        ((missing,),) = client.query(sql)
        assert missing == 0, f"{missing} rows of {table} have nothing in {other}"
