"""Migrations: numbered, applied once, never changed afterwards, and never backwards."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from monitor.errors import StoreError
from monitor.store import Store
from monitor.store.migrate import Migration, migrate, shipped

# An insert is one of what an earlier statement has emptied; a test runs them in order.
MAY_RUN_TWICE = (
    "CREATE (TABLE|MATERIALIZED VIEW) IF NOT EXISTS ",
    r"ALTER TABLE \w+\s+(ADD|COMMENT) COLUMN IF (NOT )?EXISTS ",
    r"ALTER TABLE \w+\s+(MODIFY SETTING|MODIFY COLUMN|UPDATE) ",
    "(DROP VIEW|DROP TABLE|TRUNCATE TABLE) IF EXISTS ",
    r"INSERT INTO (\w+_(hourly|daily)|finding_changes|signals_by_time) ",
    # What is exchanged was copied by the statement before it.
    "EXCHANGE TABLES ",
)


def test_numbers_have_no_gaps() -> None:
    assert [each.version for each in shipped()] == list(range(1, len(shipped()) + 1))


def test_every_statement_may_run_twice(store: Store) -> None:
    for migration in shipped():
        for statement in migration.statements():
            assert any(re.match(form, statement) for form in MAY_RUN_TWICE), statement
            store.writer.run(lambda client, sql=statement: client.command(sql))  # type: ignore[misc]


def test_the_second_time_there_is_nothing_to_do(store: Store) -> None:
    assert store.writer.run(migrate) == ()


def test_a_changed_migration_is_refused(store: Store) -> None:
    tampered = (replace(shipped()[0], sql=shipped()[0].sql + "-- changed\n"), *shipped()[1:])
    says = r"^/here: migration 0001_\w+\.sql was changed after it was applied.* install"
    with pytest.raises(StoreError, match=says):
        store.writer.run(lambda client: migrate(client, tampered, place="/here"))


def test_a_newer_store_is_refused(store: Store) -> None:
    known = len(shipped())
    says = rf"newer Davylamp \(schema {known}, this one knows {known - 1}\)"
    with pytest.raises(StoreError, match=says):
        store.writer.run(lambda client: migrate(client, shipped()[:-1]))


def test_a_new_migration_is_applied_once(store: Store) -> None:
    number = len(shipped()) + 1
    extra = Migration(
        version=number,
        name=f"{number:04}_extra.sql",
        sql="-- a; b\nCREATE TABLE IF NOT EXISTS extra (a Int8) ENGINE = MergeTree\nORDER BY a;\n",
    )
    plan = (*shipped(), extra)
    assert store.writer.run(lambda client: migrate(client, plan)) == (extra,)
    assert store.writer.run(lambda client: migrate(client, plan)) == ()


# A detector has one state, however old; of a finding's changes there are few, and none goes.
NOT_BY_DAY = {"detector_states": "", "finding_changes": "toYYYYMM(changed_at)"}


@pytest.mark.parametrize("migration", shipped(), ids=lambda each: each.name)
def test_every_table_replaces_replays_in_partitions_of_days_and_adds_up_in_months(
    migration: Migration,
) -> None:
    for statement in migration.statements():
        created = re.match(r"CREATE TABLE IF NOT EXISTS (\w+)", statement)
        if created is None:
            continue
        [partition] = re.findall(r"^PARTITION BY (.+)$", statement, re.MULTILINE) or [""]
        if "ENGINE = AggregatingMergeTree" in statement:
            assert partition == "toYYYYMM(at)"
        elif created.group(1) in NOT_BY_DAY:
            assert partition == NOT_BY_DAY[created.group(1)]
        else:
            assert re.fullmatch(r"toYYYYMMDD\(\w+\)|toDate\(\w+\)|day", partition)
        assert re.search(r"^ENGINE = (Replacing|Aggregating)MergeTree\b", statement, re.MULTILINE)


def test_the_signals_of_a_verdict_stand_together(store: Store) -> None:
    sql = (
        "SELECT sorting_key, partition_key FROM system.tables "
        "WHERE database = currentDatabase() AND name = 'signals'"
    )
    assert store.writer.run(lambda client: client.query(sql)) == [
        ("target, decided_at, verdict, position", "toYYYYMMDD(decided_at)")
    ]
