"""A ClickHouse server for tests: the HTTP interface, as far as the client uses it, over chDB.

Run as ``python -m tests.unit.store.gateway DIRECTORY [PORT]``; prints its port. It knows one user,
``default`` with the password ``gateway``.
"""

from __future__ import annotations

import base64
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import chdb
import lz4.frame

PASSWORD = "gateway"  # noqa: S105 - of a server that lives for one test
_FORMAT = re.compile(r"FORMAT\s+(\w+)\s*;?\s*$", re.IGNORECASE)
_INSERT = re.compile(rb"(INSERT INTO .+?) FORMAT (\w+)\n", re.IGNORECASE | re.DOTALL)

_OF_INSERTS = (
    *("insert_deduplicate", "insert_deduplication_token", "max_partitions_per_insert_block"),
    "deduplicate_blocks_in_dependent_materialized_views",
)


class Engine:
    """chDB behind one lock, with a connection that may write and one that may not."""

    def __init__(self, directory: str) -> None:
        self._lock = threading.Lock()
        connect: Any = chdb.connect
        self._connections = {each: connect(directory) for each in (False, True)}
        self._connections[True].query("SET readonly = 1")

    def query(self, sql: str, parameters: dict[str, str], *, read_only: bool) -> tuple[bytes, str]:
        """Return a result and its format."""
        named = _FORMAT.search(sql)
        form = named.group(1) if named else "TabSeparated"
        with self._lock:
            connection = self._connections[read_only]
            try:
                found = connection.query(sql, form, params=parameters)
                return bytes(found.bytes() or b""), form
            except RuntimeError:
                connection.query("SELECT 1")  # else half an answer would be the next one's
                raise

    def insert(
        self, head: str, form: str, data: bytes, settings: dict[str, str], *, read_only: bool
    ) -> None:
        """Write a block that came as the tail of a request."""
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            told = ", ".join(f"{name} = '{value}'" for name, value in settings.items())
            clause = f" SETTINGS {told}" if told else ""
            sql = f"{head} FROM INFILE '{file.name}'{clause} FORMAT {form}"
            with self._lock:
                self._connections[read_only].query(sql)


class Handler(BaseHTTPRequestHandler):
    """Speaks the HTTP interface."""

    engine: Engine
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answer one statement."""
        expected = "Basic " + base64.b64encode(f"default:{PASSWORD}".encode()).decode()
        asked = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        body = _plain(self._body(), self.headers.get("Content-Encoding", ""))
        if self.headers.get("Authorization") != expected:
            self._say(401, b"Code: 516. DB::Exception: Authentication failed", "")
            return
        try:
            self._say(200, *self._answer(asked, body))
        except RuntimeError as error:
            self._say(500, str(error).encode(), "")

    def _answer(self, asked: dict[str, str], body: bytes) -> tuple[bytes, str]:
        read_only = asked.get("readonly") == "1"
        if asked.get("query", "").startswith("INSERT INTO"):
            body = f"{asked['query']}\n".encode() + body
        insert = _INSERT.match(body)
        if insert:
            head, form = insert.group(1).decode(), insert.group(2).decode()
            told = {name: asked[name] for name in _OF_INSERTS if name in asked}
            self.engine.insert(head, form, body[insert.end() :], told, read_only=read_only)
            return b"", ""
        sql = "\n".join(part for part in (asked.get("query", ""), body.decode()) if part)
        parameters = {k[6:]: v for k, v in asked.items() if k.startswith("param_")}
        return self.engine.query(sql, parameters, read_only=read_only)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        chunks = []
        while size := int(self.rfile.readline(), 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def _say(self, status: int, body: bytes, form: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-ClickHouse-Timezone", "UTC")
        if form and body:
            self.send_header("X-ClickHouse-Format", form)
        if status != 200:
            self.send_header("X-ClickHouse-Exception-Code", "1")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Stay quiet."""


def _plain(body: bytes, coding: str) -> bytes:
    return bytes(lz4.frame.decompress(body)) if coding == "lz4" else body


def serve(directory: str, port: int = 0) -> None:
    """Serve until killed."""
    os.makedirs(directory, exist_ok=True)  # noqa: PTH103
    handler = type("BoundHandler", (Handler,), {"engine": Engine(directory)})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    print(server.server_port, flush=True)
    server.serve_forever()


class Gateway:
    """A gateway in a process of its own, to be killed, started again, or made to say nothing."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._process: subprocess.Popen[str] | None = None
        self.port = 0

    @property
    def url(self) -> str:
        """What to put into a configuration."""
        return f"clickhouse://default@127.0.0.1:{self.port}"

    def start(self) -> None:
        """Serve, at the same port as before."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(self._directory), str(self.port)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[3],
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def fall_silent(self) -> None:
        """Accept connections, and answer nothing."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Answer again, what was asked meanwhile too."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Die at once; safe to call twice."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


if __name__ == "__main__":
    serve(sys.argv[1], *map(int, sys.argv[2:]))
