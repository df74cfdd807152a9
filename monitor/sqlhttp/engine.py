"""The embedded engine as readers see it: a few connections that may only read, each with limits.

Every answer goes into a file first: in any format, of any size, in constant memory. So an error is
known before a status is sent, an answer is whole or it is none, and a reader who is slow to take
it keeps no connection busy.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from monitor.errors import StoreError
from monitor.sqlhttp.failures import Code, RefusedError, SqlError, engine_failure, stopping
from monitor.sqlhttp.formats import DEFAULT
from monitor.sqlhttp.names import DATABASE, Tables
from monitor.sqlhttp.native import header
from monitor.sqlhttp.statement import MOST_BYTES, Parsed, Statement, read_statement
from monitor.sqlhttp.turns import Turn, Turns
from monitor.store.taking import NoRoomError, Taking, TooLargeError

ANSWERS = "sql-answers"
_OURS = "davylamp-sql"
_OWNER_ONLY = 0o700
_KILL = f"KILL QUERY WHERE Settings['log_comment'] = '{_OURS}' ASYNC"
# The engine is given this long to say itself that a statement's time is over.
_GRACE_SECONDS = 2
# Bytes of a result as the engine counts them; on disk they may be a few times as many.
_RESULT_BYTES = 512 * 1024 * 1024
_MAX_DEPTH = 150
_NO_TREE = "parseQueryToJSON"
# hex(), because the engine's tree may hold bytes that are no text.
_PARSE = (
    "WITH unhex({sent:String}) AS q, parseQueryToJSON(q) AS tree, formatQueryFromJSON(tree) AS text"
    " SELECT hex(tree), hex(formatQuerySingleLine(q)), hex(text), hex(parseQueryToJSON(text))"
)
_WRITE = (
    "WITH formatQueryFromJSON(unhex({sent:String})) AS text"
    " SELECT hex(text), hex(parseQueryToJSON(text))"
)
_TEXT = "SELECT hex(formatQuerySingleLine(unhex({sent:String})))"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one statement may take, and how many run at once."""

    max_seconds: int = 30
    max_memory_bytes: int = 1024 * 1024 * 1024
    max_rows: int = 1_000_000
    readers: int = 2
    threads: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A whole answer, in a file without a name. Close it."""

    file: IO[bytes]
    bytes: int
    form: str
    read_rows: int
    read_bytes: int
    elapsed_nanoseconds: int

    def close(self) -> None:
        """Let go of the file."""
        self.file.close()


class SqlEngine:
    """Opened over the data of a store that this process owns."""

    def __init__(self, data: Path, folder: Path, limits: Limits) -> None:
        self._data = data
        self._answers = folder / ANSWERS
        self.limits = limits
        self._turns = Turns()
        self._connections: list[Any] = []
        self._control: Any = None
        self._control_lock = threading.Lock()
        self._tables = Tables(own=frozenset())
        self.version = ""
        self.timezone = ""

    def open(self) -> None:
        """Open the connections. Raises ``StoreError`` if the engine or the folder refuses."""
        import chdb

        connect: Any = chdb.connect
        path = os.path.realpath(self._data)
        try:
            shutil.rmtree(self._answers, ignore_errors=True)
            self._answers.mkdir(mode=_OWNER_ONLY, parents=True, exist_ok=True)
            self._control = connect(path)
            for _ in range(self.limits.readers):
                connection = connect(path)
                self._turns.add(connection)
                self._connections.append(connection)
                connection.query(f"SET {self._settings()}")
                connection.query("SET readonly = 1")
            self.version, self.timezone = self._ask("SELECT version(), timezone()")
        except (OSError, RuntimeError) as error:
            self.close()
            msg = f"{self._data}: the store cannot be served: {str(error).splitlines()[0][:300]}"
            raise StoreError(msg) from error
        self._look_at_tables()

    def close(self) -> bool:
        """End what runs, close the connections and remove what is left of answers.

        Returns, after a few seconds at most, whether all statements ended. A connection with one
        that did not is left open: to close it would be to wait.
        """
        all_ended = self._turns.stop(self.end_running)
        if self._control is not None:
            self._control.close()
        self._connections, self._control = [], None
        shutil.rmtree(self._answers, ignore_errors=True)
        return all_ended

    def end_running(self) -> None:
        """End what readers run just now; each of them is told."""
        with self._control_lock, contextlib.suppress(RuntimeError):
            self._control.query(_KILL)

    def run(
        self,
        sent: bytes,
        parameters: Mapping[str, str],
        form: str | None,
        patience: float | None = None,
    ) -> Answer:
        """Return the answer to one statement, in the form it names, else ``form``.

        Waits ``patience`` seconds for a connection. Raises ``SqlError``; ``RefusedError`` if
        nothing of it ran. Whatever the statement is, this ends a little after its time, and once
        the engine closes.
        """

        def work(turn: Turn) -> Answer:
            engine = _Connection(turn)
            statement = self._read(engine, sent, parameters)
            return self._answer(engine, statement, parameters, statement.form or form or DEFAULT)

        most = self.limits.max_seconds
        return self._turns.run(
            work, patience=most if patience is None else patience, seconds=most + _GRACE_SECONDS
        )

    def _read(self, engine: _Connection, sent: bytes, parameters: Mapping[str, str]) -> Statement:
        try:
            return read_statement(engine, sent, self._tables, parameters)
        except RefusedError as refused:
            if refused.code != Code.UNKNOWN_TABLE:
                raise
            # A table may have come since: migrations make them.
            self._look_at_tables()
            return read_statement(engine, sent, self._tables, parameters)

    def _answer(
        self, engine: _Connection, statement: Statement, parameters: Mapping[str, str], form: str
    ) -> Answer:
        # Unlinked from the start: nothing is left of it, however this process ends.
        file = tempfile.TemporaryFile(dir=self._answers, buffering=0)  # noqa: SIM115 - handed on
        try:
            taking = Taking(file)
            with _kept(), taking.open():
                tail = f" INTO OUTFILE '{taking.place}' TRUNCATE FORMAT {form}"
                done = engine.ask(statement.sql + tail, parameters)
            if form == "Native" and not file.tell():
                file.write(self._header(engine, statement, parameters))
            size = file.tell()
            file.seek(0)
        except BaseException:
            file.close()
            raise
        return Answer(
            file=file,
            bytes=size,
            form=form,
            read_rows=done.rows_read(),
            read_bytes=done.bytes_read(),
            elapsed_nanoseconds=int(done.elapsed() * 1_000_000_000),
        )

    def _header(
        self, engine: _Connection, statement: Statement, parameters: Mapping[str, str]
    ) -> bytes:
        """Return the block without rows that tells names and types: the engine leaves it out."""
        sql = statement.sql
        if statement.is_select:
            sql = f"DESCRIBE TABLE ({sql})"
        found = engine.ask(sql, parameters, "JSONCompact").bytes() or b"{}"
        said = json.loads(found.decode("utf-8", "replace"))
        if statement.is_select:
            return header([(name, kind) for name, kind, *_ in said["data"]])
        return header([(each["name"], each["type"]) for each in said["meta"]])

    def _look_at_tables(self) -> None:
        sql = "SELECT name FROM system.tables WHERE database = "
        rows = self._rows(f"{sql}'{DATABASE}'")
        self._tables = Tables(own=frozenset(rows))

    def _ask(self, sql: str) -> list[str]:
        return self._rows(sql)[0].split("\t")

    def _rows(self, sql: str) -> list[str]:
        with self._control_lock:
            found = self._control.query(sql, "TSV").bytes() or b""
        return str(found.decode()).splitlines()

    def _settings(self) -> str:
        limits = self.limits
        return ", ".join(
            f"{name} = {value}"
            for name, value in {
                "log_comment": f"'{_OURS}'",
                "max_execution_time": limits.max_seconds,
                "timeout_overflow_mode": "'throw'",
                "max_memory_usage": limits.max_memory_bytes,
                "max_result_rows": limits.max_rows,
                "max_result_bytes": _RESULT_BYTES,
                "result_overflow_mode": "'throw'",
                "max_threads": limits.threads,
                "max_query_size": 4 * MOST_BYTES,
                "max_parser_depth": 4 * _MAX_DEPTH,
                "max_ast_depth": _MAX_DEPTH,
                "max_ast_elements": 50_000,
                "max_expanded_ast_elements": 200_000,
                "allow_ddl": 0,
                "allow_introspection_functions": 0,
                "implicit_select": 0,
                "enable_http_compression": 1,
            }.items()
        )


class _Connection:
    """One connection of the engine, with its errors as ours."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn

    def ask(self, sql: str, parameters: Mapping[str, str], form: str = "TSV") -> Any:
        """Run a statement that has been judged. Nothing begins that nobody waits for any more."""
        if self._turn.is_settled:
            raise stopping()
        try:
            found = self._turn.connection.query(sql, form, params=dict(parameters))
        except RuntimeError as error:
            raise engine_failure(error) from None
        except UnicodeDecodeError:
            # What it says quotes bytes that are no text.
            raise SqlError(Code.BAD_ARGUMENTS, "The statement failed on bytes.") from None
        return found

    def parse(self, statement: bytes) -> Parsed:
        """Return what one statement is. Nothing of it runs."""
        sent = {"sent": statement.hex()}
        try:
            tree, text, tree_text, again = self._texts(_PARSE, sent)
        except SqlError as failure:
            if failure.code != Code.BAD_ARGUMENTS or _NO_TREE not in failure.words:
                raise
            (text,) = self._texts(_TEXT, sent)
            return Parsed(tree=None, text=text, tree_text="", tree_again=None)
        return Parsed(
            tree=json.loads(tree), text=text, tree_text=tree_text, tree_again=json.loads(again)
        )

    def write(self, tree: dict[str, Any]) -> Parsed:
        """Return what a tree says, and what is read from that again."""
        sent = json.dumps(tree, ensure_ascii=False).encode("utf-8", "surrogateescape").hex()
        text, again = self._texts(_WRITE, {"sent": sent})
        return Parsed(tree=tree, text=text, tree_text=text, tree_again=json.loads(again))

    def _texts(self, sql: str, parameters: Mapping[str, str]) -> list[str]:
        found = self.ask(sql, parameters).bytes() or b""
        parts = found.decode("ascii").rstrip("\n").split("\t")
        return [bytes.fromhex(part).decode("utf-8", "surrogateescape") for part in parts]


@contextlib.contextmanager
def _kept() -> Iterator[None]:
    """Say of an answer that could not be kept what ClickHouse would say of it."""
    try:
        yield
    except TooLargeError as error:
        words = f"Limit for result exceeded: {error}."
        raise SqlError(Code.TOO_MANY_ROWS_OR_BYTES, words) from None
    except NoRoomError as error:
        words = f"The answer cannot be kept until it is sent: {error}."
        raise SqlError(Code.NOT_ENOUGH_SPACE, words) from None
