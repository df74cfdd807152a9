"""``db migrate`` brings a store to this version, and ``--check`` only says what is missing."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.cli.main import main
from monitor.config.storage import Retention
from monitor.errors import StoreError
from monitor.store import open_store
from monitor.store.lock import StoreLock
from monitor.store.migrate import migrate, shipped
from monitor.store.store import located, standing_of
from monitor.store.unfinished import put_up_sign
from tests.unit.cli.test_plan import written
from tests.unit.store.breaking import ROWS, contents, database, fill
from tests.unit.store.gateway import PASSWORD, Gateway


def config_with(folder: Path, **storage: Any) -> Path:
    """Write a configuration with these keys below ``storage``."""
    file = written(folder)
    settings = yaml.safe_load(file.read_text("utf-8"))
    settings["storage"] |= storage
    file.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    return file


def ran(file: Path, *arguments: str) -> int:
    return main(["db", "migrate", "--config", str(file), *arguments])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The folder of an embedded database, as a store makes it."""
    folder = tmp_path / "store" / "data"
    folder.mkdir(parents=True)
    return folder


def test_where_no_store_is_check_makes_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = config_with(tmp_path)
    assert ran(file, "--check") == 1
    said = capsys.readouterr().out
    assert "no store yet" in said
    assert f"missing: {shipped()[-1].name}" in said
    assert not (tmp_path / "store").exists()


def test_an_older_store_is_told_what_is_missing_then_brought_up(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = config_with(tmp_path)
    with database(data) as client:
        migrate(client, shipped()[:9])
        fill(client)
        before = contents(client)
    assert ran(file, "--check") == 1
    said = capsys.readouterr().out
    assert [line for line in said.splitlines() if line.startswith("missing: ")] == [
        f"missing: {migration.name}" for migration in shipped()[9:]
    ]
    assert "differs: trials: rows are kept 400 days (until now: for good)" in said
    with database(data) as client:
        assert contents(client) == before

    assert ran(file) == 0
    said = capsys.readouterr().out
    assert f"applied: {shipped()[9].name}" in said
    assert "changed: trials: rows are kept 400 days" in said
    assert (ran(file, "--check"), ran(file)) == (0, 0)
    assert "already as this version needs it" in capsys.readouterr().out
    with open_store(tmp_path / "store") as store:
        assert store.brought.is_current
        assert store.reader.counts()["verdicts"] == ROWS
        assert [(link.action, link.object) for link in store.audit.links(9)] == [
            ("begin", "audit"),
            ("migrate", "schema"),
            ("retention", "storage.retention"),
        ]
        assert store.audit.verify().whole


def test_other_terms_are_a_change_that_is_said_and_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with open_store(tmp_path / "store"):
        pass
    other = Retention(verdicts_days=30, bodies_days=9)
    with (
        caplog.at_level(logging.INFO, "monitor.store"),
        open_store(tmp_path / "store", retention=other) as store,
    ):
        assert [link.action for link in store.audit.links(9)] == ["begin", "retention"]
    told = {record.getMessage(): record.levelname for record in caplog.records}
    assert told["verdicts: rows are kept 30 days (until now: 400 days)"] == "WARNING"
    assert told["bodies: rows are kept 9 days (until now: 7 days)"] == "INFO"
    assert ran(config_with(tmp_path), "--check") == 1
    said = capsys.readouterr().out
    assert "differs: verdicts: rows are kept 400 days (until now: 30 days)" in said
    assert "missing" not in said
    file = config_with(tmp_path, retention={"verdicts_days": 30, "bodies_days": 9})
    assert ran(file, "--check") == 0
    capsys.readouterr()
    assert ran(config_with(tmp_path, retention={"verdicts_days": 29, "bodies_days": 9})) == 0
    said = capsys.readouterr().out
    assert "changed: verdicts: rows are kept 29 days (until now: 30 days)" in said
    assert "goes when the database merges" in said
    assert "bodies" not in said


def test_a_store_that_is_newer_or_changed_is_refused_by_every_verb(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = config_with(tmp_path)
    verbs = (["db", "migrate"], ["db", "migrate", "--check"], ["findings", "list"])
    with database(data) as client:
        migrate(client)
        client.command(
            "ALTER TABLE schema_migrations UPDATE checksum = 'x' WHERE version = 3 "
            "SETTINGS mutations_sync = 2"
        )
    for verb in verbs:
        assert main([*verb, "--config", str(file)]) == 2
        assert "0003_markers.sql was changed after it was applied" in capsys.readouterr().err
    with database(data) as client:
        client.command("INSERT INTO schema_migrations (version, name) VALUES (99, 'later')")
    for verb in verbs:
        assert main([*verb, "--config", str(file)]) == 2
        said = capsys.readouterr().err
        assert f"newer Davylamp (schema 99, this one knows {len(shipped())})" in said
        assert "install that version or restore a backup" in said


@pytest.mark.parametrize("arguments", [[], ["--check"]])
def test_half_a_restore_is_no_store(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    with database(data) as client:
        put_up_sign(client)
    assert ran(config_with(tmp_path), *arguments) == 2
    assert "run `davylamp db restore` again" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["--check"]])
@pytest.mark.parametrize("url", ["http://127.0.0.1:18150", None])
def test_a_store_in_use_names_its_owner(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    url: str | None,
    arguments: list[str],
) -> None:
    file = config_with(tmp_path)
    (tmp_path / "store").mkdir()
    lock = StoreLock.take(tmp_path / "store")
    lock.announce(url)
    try:
        assert ran(file, *arguments) == 2
    finally:
        lock.release()
    said = capsys.readouterr().err
    assert "owns this store" in said
    assert (url or "process") in said
    assert ("start it again with this version" in said) == (url is not None)


def test_a_server_is_examined_and_brought_up_alike(tmp_path: Path) -> None:
    path, gateway = tmp_path / "store", Gateway(tmp_path / "server")
    gateway.start()
    try:
        where = located(path, gateway.url, password=PASSWORD, cluster=None)
        assert standing_of(path, where, Retention()).migrations == shipped()
        assert not path.exists()
        with pytest.raises(StoreError, match="the server knows no cluster 'main'"):
            open_store(path, gateway.url, password=PASSWORD, cluster="main")
        with open_store(path, gateway.url, password=PASSWORD) as store:
            assert store.brought.migrations == shipped()
        assert standing_of(path, where, Retention()).is_current
    finally:
        gateway.kill()


def test_opening_tells_how_far_it_has_come(tmp_path: Path, data: Path) -> None:
    steps: list[tuple[str, int, int]] = []

    def told(migration: Any, done: int, total: int) -> None:
        steps.append((migration.name, done, total))

    with database(data) as client:
        migrate(client, shipped()[:9])
    with open_store(tmp_path / "store", on_statement=told) as store:
        assert store.brought.migrations == shipped()[9:]
    expected = [
        (migration.name, done, len(migration.statements()))
        for migration in shipped()[9:]
        for done in range(len(migration.statements()))
    ]
    assert steps == expected


def test_a_view_that_is_gone_is_said_and_mended_by_no_migration(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = config_with(tmp_path)
    assert ran(file) == 0
    with database(data) as client:
        client.command("DROP VIEW verdicts_hourly_view")
    capsys.readouterr()
    for arguments in (("--check",), ()):
        assert ran(file, *arguments) == 1
        said = capsys.readouterr().out
        assert "damaged: verdicts_hourly_view is not there" in said
        assert "to mend this, restore a backup from before into a new storage.path" in said
        assert "as this version needs it" not in said
