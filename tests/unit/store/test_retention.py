"""How long rows are kept: what is past its time goes with a merge, what is held stays."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import fields
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from monitor.clock import SystemClock
from monitor.config.storage import Retention
from monitor.store import Store
from monitor.store.client import Client, connect
from monitor.store.kept import KeptReader
from monitor.store.retention import (
    KEPT_FOR_GOOD,
    Term,
    apply_terms,
    in_time,
    term_changes,
    terms,
)
from monitor.store.rows import TABLES, AnyRow, BodyRow
from tests.unit.store.any_row import any_row
from tests.unit.store.samples import verdict

# The database drops by its own clock.
NOW = SystemClock().now()
FRESH = count(1)
SHORT = Retention(verdicts_days=30, bodies_days=3, rollups_days=60, records_days=30)
LONG = Retention(verdicts_days=500, bodies_days=500, rollups_days=500, records_days=500)
OF = {term.table: term for term in terms(SHORT)}


@pytest.fixture(scope="module")
def kept(store: Store) -> Store:
    """A store with rows of several ages in every table, under long terms."""
    store.writer.run(lambda client: apply_terms(client, LONG))
    store.writer.put([*aged(1), *aged(45), *aged(45, held=True), *aged(75)])
    store.flush()
    return store


def aged(days: float, *, held: bool = False) -> list[AnyRow]:
    at = NOW - timedelta(days=days)
    return [any_row(kind, next(FRESH), at, held=held) for kind in TABLES]


def merge(store: Store, table: str) -> None:
    store.writer.run(lambda client: client.command(f"OPTIMIZE TABLE {table} FINAL"))


def ages(store: Store, term: Term) -> dict[int, int]:
    """Return how many rows there are of each age, in days."""
    column = term.since.removeprefix("toDateTime(").removesuffix(")")
    number = "sum(number)" if term.since == "at" and "budget" not in term.table else "count()"
    sql = f"SELECT toDate({column}) AS day, {number} FROM {term.table} GROUP BY day"  # noqa: S608
    found = store.writer.run(lambda client: client.query(sql))
    return {(NOW.date() - day).days: int(rows) for day, rows in found}


def test_every_table_has_a_term_or_is_kept_for_good(store: Store) -> None:
    sql = (
        "SELECT name FROM system.tables "
        "WHERE database = currentDatabase() AND engine LIKE '%MergeTree'"
    )
    there = {row[0] for row in store.writer.run(lambda client: client.query(sql))}
    assert there == OF.keys() | KEPT_FOR_GOOD
    assert not OF.keys() & KEPT_FOR_GOOD


def test_terms_spare_what_can_be_held() -> None:
    holding = {table for kind, table in TABLES.items() if "held" in named(kind)}
    assert holding == {term.table for term in terms(SHORT) if term.holds}


def named(kind: type) -> set[str]:
    return {field.name for field in fields(kind)}


def test_what_is_past_its_time_goes_and_what_is_held_stays(kept: Store) -> None:
    changed = kept.writer.run(lambda client: apply_terms(client, SHORT))
    assert {change.term.table for change in changed} == OF.keys()
    for term in OF.values():
        merge(kept, term.table)
        if term.table.endswith(("_hourly", "_daily")):
            assert ages(kept, term).keys() == {1, 45}, term
        elif term.holds:
            assert ages(kept, term) == {1: 1, 45: 1}, term
        else:
            assert ages(kept, term) == {1: 1}, term
    for table in KEPT_FOR_GOOD & set(TABLES.values()):
        merge(kept, table)
        assert kept.reader.counts()[table] == 4


def test_what_was_released_goes_too(kept: Store) -> None:
    kept.writer.run(lambda client: apply_terms(client, SHORT))
    for term in OF.values():
        if not term.holds:
            continue
        release = (
            f"ALTER TABLE {term.table} UPDATE held = false WHERE held SETTINGS mutations_sync = 2"
        )
        kept.writer.run(lambda client, sql=release: client.command(sql))  # type: ignore[misc]
        merge(kept, term.table)
        assert ages(kept, term) == {1: 1}, term


def test_a_longer_term_keeps_what_a_shorter_one_would_have_dropped(kept: Store) -> None:
    kept.writer.run(lambda client: apply_terms(client, SHORT))
    kept.writer.run(lambda client: apply_terms(client, LONG))
    kept.writer.put(aged(46))
    kept.flush()
    for table in ("trials", "bodies", "verdicts_hourly", "pages_sent", "budget_spent"):
        merge(kept, table)
        assert 46 in ages(kept, OF[table])


def test_terms_in_force_are_left_alone(store: Store) -> None:
    store.writer.run(lambda client: apply_terms(client, LONG))
    assert store.writer.run(lambda client: term_changes(client, LONG)) == ()
    assert store.writer.run(lambda client: apply_terms(client, LONG)) == ()


@pytest.mark.parametrize(
    "by_hand",
    [
        "ALTER TABLE trials REMOVE TTL",
        "ALTER TABLE trials MODIFY TTL toDateTime(started_at) + toIntervalDay(500)",
        "ALTER TABLE trials MODIFY TTL toDateTime(started_at) + INTERVAL 2 DAY WHERE NOT held",
    ],
)
def test_what_somebody_changed_by_hand_is_put_right(store: Store, by_hand: str) -> None:
    def mend(client: Client) -> list[str]:
        apply_terms(client, LONG)
        client.command(by_hand)
        return [change.term.table for change in apply_terms(client, LONG)]

    assert store.writer.run(mend) == ["trials"]
    assert store.writer.run(lambda client: term_changes(client, LONG)) == ()


def test_texts_past_their_time_are_not_read_before_a_merge_either(store: Store) -> None:
    ages = {"t-young": 6.9, "t-old": 7.1, "t-held": 7.1}
    at = {trial: NOW - timedelta(days=days) for trial, days in ages.items()}
    rows = [any_row(BodyRow, 0, at[trial], trial=trial, held=trial == "t-held") for trial in ages]
    store.writer.run(lambda client: client.command("SYSTEM STOP MERGES bodies"))
    store.writer.put(rows)
    store.flush()
    assert store.reader.counts()["bodies"] >= 3
    client = connect(store.location, read_only=True)
    judged = [verdict(1, trial=trial, decided_at=at[trial]) for trial in ages]
    with closing(KeptReader(client, in_time(Retention(), NOW))) as reader:
        found = {trial for page in reader.bodies(judged) for trial, of in page.items() if of}
    store.writer.run(lambda client: client.command("SYSTEM START MERGES bodies"))
    assert found == {"t-held", "t-young"}


def test_the_documentation_says_how_long_every_table_is_kept() -> None:
    page = (Path(__file__).parents[3] / "docs" / "store.md").read_text("utf-8")
    tables = page.split("## Tables")[1].split("## ")[0]
    said: dict[str, str] = {}
    for names, kept in re.findall(r"^\| (`.+?`) \|.*\| ([^|]+) \|$", tables, re.MULTILINE):
        said |= dict.fromkeys(re.findall(r"`([a-z_*]+)`", names), kept.strip("`"))
    numbers = {name: 101 + at for at, name in enumerate(Retention.model_fields)}
    days = Retention.model_validate(numbers)
    setting = {number: name for name, number in numbers.items()}
    for term in terms(days):
        table = re.sub(r"^.*(_hourly|_daily)$", r"*\1", term.table)
        assert said[table] == setting[term.days], term
    for table in KEPT_FOR_GOOD:
        assert said[table] == "for good", table
