"""What somebody did to tables and views is seen, and what servers say otherwise is not."""

from __future__ import annotations

import logging
import re
from contextlib import closing
from pathlib import Path

import pytest

from monitor.store import open_store
from monitor.store.backup import Choices, back_up
from monitor.store.client import Client, Row, connect
from monitor.store.cluster import on_cluster
from monitor.store.store import KEY_FILE
from monitor.store.structure import differences
from tests.unit.store.backups import restored, unseen
from tests.unit.store.breaking import database
from tests.unit.store.latest import FILE
from tests.unit.store.samples import NOW

LATEST = [
    said.strip() for said in re.findall(r"^CREATE .*?(?=;$)", FILE.read_text("utf-8"), re.MULTILINE)
]
SIGNALS_VIEW = (
    "CREATE MATERIALIZED VIEW signals_daily_view TO signals_daily AS SELECT "
    "toStartOfDay(b.decided_at) AS at, b.target AS target, count() AS number "
    "FROM signals AS b GROUP BY at, target"
)
DAMAGE = {
    "verdicts_hourly_view is not there": ("DROP VIEW verdicts_hourly_view",),
    "pages_sent is not there": ("DROP TABLE pages_sent",),
    "trials is not as it was made": ("ALTER TABLE trials ADD COLUMN more Int8",),
    "markers is not as it was made": ("ALTER TABLE markers MODIFY COLUMN sealed Nullable(String)",),
    "bodies is not as it was made": ("ALTER TABLE bodies DROP INDEX by_trial",),
    "verdicts is not as it was made": (
        "ALTER TABLE verdicts MODIFY SETTING fsync_after_insert = 0",
    ),
    "signals_daily_view is not as it was made": ("DROP VIEW signals_daily_view", SIGNALS_VIEW),
}


def found(client: Client) -> set[str]:
    return {str(each) for each in differences(client, LATEST)}


def test_all_damage_is_named_and_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with open_store(tmp_path / "store") as store:
        assert len(LATEST) > 30
        assert store.writer.run(found) == set()
        store.writer.run(lambda client: client.command("CREATE VIEW own AS SELECT 1 AS a"))
        assert store.writer.run(found) == set()
        seen: set[str] = set()
        for words, statements in DAMAGE.items():
            for said in statements:
                store.writer.run(lambda client, said=said: client.command(said))  # type: ignore[misc]
            seen.add(words)
            assert store.writer.run(found) == seen
    caplog.clear()
    with caplog.at_level(logging.ERROR, "monitor.store"), open_store(tmp_path / "store") as store:
        assert {str(each) for each in store.brought.differs} == set(DAMAGE)
        assert not store.brought.is_current
    for words in DAMAGE:
        assert f"the store's schema: {words}: restore a backup from before" in caplog.text


def test_a_backup_and_a_restore_mend_views(tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as store:
        for said in (
            "DROP VIEW verdicts_hourly_view",
            "DROP VIEW signals_daily_view",
            SIGNALS_VIEW,
        ):
            store.writer.run(lambda client, said=said: client.command(said))  # type: ignore[misc]
        with closing(connect(store.location, read_only=True)) as client:
            choices = Choices(key=store.key, made_at=NOW, key_file=tmp_path / "store" / KEY_FILE)
            back_up(client, tmp_path / "backup", choices, unseen)
    assert restored(tmp_path / "backup", tmp_path / "new").brought.differs == ()


class _Server:
    """Answers as a server of a cluster would, in another database, as another user."""

    def __init__(self, engine: Client, tables: dict[str, str]) -> None:
        self._engine = engine
        self._tables = tables

    def query(self, sql: str, parameters: dict[str, str] | None = None) -> list[Row]:
        if "system.tables" in sql:
            return list(self._tables.items())
        return self._engine.query(sql, parameters)


def as_server(statement: str) -> tuple[str, str]:
    """Return the name of a table and what a server says of it."""
    name = re.findall(r"IF NOT EXISTS (\w+)", statement)[0]
    said = on_cluster(statement, "main").replace(" ON CLUSTER 'main'", "")
    said = said.replace(f"IF NOT EXISTS {name}", f"`da-vy`.{name}")
    said = re.sub(r"\b(FROM|TO) (?=\w)", r"\1 `da-vy`.", said)
    said = said.replace(" AS SELECT ", " DEFINER = davy SQL SECURITY DEFINER AS SELECT ", 1)
    said = re.sub(r" TTL .*? SETTINGS", " TTL x + toIntervalDay(9) SETTINGS", said)
    return name, said.replace(" SETTINGS ", " SETTINGS storage_policy = 'hot', ")


def test_what_a_server_says_otherwise_is_no_difference(tmp_path: Path) -> None:
    tables = dict(as_server(statement) for statement in LATEST)
    assert "ReplicatedReplacingMergeTree('/clickhouse" in tables["findings"]
    with database(tmp_path) as engine:
        server = _Server(engine, tables)
        assert differences(server, LATEST) == ()  # type: ignore[arg-type]
        # The same in other words, as another version might write it.
        spaced = [statement.replace(" AS ", "  AS  ") for statement in LATEST]
        assert differences(server, spaced) == ()  # type: ignore[arg-type]
        tables["findings"] = tables["findings"].replace("Replacing", "Summing")
        (only,) = differences(server, LATEST)  # type: ignore[arg-type]
        assert only.name == "findings"
