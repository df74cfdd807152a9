"""Which tables a reader may name, and how far the names of a statement itself reach."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from monitor.sqlhttp.failures import Code, RefusedError

DATABASE = "default"
SCHEMA_DATABASES = frozenset({"information_schema", "INFORMATION_SCHEMA"})
# What describes tables, types and settings. Not what others ask just now (`processes`,
# `query_log`), what the server is made of (`server_settings`, `stack_trace`), or its disks.
SYSTEM_TABLES = frozenset(
    {
        *("one", "numbers", "numbers_mt", "zeros", "zeros_mt"),
        *("databases", "tables", "columns", "parts", "parts_columns", "data_skipping_indices"),
        *("projections", "dictionaries", "functions", "table_functions", "formats", "settings"),
        *("table_engines", "data_type_families", "aggregate_function_combinators", "keywords"),
        *("collations", "time_zones", "build_options", "licenses", "user_defined_functions"),
        *("merge_tree_settings",),
    }
)
_SCHEMA_TABLES = frozenset(
    {
        *("tables", "columns", "views", "schemata", "key_column_usage", "statistics", "engines"),
        *("referential_constraints", "character_sets", "collations"),
    }
)
# Anything else as the name of a table may be taken for that of a file.
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TWO = 2


@dataclass(frozen=True, slots=True)
class Scope:
    """What the statement itself gave a name to, as seen from one place in it."""

    tables: frozenset[str] = field(default=frozenset())
    values: frozenset[str] = field(default=frozenset())
    repeated: bool = False  # within the arguments of a function that repeats them

    def with_table(self, name: str) -> Scope:
        """Return the scope with a further ``WITH name AS (SELECT …)``."""
        if not _PLAIN.fullmatch(name):
            raise RefusedError(Code.ACCESS_DENIED, "WITH must name plainly: letters, digits and _.")
        return replace(self, tables=self.tables | {name})

    def with_value(self, name: str) -> Scope:
        """Return the scope with a further ``WITH expression AS name``."""
        if not _PLAIN.fullmatch(name):
            return self
        return replace(self, values=self.values | {name})


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of the store, and with them all that may be named."""

    own: Collection[str]

    def check(self, parts: list[str], scope: Scope) -> None:
        """Refuse a table that is not the store's, not the statement's, and not of the schema."""
        if len(parts) == 1 and parts[0] in scope.tables:
            return
        if not self.knows(parts):
            raise _unknown(parts)

    def check_set(self, parts: list[str], scope: Scope) -> None:
        """Refuse a name after IN that might be read as a table that may not be read."""
        if len(parts) == 1 and parts[0] in scope.values:
            return
        self.check(parts, scope)

    def knows(self, parts: list[str]) -> bool:
        """Tell whether the name is that of a table which may be read."""
        if len(parts) == 1:
            return parts[0] in self.own
        if len(parts) != _TWO:
            return False
        database, table = parts
        if database == DATABASE:
            return table in self.own
        if database in SCHEMA_DATABASES:
            return table.lower() in _SCHEMA_TABLES
        return database == "system" and table in SYSTEM_TABLES


def check_database(name: str) -> None:
    """Refuse a database that has nothing to read."""
    if name not in (DATABASE, "system") and name not in SCHEMA_DATABASES:
        words = f"Database {_shown(name)} is not served; the store's is `{DATABASE}`."
        raise RefusedError(Code.UNKNOWN_DATABASE, words)


def _unknown(parts: list[str]) -> RefusedError:
    if parts[0] == "system" and len(parts) == _TWO:
        words = f"Table system.{_shown(parts[1])} is not offered to readers."
        return RefusedError(Code.ACCESS_DENIED, words)
    words = f"Table {_shown('.'.join(parts))} does not exist or is not offered to readers."
    return RefusedError(Code.UNKNOWN_TABLE, words)


def _shown(name: str) -> str:
    return name if _PLAIN.fullmatch(name.replace(".", "_")) else repr(name[:60])
