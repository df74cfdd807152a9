"""A cluster: every statement of ours, rewritten, is read by the real engine as what is meant."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import monitor
from monitor.config.storage import Retention
from monitor.errors import StoreError
from monitor.store import Store
from monitor.store.client import Row
from monitor.store.cluster import on_cluster
from monitor.store.migrate import LEDGER, Migration, check_cluster, shipped
from monitor.store.retention import terms
from tests.unit.store.latest import FILE

LATEST = Migration(version=0, name=FILE.name, sql=FILE.read_text("utf-8"))
STATEMENTS = [
    LEDGER,
    *(each for file in shipped() for each in file.statements()),
    *LATEST.statements(),
    *(term.statement for term in terms(Retention())),
]
REPLICA = "'/clickhouse/tables/{uuid}/{shard}', '{replica}'"
CHANGES = re.compile(
    r"\s*\b(ALTER TABLE|CREATE|DROP|TRUNCATE|OPTIMIZE|DELETE FROM|RENAME|EXCHANGE|DETACH|ATTACH)\s"
)


@pytest.fixture(scope="module")
def parsed(store: Store) -> list[tuple[str, str, str]]:
    """Each statement, and how the engine's parser reads it alone and as said to a cluster."""
    sql = "SELECT formatQuerySingleLine(arrayJoin({said:Array(String)}))"

    def read(said: list[str]) -> list[str]:
        found = store.writer.run(lambda client: client.query(sql, {"said": said}))
        return [str(row[0]) for row in found]

    together = read([on_cluster(each, "main") for each in STATEMENTS])
    return list(zip(STATEMENTS, read(STATEMENTS), together, strict=True))


def test_tables_are_replicated_on_all_hosts(parsed: list[tuple[str, str, str]]) -> None:
    for statement, _, together in parsed:
        if statement.lstrip().startswith(("CREATE", "DROP")) or " MODIFY " in statement:
            assert together.count(" ON CLUSTER main ") + together.endswith("ON CLUSTER main") == 1
        if statement.lstrip().startswith("CREATE TABLE"):
            assert re.search(r" ENGINE = Replicated(Replacing|Aggregating)MergeTree\(", together)
            assert REPLICA in together
        assert "non_replicated_deduplication_window" not in together


def test_the_engine_reads_nothing_else(parsed: list[tuple[str, str, str]]) -> None:
    for _, alone, together in parsed:
        undone = together.replace(" ON CLUSTER main", "").replace("Replicated", "")
        undone = undone.replace(f"({REPLICA}, ", "(").replace(f"({REPLICA})", "")
        undone = re.sub(
            r" replicated_deduplication_window = (\d+), "
            r"replicated_deduplication_window_seconds = \d+",
            r" non_replicated_deduplication_window = \1",
            undone,
        )
        assert undone == alone


def test_settings_are_changed_on_every_host_and_alone() -> None:
    # What else stood in such a statement, one host would carry out for all, settings included.
    for statement in STATEMENTS:
        if "MODIFY SETTING" in statement:
            assert re.fullmatch(r"ALTER TABLE \w+ MODIFY SETTING [\w =,]+", statement)
            assert " ON CLUSTER 'main' MODIFY SETTING " in on_cluster(statement, "main")


def test_the_engine_knows_every_setting_of_a_replicated_table(store: Store) -> None:
    sql = "SELECT name FROM system.replicated_merge_tree_settings"
    known = {str(row[0]) for row in store.writer.run(lambda client: client.query(sql))}
    said = {
        name
        for statement in STATEMENTS
        for settings in re.findall(r"SETTINGS? (.+)$", on_cluster(statement, "main"))
        if statement.lstrip().startswith(("CREATE TABLE", "ALTER TABLE"))
        for name in re.findall(r"(\w+) = ", settings)
    }
    of_a_query = {"mutations_sync", "allow_nondeterministic_mutations"}
    assert "replicated_deduplication_window" in said
    assert said - of_a_query <= known


def test_tokens_are_known_for_as_long_as_a_spool_may_wait() -> None:
    [said] = {
        match
        for statement in STATEMENTS
        for match in re.findall(r" (replicated_dedup.+?seconds = \d+)", on_cluster(statement, "c"))
    }
    assert said == (
        "replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800"
    )


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE signals UPDATE held = false WHERE trial = {trial:String}",
        "ALTER TABLE bodies\n    DELETE WHERE trial = 'x' SETTINGS mutations_sync = 2",
        "TRUNCATE TABLE IF EXISTS verdicts_hourly",
        "OPTIMIZE TABLE bodies FINAL",
        "INSERT INTO trials SELECT * FROM trials",
        "SELECT 1",
    ],
)
def test_what_keeper_carries_is_said_once(statement: str) -> None:
    assert on_cluster(statement, "main") == statement


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE verdicts (a Int8) ENGINE = MergeTree ORDER BY a",
        "CREATE DATABASE other",
        "SYSTEM FLUSH LOGS",
        "RENAME TABLE trials TO old",
        "ALTER TABLE trials FETCH PARTITION 1 FROM 'x'",
        "",
    ],
)
def test_a_statement_it_does_not_know_is_refused(statement: str) -> None:
    with pytest.raises(StoreError, match="a cluster cannot be told this statement"):
        on_cluster(statement, "main")


@pytest.mark.parametrize("name", ["", "a'b", "a b", "-a", "x" * 65, "a;DROP TABLE trials"])
def test_a_name_that_is_none_reaches_no_statement(name: str) -> None:
    with pytest.raises(StoreError, match="the name of a cluster is letters"):
        on_cluster("SELECT 1", name)


def spoken() -> list[str]:
    """Return every text in the product that changes the database, values left out."""
    found = []
    for file in sorted(Path(monitor.__file__).parent.rglob("*.py")):
        source = file.read_text("utf-8")
        if not re.search(CHANGES.pattern, source):
            continue
        tree = ast.parse(source)
        pieces = {id(part) for node in ast.walk(tree) for part in parts_of(node)}
        texts = [text_of(node) for node in ast.walk(tree) if id(node) not in pieces]
        # With a backslash it is a pattern of statements, and short it is the beginning of one.
        found += [
            text
            for text in texts
            if CHANGES.match(text) and len(text.split()) > 3 and "\\" not in text
        ]
    return found


def parts_of(node: ast.AST) -> list[ast.expr]:
    return list(node.values) if isinstance(node, ast.JoinedStr) else []


def text_of(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else "x" for part in parts_of(node)
    )


def test_everything_the_product_says_can_be_said_to_a_cluster() -> None:
    said = spoken()
    assert len(said) >= 3
    for statement in said:
        on_cluster(statement, "main")


class Server:
    """Answers what ``check_cluster`` asks of a server's system tables."""

    def __init__(self, *, shards: int = 1, macros: str = "shard replica", engine: str = "") -> None:
        self.answers: dict[str, list[Row]] = {
            "system.clusters": [("other", 1), *(("main", n) for n in range(1, shards + 1))],
            "system.macros": [(macro,) for macro in macros.split()],
            "system.tables": [(engine,)] if engine else [],
        }

    def query(self, sql: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        [rows] = (rows for table, rows in self.answers.items() if f"FROM {table}" in sql)
        return rows


@pytest.mark.parametrize(
    ("server", "cluster", "says"),
    [
        (Server(shards=0), "main", r"no cluster 'main' \(it knows: other\)"),
        (Server(shards=2), "main", "main has 2 shards, and a store needs one"),
        (Server(macros="shard"), "main", "the server has no macro 'replica'"),
        (Server(engine="ReplacingMergeTree"), "main", "was made without a cluster"),
        (Server(engine="ReplicatedReplacingMergeTree"), None, "was made with a cluster"),
    ],
)
def test_a_server_that_does_not_fit_is_refused(server: Any, cluster: str | None, says: str) -> None:
    with pytest.raises(StoreError, match=says):
        check_cluster(server, cluster)


@pytest.mark.parametrize(
    ("server", "cluster"),
    [
        (Server(), "main"),
        (Server(engine="ReplicatedReplacingMergeTree"), "main"),
        (Server(shards=0, macros=""), None),
        (Server(engine="ReplacingMergeTree"), None),
    ],
)
def test_a_server_that_fits_is_taken(server: Any, cluster: str | None) -> None:
    check_cluster(server, cluster)
