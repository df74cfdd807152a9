"""What the doctor says of tables and views that are not as they were made."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from monitor.cli.doctor_line import Health, Line, Surroundings
from monitor.cli.doctor_schema import check_schema
from monitor.errors import StoreError
from monitor.store import open_store
from monitor.store.migrate import migrate, shipped
from tests.unit.cli.test_doctor_spool import TEXT
from tests.unit.config.known import load_text
from tests.unit.store.breaking import database
from tests.unit.store.spooling import SetClock


def lines(folder: Path) -> list[Line]:
    around = Surroundings(config=load_text(folder, TEXT), clock=SetClock())

    async def asked() -> list[Line]:
        return [line async for line in check_schema(around)]

    return asyncio.run(asked())


def test_where_no_store_is_none_is_made(tmp_path: Path) -> None:
    assert lines(tmp_path) == []
    assert not (tmp_path / "davylamp-data").exists()


def test_damage_is_a_failure_and_what_cannot_be_told_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "davylamp-data"
    with open_store(path):
        assert lines(tmp_path) == []
    (line,) = lines(tmp_path)
    assert (line.health, line.what) == (Health.OK, "schema")
    with database(path / "data") as client:
        client.command("DROP VIEW verdicts_hourly_view")
    (line,) = lines(tmp_path)
    assert (line.health, line.said) == (Health.FAIL, "verdicts_hourly_view is not there")
    assert "restore a backup" in line.remedy
    with database(path / "data") as client:
        client.insert(
            "schema_migrations", [(9000, "9000_x.sql", "x")], ("version", "name", "checksum")
        )
    (line,) = lines(tmp_path)
    assert line.health is Health.UNKNOWN
    assert f"{path / 'data'}: written by a newer Davylamp" in line.said
    with pytest.raises(StoreError, match=f"^{path / 'data'}: written by a newer Davylamp"):
        open_store(path)


def test_missing_migrations_are_a_warning(tmp_path: Path) -> None:
    data = tmp_path / "davylamp-data" / "data"
    data.mkdir(parents=True)
    with database(data) as client:
        migrate(client, shipped()[:-1])
    (line,) = lines(tmp_path)
    assert (line.health, line.said) == (Health.WARN, "migrations are missing (1)")
