"""The only place that knows clickhouse-connect, and imports it late: it is heavy, as chDB is.

Readers' connections (``sqlhttp.engine``) are chDB's own: what they ask is bytes in and bytes out.

Traps this module hides: chDB allows one path per process; a reader must be a client made
read-only from the start (a read-only *query* would poison the writer's client); and a query that
fails halfway leaves what it had found to be the answer of the next one.
"""

from __future__ import annotations

import gzip
import logging
import re
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from monitor.errors import StoreError
from monitor.store.cluster import on_cluster

Row = tuple[Any, ...]
# The first two keep a block that is written again out of tables and views alike; one that waited
# for long holds many days. Views wait for the disk side by side.
_KNOWN_BY_TOKEN = {
    "insert_deduplicate": 1,
    "deduplicate_blocks_in_dependent_materialized_views": 1,
    "max_partitions_per_insert_block": 0,
    "parallel_view_processing": 1,
}
# A file may hold rows of any number of days, and rows that were written before; and the blocks
# that are made of it must not be so large that memory grows with it.
_LOADING = {
    "insert_deduplicate": 0,
    "max_partitions_per_insert_block": 0,
    "min_insert_block_size_rows": 100_000,
    "min_insert_block_size_bytes": 32_000_000,
    "max_insert_threads": 1,
    "max_threads": 1,
}
_PIECE_BYTES = 1 << 20
_CONNECT_SECONDS = 5
# A writer is told of progress meanwhile; a reader, who may change no setting, is not.
_READING_TAKES = 4
_URL = re.compile(r"( with url: \S+| executing HTTP request attempt \d+ \(\S+\))")
# What the engine quotes in its reason may be a value of ours.
_OF_ENGINE = "DB::"
_CODE = re.compile(r"\bCode: (\d+)\.")
# Values that cannot be parsed, are too large, or break a constraint.
_OF_VALUES = frozenset({6, 27, 53, 69, 70, 72, 117, 131, 321, 349, 407, 469})
# By then the table itself has the rows.
_OF_VIEW = "while pushing to view"
_QUOTED = re.compile(r"(['\"`]).*?(\1|$)")
_SCHEMES = ("clickhouse", "clickhouses", "http", "https")
_TLS_SCHEMES = ("clickhouses", "https")


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

    def stream(
        self, sql: str, form: str, parameters: Mapping[str, Any] | None = None
    ) -> Iterator[bytes]:
        """Yield what a query returns, as bytes in a form such as ``Native``, piece by piece.

        However much it is, memory stays the same. The client does nothing else until the last
        piece is taken or the iterator is closed.
        """

    def insert_file(self, table: str, columns: Sequence[str], file: Path, form: str) -> None:
        """Write the rows of a gzip file. If it raises, some of them may have been written."""

    def command(self, sql: str, parameters: Mapping[str, Any] | None = None) -> None:
        """Run a statement that returns nothing."""

    def close(self) -> None:
        """Let go of the connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where the data is: embedded at ``path``, or on the ClickHouse server at ``url``.

    With a ``cluster`` the server is one of its replicas, and statements are said to all of it.
    A server that says nothing for ``answer_seconds`` counts as failed.
    """

    path: Path | None = None
    url: str | None = None
    password: str = ""
    cluster: str | None = None
    answer_seconds: int = 15

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

    # Both print URLs, hence what is asked for. What became of it is in the errors raised here.
    for library in ("urllib3", "clickhouse_connect"):
        logging.getLogger(library).setLevel(logging.CRITICAL)
    _without_pandas()
    where: dict[str, Any]
    if location.url is None:
        where = {"interface": "chdb", "path": str(location.path)}
    else:
        # Without a session the server lets several threads ask at once.
        where = {
            "dsn": location.url,
            "password": location.password,
            "autogenerate_session_id": False,
            # By itself the library knows TLS by the ports 443 and 8443 alone.
            "secure": urlsplit(location.url).scheme in _TLS_SCHEMES,
            "connect_timeout": min(_CONNECT_SECONDS, location.answer_seconds),
            "send_receive_timeout": location.answer_seconds * (_READING_TAKES if read_only else 1),
        }
    settings = {"readonly": 1} if read_only else {}
    try:
        raw = clickhouse_connect.get_client(**where, tz_mode="aware", settings=settings)
    except (Error, OSError, RuntimeError) as error:
        msg = f"{location}: the store cannot be opened: {_first_line(error)}"
        raise StoreError(msg) from error
    return _ClickHouse(raw, embedded=location.url is None, cluster=location.cluster)


def _without_pandas() -> None:
    """Tell clickhouse-connect that there is no pandas.

    It imports pandas to ask whether the rows it writes are a frame of it. Ours never are, and each
    process that writes would spend most of a second and tens of megabytes on that.
    """
    from clickhouse_connect.driver import options

    options.pd = options.pd_time_test = None


class _ClickHouse:
    """``Client`` over clickhouse-connect; one lock inside it serialises the calls."""

    def __init__(self, raw: Any, *, embedded: bool, cluster: str | None = None) -> None:
        from clickhouse_connect.driver import exceptions
        from urllib3.exceptions import HTTPError

        self._raw = raw
        self._embedded = embedded
        self._cluster = cluster
        # A server answers several at once; the embedded engine one, and what tidies up after it.
        self._one_answer: AbstractContextManager[Any] = (
            threading.RLock() if embedded else nullcontext()
        )
        self._failures = (exceptions.Error, HTTPError, OSError, RuntimeError)
        self._bad_values = (
            exceptions.DataError,
            exceptions.ProgrammingError,
            ArithmeticError,
            AttributeError,
            LookupError,
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
            msg = f"{table}: {_reason_without_values(error)}"
            if _is_of_values(error):
                raise UnwritableError(msg) from error
            raise StoreError(msg) from error

    def query(self, sql: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        with self._answering():
            found = self._raw.query(sql, parameters=dict(parameters or {}))
        return [tuple(row) for row in found.result_rows]

    def stream(
        self, sql: str, form: str, parameters: Mapping[str, Any] | None = None
    ) -> Iterator[bytes]:
        # A server says that it failed halfway only if it was to wait for the end.
        waiting = {"wait_end_of_query": 1}
        try:
            answer = self._raw.raw_stream(
                sql, parameters=dict(parameters or {}), settings=waiting, fmt=form
            )
            try:
                while piece := answer.read(_PIECE_BYTES):
                    yield piece
            finally:
                answer.close()
        except self._failures as error:
            raise StoreError(_first_line(error)) from error

    def insert_file(self, table: str, columns: Sequence[str], file: Path, form: str) -> None:
        try:
            with file.open("rb") as packed:
                if self._embedded:
                    self._raw.command(_load_statement(table, columns, packed.fileno(), form))
                    return
                rows = gzip.GzipFile(fileobj=packed)
                pieces = iter(lambda: rows.read(_PIECE_BYTES), b"")
                self._raw.raw_insert(
                    table, list(columns), insert_block=pieces, fmt=form, settings=_LOADING
                )
        except (*self._failures, EOFError, zlib.error) as error:
            msg = f"{file}: {_first_line(error)}"
            raise StoreError(msg) from error

    def command(self, sql: str, parameters: Mapping[str, Any] | None = None) -> None:
        said = on_cluster(sql, self._cluster) if self._cluster else sql
        with self._answering():
            self._raw.command(said, parameters=dict(parameters or {}))

    def close(self) -> None:
        self._raw.close()

    @contextmanager
    def _answering(self) -> Iterator[None]:
        """Let one answer be taken, and leave nothing of one that failed to the next."""
        with self._one_answer:
            try:
                yield
            except self._failures as error:
                if self._embedded:
                    with suppress(*self._failures):
                        self._raw.raw_query("SELECT 1")
                raise StoreError(_first_line(error)) from error


def _load_statement(table: str, columns: Sequence[str], descriptor: int, form: str) -> str:
    """Return what makes the embedded engine read an open file by itself.

    The file's own name may hold anything, and the engine would read wildcards in it.
    """
    settings = ", ".join(f"{name} = {value}" for name, value in _LOADING.items())
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) FROM INFILE '/proc/self/fd/{descriptor:d}' "
        f"COMPRESSION 'gzip' SETTINGS {settings} FORMAT {form}"
    )


def _is_of_values(error: BaseException) -> bool:
    """Say whether the engine refused the rows themselves, and before it took any of them."""
    code = _CODE.search(str(error))
    return code is not None and int(code[1]) in _OF_VALUES and _OF_VIEW not in str(error)


def _reason_without_values(error: BaseException) -> str:
    reason = _first_line(error)
    return _QUOTED.sub("…", reason) if _OF_ENGINE in reason else reason


def _first_line(error: BaseException) -> str:
    """Return the reason, without the URL: that holds what was asked for."""
    lines = str(error).splitlines()
    if not lines:
        return type(error).__name__
    if "HTTPConnection" in lines[0] or "HTTPSConnection" in lines[0]:
        return _network_reason(error) or _URL.sub("", lines[0])[:300]
    return _URL.sub("", lines[0])[:300]


def _network_reason(error: BaseException) -> str:
    """Return what the network said, which libraries wrap several times over."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror.lower()
        cause = cause.__cause__ or cause.__context__
    return ""
