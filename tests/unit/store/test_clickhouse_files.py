"""The files a server is set up with: every log is bounded, and nobody may do more than is meant."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from monitor.store import Store

FOLDER = Path(__file__).parents[3] / "deploy" / "clickhouse"
CONFIG = ET.fromstring((FOLDER / "config.d" / "davylamp.xml").read_text("utf-8"))
USERS = ET.fromstring((FOLDER / "users.d" / "davylamp.xml").read_text("utf-8"))
# Every table a server of 24.8 to 26.9 writes about itself, and those of its cloud edition.
SYSTEM_LOGS = frozenset({
    *("aggregated_zookeeper_log", "asynchronous_insert_log", "asynchronous_metric_log"),
    *("azure_queue_log", "background_schedule_pool_log", "backup_log", "blob_storage_log"),
    *("bucketed_metric_log", "crash_log", "dead_letter_queue", "delta_lake_metadata_log"),
    *("distributed_cache_log", "distributed_cache_server_log", "error_log", "filesystem_cache_log"),
    *("filesystem_read_prefetches_log", "iceberg_metadata_log", "latency_log", "metric_log"),
    *("opentelemetry_span_log", "part_log", "predicate_statistics_log", "processors_profile_log"),
    *("query_log", "query_metric_log", "query_thread_log", "query_views_log", "s3queue_log"),
    *("s3_queue_log", "session_log", "text_log", "trace_log", "transactions_info_log"),
    *("transposed_metric_log", "zookeeper_connection_log", "zookeeper_log"),
})  # fmt: skip
MOST_DAYS = 90


def children(of: ET.Element, path: str) -> list[ET.Element]:
    found = of.find(path)
    assert found is not None, path
    return list(found)


def test_every_log_of_the_server_is_bounded_or_not_written() -> None:
    logs = {each.tag: each for each in CONFIG if each.tag != "access_control_improvements"}
    assert logs.keys() == SYSTEM_LOGS
    for name, log in logs.items():
        if "remove" in log.attrib:
            assert not list(log), name
            continue
        # Merged into the server's own section, a time to live could stand beside its engine.
        assert log.attrib == {"replace": "1"}
        assert (log.findtext("database"), log.findtext("table")) == ("system", name)
        days = re.fullmatch(r"event_date \+ INTERVAL (\d+) DAY DELETE", log.findtext("ttl") or "")
        assert days, name
        assert int(days.group(1)) <= MOST_DAYS
        assert log.find("engine") is None


def test_the_engine_takes_the_times_to_live(store: Store) -> None:
    bounds = {
        (log.findtext("partition_by", ""), log.findtext("ttl", ""))
        for log in CONFIG
        if log.find("ttl") is not None
    }
    assert len(bounds) >= 4
    for number, (partition, ttl) in enumerate(sorted(bounds)):
        statement = (
            f"CREATE TABLE log_{number} (event_date Date) ENGINE = MergeTree "
            f"PARTITION BY {partition} ORDER BY event_date TTL {ttl}"
        )
        store.writer.run(lambda client, sql=statement: client.command(sql))  # type: ignore[misc]


def test_no_log_of_the_engine_is_forgotten(store: Store) -> None:
    sql = "SELECT name FROM system.tables WHERE database = 'system' AND name LIKE '%\\_log'"
    there = {str(row[0]) for row in store.writer.run(lambda client: client.query(sql))}
    # A view of the query log for each user.
    assert there - {"user_query_log"} <= SYSTEM_LOGS


def test_no_password_is_in_the_files() -> None:
    for user in children(USERS, "users"):
        passwords = [each for each in user if "password" in each.tag]
        assert [each.tag for each in passwords] == ["password_sha256_hex"]
        assert re.fullmatch(r"DAVYLAMP_[A-Z]+_SHA256", passwords[0].attrib["from_env"])
        assert not (passwords[0].text or "").strip()
        assert user.find("no_password") is None
        assert {each.text for each in children(user, "networks")} == {"::1", "127.0.0.1"}


def test_rights_are_of_the_database_alone(store: Store) -> None:
    known = {
        str(row[0])
        for row in store.writer.run(
            lambda client: client.query("SELECT privilege FROM system.privileges")
        )
    }
    granted: dict[str, list[tuple[str, str, str]]] = {}
    for user in children(USERS, "users"):
        for query in children(user, "grants"):
            text = query.text or ""
            preposition = "TO" if text.startswith("GRANT") else "FROM"
            explained = f"EXPLAIN AST {text} {preposition} somebody"
            store.writer.run(lambda client, sql=explained: client.query(sql))  # type: ignore[misc]
            said = re.fullmatch(r"(GRANT|REVOKE) (.+) ON ([\w.*]+)", text)
            assert said, text
            for right in said.group(2).split(", "):
                assert right in known, right
                granted.setdefault(user.tag, []).append((said.group(1), right, said.group(3)))
    # CLUSTER alone lets nobody do anything: it is the right to say to all hosts what one may say.
    everywhere = {
        (right, on) for rights in granted.values() for _, right, on in rights if on == "*.*"
    }
    assert everywhere == {("CLUSTER", "*.*")}
    for _, right, on in (each for rights in granted.values() for each in rights):
        assert (
            on == "*.*"
            or on.startswith("davylamp.")
            or (on.startswith("system.") and right == "SELECT")
        )
    reads = {right for kind, right, _ in granted["davylamp_reader"] if kind == "GRANT"}
    assert reads == {"SELECT"}
    hidden = {on for kind, _, on in granted["davylamp_reader"] if kind == "REVOKE"}
    assert hidden == {"davylamp.bodies", "davylamp.markers", "davylamp.calibrations"}


def test_a_reader_changes_nothing_but_how_long_it_waits() -> None:
    reader = {
        each.tag: (each.text or "").strip() for each in children(USERS, "profiles/davylamp_reader")
    }
    assert reader["readonly"] == "1"
    assert reader["allow_ddl"] == "0"
    assert reader["result_overflow_mode"] == "throw"
    for bound in ("execution_time", "memory_usage", "threads", "result_rows", "result_bytes"):
        assert int(reader[f"max_{bound}"]) > 0
    [may_change] = children(USERS, "profiles/davylamp_reader/constraints")
    assert may_change.tag == "max_execution_time"
    assert may_change.find("changeable_in_readonly") is not None
    improvements = {each.tag: each.text for each in children(CONFIG, "access_control_improvements")}
    assert set(improvements.values()) == {"true"}
    assert "settings_constraints_replace_previous" in improvements


def test_settings_and_names_are_ones_the_engine_knows(store: Store) -> None:
    known = {
        str(row[0])
        for row in store.writer.run(lambda client: client.query("SELECT name FROM system.settings"))
    }
    for profile in children(USERS, "profiles"):
        assert {each.tag for each in profile if each.tag != "constraints"} <= known
    quotas = {each.tag for each in children(USERS, "quotas")}
    profiles = {each.tag for each in children(USERS, "profiles")}
    for user in children(USERS, "users"):
        assert user.findtext("profile") in profiles
        assert user.findtext("quota") in quotas


@pytest.mark.parametrize("name", ["config.d", "users.d"])
def test_the_readme_names_each_folder(name: str) -> None:
    assert name in (FOLDER / "README.md").read_text("utf-8")


def test_the_readme_says_how_long_each_log_is_kept() -> None:
    rows = re.findall(
        r"^\| (`.+?) \| (\d+) \|$", (FOLDER / "README.md").read_text("utf-8"), re.MULTILINE
    )
    said = {name: int(days) for names, days in rows for name in re.findall(r"`(\w+)`", names)}
    kept = {
        log.tag: int(re.findall(r"INTERVAL (\d+)", log.findtext("ttl") or "")[0])
        for log in CONFIG
        if log.find("ttl") is not None
    }
    assert said == kept
