"""Sums by hour and day: every row once, whatever is replayed, released or deleted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import count
from typing import cast

import pytest

from monitor.store import Store
from monitor.store.client import Client, Row
from monitor.store.rows import (
    TABLES,
    AnyRow,
    BudgetRow,
    ExchangeRow,
    ExchangeVerdictRow,
    SignalRow,
    VerdictRow,
    columns,
    values,
)
from tests.unit.store.any_row import any_row
from tests.unit.store.samples import NOW

FRESH = count(1)
SUMMED: tuple[type[AnyRow], ...] = (VerdictRow, ExchangeVerdictRow, ExchangeRow, SignalRow)
STEPS = ("hourly", "daily")


@pytest.fixture
def target() -> str:
    """A target of this test alone."""
    return f"target-of-test-{next(FRESH)}"


def rows_of(kind: type[AnyRow], target: str, amount: int = 6) -> list[AnyRow]:
    """Return rows of one kind that differ in nothing that sums are told apart by, but the time."""
    said = dict.fromkeys(("probe", "stratum", "model", "shape", "code", "variant", "part"), "x")
    said |= {"source": "probe", "status": "fail", "outcome": "bad", "class": "LEAK", "failure": ""}
    owned = {"owner_target": "", "owner_tenant": "", "verdict_class": "LEAK"}
    return [
        any_row(
            kind, next(FRESH), NOW + timedelta(hours=8 * number), target=target, **said, **owned
        )
        for number in range(amount)
    ]


def insert(client: Client, rows: Sequence[AnyRow], token: str = "") -> None:
    kind = type(rows[0])
    client.insert(TABLES[kind], [values(row) for row in rows], columns(kind), token=token)


def sums(client: Client, table: str, target: str) -> list[int]:
    """Return the sums of a target by hour and by day: one number if they agree."""
    found = [
        client.query(
            f"SELECT sum(number) FROM {table}_{step} WHERE target = {{target:String}}",  # noqa: S608
            {"target": target},
        )
        for step in STEPS
    ]
    return sorted({int(rows[0][0]) for rows in found})


def number(client: Client, what: str, table: str, target: str) -> int:
    sql = f"SELECT {what} FROM {table} WHERE target = {{target:String}}"  # noqa: S608
    return int(client.query(sql, {"target": target})[0][0])


@pytest.mark.parametrize("kind", SUMMED)
def test_a_block_that_is_written_again_counts_once(
    store: Store, kind: type[AnyRow], target: str
) -> None:
    rows = rows_of(kind, target)

    def twice(client: Client) -> list[int]:
        for _ in range(3):
            insert(client, rows, token=f"segment-of-{target}")
        return sums(client, TABLES[kind], target)

    assert store.writer.run(twice) == [6]


@pytest.mark.parametrize("kind", SUMMED)
def test_a_block_of_which_only_the_table_was_told_is_told_to_the_sums_too(
    store: Store, kind: type[AnyRow], target: str
) -> None:
    table, rows = TABLES[kind], rows_of(kind, target)

    def broken_off(client: Client) -> tuple[list[int], int]:
        # What dies between the two inserts has told the table, and one of the sums.
        client.command(f"DETACH TABLE {table}_daily_view")
        insert(client, rows, token=f"segment-of-{target}")
        client.command(f"ATTACH TABLE {table}_daily_view")
        insert(client, rows, token=f"segment-of-{target}")
        return sums(client, table, target), number(client, "count()", table, target)

    assert store.writer.run(broken_off) == ([6], 6)


@pytest.mark.parametrize("kind", SUMMED)
def test_what_is_released_or_deleted_stays_in_the_sums(
    store: Store, kind: type[AnyRow], target: str
) -> None:
    table, rows = TABLES[kind], rows_of(kind, target)

    def change(client: Client) -> list[list[int]]:
        insert(client, rows)
        seen = [sums(client, table, target)]
        for change in ("UPDATE held = NOT held", "DELETE"):
            client.command(
                f"ALTER TABLE {table} {change} WHERE target = {{target:String}} "
                "SETTINGS mutations_sync = 2",
                {"target": target},
            )
            seen.append(sums(client, table, target))
        assert number(client, "count()", table, target) == 0
        client.command(f"OPTIMIZE TABLE {table} FINAL")
        return [*seen, sums(client, table, target)]

    assert store.writer.run(change) == [[6]] * 4


def test_rows_are_in_their_hour_and_their_day(store: Store, target: str) -> None:
    rows = rows_of(VerdictRow, target)
    insert_all(store, rows)
    for step, width in (("hourly", timedelta(hours=1)), ("daily", timedelta(days=1))):
        sql = (
            f"SELECT at, sum(number), max(last_at) FROM verdicts_{step} "  # noqa: S608
            "WHERE target = {target:String} GROUP BY at ORDER BY at"
        )
        found = store.writer.run(lambda client, sql=sql: client.query(sql, {"target": target}))  # type: ignore[misc]
        assert sum(row[1] for row in found) == 6
        for at, _, last in cast("list[Row]", found):
            assert at <= last < at + width
        assert len(found) == (6 if step == "hourly" else 3)


def insert_all(store: Store, rows: Sequence[AnyRow]) -> None:
    store.writer.put(list(rows))
    store.flush()


def test_who_judged_is_told_apart(store: Store, target: str) -> None:
    for kind in (VerdictRow, ExchangeVerdictRow, SignalRow):
        sources = ("probe", "rescore", "probe", "traffic", "rescore", "probe")
        insert_all(
            store,
            [any_row(kind, next(FRESH), NOW, target=target, source=source) for source in sources],
        )
        sql = (
            f"SELECT source, sum(number) FROM {TABLES[kind]}_daily "  # noqa: S608
            "WHERE target = {target:String} GROUP BY source ORDER BY source"
        )
        found = store.writer.run(lambda client, sql=sql: client.query(sql, {"target": target}))  # type: ignore[misc]
        assert found == [("probe", 3), ("rescore", 2), ("traffic", 1)]


def test_a_target_cannot_overflow_the_sums(store: Store, target: str) -> None:
    told = (2**63 - 1, -(2**63 - 1), None, 1_000_000_001, 7)
    insert_all(
        store,
        [any_row(ExchangeRow, next(FRESH), NOW, target=target, input_tokens=each) for each in told],
    )
    added = store.writer.run(
        lambda client: number(client, "sum(input_tokens)", "exchanges_hourly", target)
    )
    assert added == 2 * 10**9 + 7


def test_the_most_evidence_is_kept_and_none_is_none(store: Store, target: str) -> None:
    for code, bits in (("FOREIGN", (30.5, None, 46.5)), ("NONCE", (None, None))):
        insert_all(
            store,
            [
                any_row(SignalRow, next(FRESH), NOW, target=target, code=code, evidence_bits=each)
                for each in bits
            ],
        )
    sql = (
        "SELECT code, max(evidence_bits) FROM signals_daily WHERE target = {target:String} "
        "GROUP BY code ORDER BY code"
    )
    found = store.writer.run(lambda client: client.query(sql, {"target": target}))
    assert found == [("FOREIGN", 46.5), ("NONCE", None)]


@pytest.mark.parametrize("together", [True, False])
def test_a_reservation_is_open_until_it_is_settled(
    store: Store, target: str, together: bool
) -> None:
    def row(reservation: int, version: int, tokens: int) -> AnyRow:
        return any_row(
            BudgetRow, reservation, NOW, target=target, reservation=f"{target}-{reservation}",
            version=version, tokens=tokens, usd=float(tokens),
        )  # fmt: skip

    rows = [row(1, 0, 100), row(1, 1, 60), row(2, 0, 50), row(3, 0, 9), row(3, 1, 0)]
    # In one block the table keeps but the newest version; the sums are of what was put in.
    for block in [rows] if together else [[each] for each in rows]:
        insert_all(store, block)
    sql = (
        "SELECT sum(s.settled), sum(s.open), sum(s.settled_tokens), sum(s.settled_usd) "
        "FROM budget_daily AS s WHERE target = {target:String}"
    )
    assert store.writer.run(lambda client: client.query(sql, {"target": target})) == [
        (2, 1, 60, 60.0)
    ]
