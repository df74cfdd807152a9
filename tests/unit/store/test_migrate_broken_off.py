"""A migration broken off anywhere is simply run again: nothing is lost, nothing is doubled.

Here one store is broken off at many points, one after the other. Every point alone, on a store of
its own, is tried in ``tests/store_faults``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from monitor.config.storage import Retention
from monitor.store.migrate import Migration, migrate, shipped
from monitor.store.retention import apply_terms
from tests.unit.store.breaking import ROWS, TWICE, broke_off, contents, database, fill
from tests.unit.store.latest import FILE, latest_sql

# Rows are from before what is held, and migrations are broken off that add up rows.
FILLED, BEFORE = 9, 12
# Here and there around the first table of sums, and at the end.
FIRST, EVERY, LAST = 22, 3, 2


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    with database(tmp_path_factory.mktemp("unbroken")) as client:
        migrate(client, shipped()[:FILLED])
        fill(client)
        migrate(client)
        fill(client, first=ROWS)
        return contents(client)


def test_broken_off_it_comes_to_the_same(tmp_path: Path, unbroken: dict[str, list[Any]]) -> None:
    with database(tmp_path) as client:
        migrate(client, shipped()[:FILLED])
        fill(client)
        migrate(client, shipped()[:BEFORE])
        for migration in shipped()[BEFORE:]:
            for point in points(migration):
                assert broke_off(client, shipped()[: migration.version], point)
            assert not broke_off(client, shipped()[: migration.version], 1000)
        fill(client, first=ROWS)
        found = contents(client)
    assert found.keys() == unbroken.keys()
    for name, rows in found.items():
        assert rows == unbroken[name], name


def points(migration: Migration) -> list[int]:
    """Return points before and after statements: of the ledger, the migration, and its row."""
    end = 2 * (1 + len(migration.statements()) + 1)
    return [*range(0, min(FIRST, end - LAST), EVERY), *range(end - LAST, end)]


def test_a_new_store_is_what_all_migrations_come_to(tmp_path: Path) -> None:
    assert FILE.read_text("utf-8") == latest_sql(), "run: python -m tests.unit.store.latest"
    with database(tmp_path / "new") as client:
        said: list[str] = []
        assert migrate(client, None, lambda each, done, total: said.append(each.name)) == shipped()
        apply_terms(client, Retention())
        new = contents(client)
    assert set(said) == {"latest.sql"}
    with database(tmp_path / "step by step") as client:
        migrate(client, shipped())
        apply_terms(client, Retention())
        assert contents(client) == new
        assert migrate(client) == ()


def test_a_new_store_that_was_broken_off_goes_on_with_the_migrations(tmp_path: Path) -> None:
    with database(tmp_path / "whole") as client:
        migrate(client)
        apply_terms(client, Retention())
        whole = contents(client)
    # Among the tables, and before the last row.
    statements = FILE.read_text("utf-8").count("CREATE ")
    for point in (20, 2 * statements + 2):
        with database(tmp_path / f"broken off at {point}") as client:
            assert broke_off(client, None, point)
            assert migrate(client) == shipped()
            apply_terms(client, Retention())
            assert contents(client) == whole, point


def test_the_sums_are_of_every_row_once(unbroken: dict[str, list[Any]]) -> None:
    for table in ("verdicts", "exchange_verdicts", "exchanges", "signals"):
        for step in ("hourly", "daily"):
            names = [
                name for owner, _, name, *_ in unbroken["columns"] if owner == f"{table}_{step}"
            ]
            at = names.index("number")
            # Of the later rows some were inserted again without a token: new ones to a view.
            assert sum(row[at] for row in unbroken[f"{table}_{step}"]) == 2 * ROWS + TWICE
