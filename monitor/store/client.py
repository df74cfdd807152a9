"""The only place that knows clickhouse-connect and chDB, and imports them late: they are heavy.

Traps this module hides: chDB allows one path per process, and a reader must be a client made
read-only from the start (a read-only *query* would poison the writer's client).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from monitor.errors import StoreError

Row = tuple[Any, ...]
# Together they keep a block that is written again out of tables and views alike.
_KNOWN_BY_TOKEN = {
    "insert_deduplicate": 1,
    "deduplicate_blocks_in_dependent_materialized_views": 1,
}
_SCHEMES = ("clickhouse", "clickhouses", "http", "https")


class UnwritableError(StoreError):
    """The rows themselves cannot be written; trying again will not help."""


class Client(Protocol):
    """What the store needs of a database. Every call may raise ``StoreError``."""

    def insert(
        self, table: str, rows: Sequence[Row], columns: Sequence[str], *, token: str = ""
    ) -> None:
        """Write all rows in one block, or none. Raises ``UnwritableError`` for bad values.

        A block whose ``token`` the table has seen changes nothing, there or in its views.
        """

    def query(self, sql: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """Return rows; values go only into ``parameters``, bound by the server."""

    def command(self, sql: str, parameters: Mapping[str, Any] | None = None) -> None:
        """Run a statement that returns nothing."""

    def close(self) -> None:
        """Let go of the connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where the data is: embedded at ``path``, or on the ClickHouse server at ``url``."""

    path: Path | None = None
    url: str | None = None
    password: str = ""

    def __repr__(self) -> str:
        return f"Location({self})"

    def __str__(self) -> str:
        return str(self.url or self.path)

    def check(self) -> None:
        """Raise ``StoreError`` unless exactly one place is named, without a secret in its URL."""
        if (self.path is None) == (self.url is None):
            msg = "a store is either embedded at a path or a server at a URL"
            raise StoreError(msg)
        if self.url is None:
            return
        parts = urlsplit(self.url)
        if parts.scheme not in _SCHEMES or not parts.hostname:
            msg = f"the store URL must be one of {', '.join(_SCHEMES)}://host[:port][/database]"
            raise StoreError(msg)
        if parts.password:
            msg = "the store URL must not hold a password; name a password file or variable instead"
            raise StoreError(msg)


def connect(location: Location, *, read_only: bool = False) -> Client:
    """Open a client. Raises ``StoreError`` with the database's reason if it cannot."""
    location.check()
    import clickhouse_connect
    from clickhouse_connect.driver.exceptions import Error

    where: dict[str, Any]
    if location.url is None:
        where = {"interface": "chdb", "path": str(location.path)}
    else:
        # Without a session the server lets several threads ask at once.
        where = {
            "dsn": location.url,
            "password": location.password,
            "autogenerate_session_id": False,
        }
    settings = {"readonly": 1} if read_only else {}
    try:
        raw = clickhouse_connect.get_client(**where, tz_mode="aware", settings=settings)
    except (Error, OSError, RuntimeError) as error:
        msg = f"{location}: the store cannot be opened: {_first_line(error)}"
        raise StoreError(msg) from error
    return _ClickHouse(raw)


class _ClickHouse:
    """``Client`` over clickhouse-connect; one lock inside it serialises the calls."""

    def __init__(self, raw: Any) -> None:
        from clickhouse_connect.driver import exceptions

        self._raw = raw
        self._failures = (exceptions.Error, OSError, RuntimeError)
        self._bad_values = (
            exceptions.DataError,
            exceptions.ProgrammingError,
            AttributeError,
            OverflowError,
            TypeError,
            UnicodeError,
            ValueError,
        )

    def insert(
        self, table: str, rows: Sequence[Row], columns: Sequence[str], *, token: str = ""
    ) -> None:
        known = _KNOWN_BY_TOKEN | {"insert_deduplication_token": token} if token else {}
        try:
            self._raw.insert(table, rows, column_names=list(columns), settings=known)
        except self._bad_values as error:
            msg = f"{table}: {type(error).__name__}"
            raise UnwritableError(msg) from error
        except self._failures as error:
            msg = f"{table}: {_first_line(error)}"
            raise StoreError(msg) from error

    def query(self, sql: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        try:
            found = self._raw.query(sql, parameters=dict(parameters or {}))
        except self._failures as error:
            raise StoreError(_first_line(error)) from error
        return [tuple(row) for row in found.result_rows]

    def command(self, sql: str, parameters: Mapping[str, Any] | None = None) -> None:
        try:
            self._raw.command(sql, parameters=dict(parameters or {}))
        except self._failures as error:
            raise StoreError(_first_line(error)) from error

    def close(self) -> None:
        self._raw.close()


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return lines[0][:300] if lines else type(error).__name__
