"""One setting makes every table replicated: the same statements, said to a cluster.

A pure rewriting of what we ourselves say, never of anything a user wrote. What Keeper carries to
every replica by itself (rows, mutations, TRUNCATE) is said once; what it does not is said to all
hosts with ON CLUSTER.
"""

from __future__ import annotations

import re

from monitor.errors import StoreError

# The server fills in what is in braces, from its macros and the statement. By its id, not its name:
# a table that takes another's place keeps its path.
_REPLICA = "'/clickhouse/tables/{uuid}/{shard}', '{replica}'"
# A spool may wait that long for a cluster and is still known by its tokens.
_TOKENS_SECONDS = 7 * 24 * 3600
_CLUSTER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
_NAME = r"(?:\w+|\{\w+:Identifier\})"
_TO_ALL_HOSTS = re.compile(
    rf"(?:CREATE (?:TABLE|MATERIALIZED VIEW) IF NOT EXISTS|DROP (?:TABLE|VIEW) IF EXISTS) {_NAME}"
    rf"|EXCHANGE TABLES {_NAME} AND {_NAME}"
    rf"|ALTER TABLE {_NAME}"
    r"(?=\s+(?:ADD|DROP|MODIFY|RESET|COMMENT|RENAME|CLEAR|MATERIALIZE|REMOVE)\b)"
)
_CARRIED_BY_KEEPER = re.compile(
    rf"(?:ALTER TABLE {_NAME}\s+(?:UPDATE|DELETE|REPLACE PARTITION)\b)"
    rf"|(?:(?:TRUNCATE TABLE IF EXISTS|OPTIMIZE TABLE|DELETE FROM) {_NAME})"
)
_READS_OR_ADDS = re.compile(r"(?:SELECT|WITH|INSERT|SHOW|DESCRIBE|EXPLAIN|EXISTS)\b")
_ENGINE = re.compile(r"\bENGINE = (\w*MergeTree)\b(?:\(([^)]*)\))?")
_WINDOW = re.compile(r"\bnon_replicated_deduplication_window = (\d+)")


def on_cluster(statement: str, cluster: str) -> str:
    """Return one of our statements as a cluster of replicas takes it.

    Raises ``StoreError`` for a name that is none, and for a kind of statement it does not know:
    on one host alone that might do half of what is meant.
    """
    if not _CLUSTER.fullmatch(cluster):
        msg = "the name of a cluster is letters, digits, dots, hyphens and underscores"
        raise StoreError(msg)
    said = statement.strip()
    if _READS_OR_ADDS.match(said) or _CARRIED_BY_KEEPER.match(said):
        return said
    head = _TO_ALL_HOSTS.match(said)
    if head is None:
        msg = f"a cluster cannot be told this statement: {said.split(maxsplit=3)[:3]}"
        raise StoreError(msg)
    rest = _WINDOW.sub(_replicated_window, said[head.end() :])
    if said.startswith("CREATE TABLE"):
        rest = _ENGINE.sub(_replicated_engine, rest, count=1)
    return f"{head.group()} ON CLUSTER '{cluster}'{rest}"


def _replicated_engine(engine: re.Match[str]) -> str:
    arguments = f", {engine.group(2)}" if engine.group(2) else ""
    return f"ENGINE = Replicated{engine.group(1)}({_REPLICA}{arguments})"


def _replicated_window(setting: re.Match[str]) -> str:
    return (
        f"replicated_deduplication_window = {setting.group(1)}, "
        f"replicated_deduplication_window_seconds = {_TOKENS_SECONDS}"
    )
