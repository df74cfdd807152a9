"""Is what stands in the database what the migrations come to: tables, views and what they say.

The ledger knows which migrations were applied, not what somebody did to their tables afterwards.
Compared is with ``latest.sql``, in the words of the engine that is asked. Left out is what is
compared elsewhere (terms), what a cluster says otherwise, and tables that are not ours.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from monitor.store.client import Client

REMEDY = (
    "restore a backup from before into a new storage.path, which makes every table and view anew "
    "(davylamp db restore); where only views differ, a backup taken now will do"
)
_QUALIFIER = r"(?:`[^`]+`|\w+)\."
_HEAD = re.compile(
    rf"CREATE (TABLE|MATERIALIZED VIEW) (?:IF NOT EXISTS )?(?:{_QUALIFIER})?(\w+)"
    r"(?: UUID '[^']*')? "
)
_FROM_OR_TO = re.compile(rf"\b(FROM|JOIN|TO) {_QUALIFIER}")
# What a view gives is in its SELECT; its list of columns is only derived from that.
_VIEW = re.compile(r"TO (?P<into>\w+) .*?(?:DEFINER = .*?)?AS (?P<select>(?:SELECT|WITH) .*)")
_ENGINE = re.compile(
    r"ENGINE = (?:Replicated|Shared)(\w*MergeTree)\('[^']*', '[^']*'(?:, )?([^()]*)\)"
)
_WINDOW = re.compile(r"\breplicated_deduplication_window(_seconds)? = ")
# As the engine has it by itself, or only where there is a cluster.
_SAID_OR_NOT = ("index_granularity = ", "non_replicated_deduplication_window_seconds = ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A table or view that is not what the migrations come to, and how."""

    name: str
    how: str

    def __str__(self) -> str:
        return f"{self.name} {self.how}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """What counts of a statement: a table's columns and keys, or a view's target and SELECT."""

    kind: str
    name: str
    body: str
    settings: frozenset[str] = frozenset()

    def is_met_by(self, there: _Made) -> bool:
        """Whether a table is this one; it may have more settings, as servers add."""
        same = (self.kind, self.name, self.body) == (there.kind, there.name, there.body)
        return same and self.settings <= there.settings


def differences(client: Client, statements: list[str]) -> tuple[Difference, ...]:
    """Hold the tables and views of a database against the statements that make them.

    Changes nothing. What the database has besides is not looked at. Raises ``StoreError`` if it
    cannot be asked.
    """
    found = client.query(
        "SELECT name, create_table_query FROM system.tables WHERE database = currentDatabase()"
    )
    there = {str(name): str(said) for name, said in found}
    differs = []
    for statement in statements:
        name = _made(statement).name
        if name not in there:
            differs.append(Difference(name=name, how="is not there"))
        elif not _is_met(client, statement, there[name]):
            differs.append(Difference(name=name, how="is not as it was made"))
    return tuple(differs)


def _is_met(client: Client, statement: str, said: str) -> bool:
    there = _made(said)
    if _made(statement).is_met_by(there):
        return True
    # Another version of the engine may write the same in other words.
    sql = "SELECT formatQuerySingleLine({said:String})"
    [(in_its_words,)] = client.query(sql, {"said": statement})
    return _made(str(in_its_words)).is_met_by(there)


def _made(statement: str) -> _Made:
    """Take apart a statement; what cannot be taken apart is equal to nothing of ours."""
    head = _HEAD.match(statement)
    if head is None:
        return _Made(kind="", name="", body=statement)
    kind, name = head.groups()
    rest = _FROM_OR_TO.sub(r"\1 ", statement[head.end() :])
    if kind == "MATERIALIZED VIEW":
        view = _VIEW.fullmatch(rest)
        body = f"{view['into']} {view['select']}" if view else rest
        return _Made(kind=kind, name=name, body=body)
    columns, engine, after = rest.rpartition(" ENGINE = ")
    keys, _, settings = after.partition(" SETTINGS ")
    keys = keys.partition(" TTL ")[0]
    body = _ENGINE.sub(_as_if_alone, f"{columns}{engine}{keys}")
    said = _WINDOW.sub(r"non_replicated_deduplication_window\1 = ", settings)
    kept = (each for each in said.split(", ") if each and not each.startswith(_SAID_OR_NOT))
    return _Made(kind=kind, name=name, body=body, settings=frozenset(kept))


def _as_if_alone(engine: re.Match[str]) -> str:
    arguments = f"({engine.group(2)})" if engine.group(2) else ""
    return f"ENGINE = {engine.group(1)}{arguments}"
