"""One real store with rows in it a test file, and the engine that readers are given over it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.sinks import ClickHouseSink
from monitor.sqlhttp.engine import Limits, SqlEngine
from monitor.sqlhttp.failures import SqlError
from monitor.store import Store, open_store
from tests.unit.store.samples import good, trial, verdict

SECRET = "PLANTED-4711-secret"  # noqa: S105 - what no answer may hold
PARAMETERS = {
    "target": "glm",
    "n": "3",
    "ids": "['a', 'b']",
    "since": "2026-01-01 00:00:00",
    "maybe": "\\N",
    "day": "2026-01-01",
}


class Served:
    """An engine over a store, with traps around it."""

    def __init__(self, store: Store, engine: SqlEngine, folder: Path, trap: socket.socket) -> None:
        self.store = store
        self.engine = engine
        self.secret = folder / "planted.txt"
        self.out = folder / "out"
        self.trap = trap
        self.secret.write_text(f"{SECRET}\n")
        self.rows_at_first = self.rows()

    def ask(self, statement: str, form: str | None = None, **parameters: str) -> bytes:
        """Return the whole answer."""
        answer = self.engine.run(statement.encode(), PARAMETERS | parameters, form)
        with answer.file:
            return answer.file.read()

    def rows(self) -> int:
        """Return how many rows the store holds."""
        sql = "SELECT sum(total_rows) FROM system.tables WHERE database = 'default'"
        return int(self.ask(sql))

    def was_called(self) -> bool:
        """Tell whether anything connected to the trap."""
        try:
            self.trap.accept()[0].close()
        except BlockingIOError:
            return False
        return True


def error_of(served: Served, statement: str | bytes, **parameters: str) -> SqlError | None:
    """Return what a statement is answered with, if that is an error."""
    sent = statement.encode() if isinstance(statement, str) else statement
    try:
        served.engine.run(sent, PARAMETERS | parameters, None).file.close()
    except SqlError as error:
        return error
    return None


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("sql")
    with (
        open_store(folder / "store") as store,
        socket.create_server(("127.0.0.1", 0)) as trap,
    ):
        trap.setblocking(False)
        sink = ClickHouseSink(store.writer, store.hasher)
        for number in range(1, 4):
            sink.deliver(trial(number), verdict(number) if number == 1 else good(number))
        store.flush()
        data = store.location.path
        assert data is not None
        engine = SqlEngine(data, folder / "store", Limits(max_seconds=20))
        engine.open()
        try:
            yield Served(store, engine, folder, trap)
        finally:
            engine.close()
