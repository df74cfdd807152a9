"""A migration broken off at any one point, each on a store of its own with rows in it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from monitor.config.storage import Retention
from monitor.store.migrate import Migration, migrate, shipped
from monitor.store.retention import apply_terms
from tests.unit.store.breaking import broke_off, contents, database, fill
from tests.unit.store.latest import FILE

ALL = shipped()


@pytest.mark.parametrize("migration", ALL, ids=lambda each: each.name)
def test_broken_off_at_any_point_it_comes_to_the_same(tmp_path: Path, migration: Migration) -> None:
    with database(tmp_path / "before") as client:
        migrate(client, ALL[: migration.version - 1])
        fill(client)
    # Migrations after it find the same either way: to go through them too says no more.
    until = ALL[: migration.version]
    with database(copied(tmp_path)) as client:
        migrate(client, until)
        expected = contents(client)
    # Before the ledger, each statement, and its row; after one of them is before the next.
    end = 2 * (1 + len(migration.statements()) + 1)
    for point in [*range(0, end, 2), end - 1]:
        with database(copied(tmp_path)) as client:
            assert broke_off(client, until, point)
        # In life another process goes on.
        with database(tmp_path / "now") as client:
            migrate(client, until)
            found = contents(client)
        assert found.keys() == expected.keys()
        for name, rows in found.items():
            assert rows == expected[name], (point, name)
    with database(copied(tmp_path)) as client:
        assert not broke_off(client, until, end)


def test_a_new_store_broken_off_comes_to_the_same(tmp_path: Path) -> None:
    with database(tmp_path / "whole") as client:
        migrate(client)
        apply_terms(client, Retention())
        expected = contents(client)
    # Before and after the ledger, each table and view, and the rows of the ledger: every third.
    end = 2 * (1 + FILE.read_text("utf-8").count("CREATE ") + 1)
    for point in [*range(0, end - 2, 3), end - 2, end - 1]:
        with database(tmp_path / str(point)) as client:
            assert broke_off(client, None, point)
            assert migrate(client) == (() if point == end - 1 else ALL)
            apply_terms(client, Retention())
            assert contents(client) == expected, point
        shutil.rmtree(tmp_path / str(point))
    with database(tmp_path / "unbroken") as client:
        assert not broke_off(client, None, end)


def copied(folder: Path) -> Path:
    """Return a fresh copy of the store as it was before the migration."""
    now = folder / "now"
    shutil.rmtree(now, ignore_errors=True)
    # The engine's own links are relative, and must stay links.
    shutil.copytree(folder / "before", now, symlinks=True)
    return now
