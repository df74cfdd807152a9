"""Readers of the embedded store: unmodified clients of ClickHouse against our own processes."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import json
import signal
import socket
import stat
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import clickhouse_connect
import httpx
import pytest
from clickhouse_connect.driver.exceptions import ClickHouseError

from monitor.cli.main import main
from tests.integration.processes import (
    COMMAND,
    Endpoint,
    Installation,
    first_line,
    free_port,
    install,
    process,
    wait_until,
)

SOURCE = Endpoint(url="http://127.0.0.1:9/v1", model="none", keys={"a": "sk-none"})
START_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """A process that serves readers."""

    installation: Installation
    process: subprocess.Popen[str]
    port: int

    @property
    def token(self) -> str:
        """The password that the process made."""
        return (self.installation.store / "sql.token").read_text("ascii")

    def client(self, **settings: Any) -> Any:
        """Return an unmodified client."""
        asked = {"username": "davylamp", "password": self.token} | settings
        return clickhouse_connect.get_client(host="127.0.0.1", port=self.port, **asked)

    def ask(self, statement: str) -> httpx.Response:
        """Return what plain HTTP gives."""
        return httpx.post(
            f"http://127.0.0.1:{self.port}/",
            content=statement,
            headers={"X-ClickHouse-Key": self.token},
            timeout=60,
        )


def prepared(folder: Path) -> Installation:
    """Return an installation that probes nothing, and serves readers on a free port."""
    installation = install(folder, SOURCE)
    installation.settings["storage"]["sql"] = {"port": free_port(), "max_seconds": 20}
    installation.settings["listen"] = {"port": free_port()}
    installation.settings["defaults"] = {"interval": "9d"}
    return installation.write()


@contextlib.contextmanager
def serving(installation: Installation) -> Iterator[Serving]:
    """Run ``davylamp db serve`` while entered."""
    command = [COMMAND, "db", "serve", "--config", str(installation.config)]
    with process(command, stderr=installation.folder / "serve.log") as started:
        line = first_line(started)
        port = installation.settings["storage"]["sql"]["port"]
        assert f"serving http://127.0.0.1:{port} to user davylamp" in line
        yield Serving(installation=installation, process=started, port=port)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(prepared(tmp_path_factory.mktemp("served"))) as running:
        yield running


WIDE = """
SELECT {text:String} AS text, {many:Array(UInt8)} AS many, CAST(NULL AS Nullable(String)) AS none,
    toDateTime64('2026-01-01 00:00:00.123', 3, 'UTC') AS at, toLowCardinality('low') AS low,
    map('a', 1) AS pairs, (1, 'x') AS two, toDecimal64(1.5, 2) AS exact,
    toDate('2026-01-02') AS day,
    generateUUIDv4() != toUUID('61f0c404-5cb3-11e7-907b-a6006ad3dba0') AS other,
    finalizeAggregation(initial) AS total
FROM (SELECT sumState(number) AS initial FROM numbers(4))
"""
HOSTILE = 'it\'s "quoted" \\ and\n\ttabbed; DROP TABLE verdicts -- é 😀'


def check_values(row: dict[str, Any]) -> None:
    assert row["text"] == HOSTILE
    assert list(row["many"]) == [1, 2, 3]
    assert row["none"] is None
    assert row["at"] == dt.datetime(2026, 1, 1, 0, 0, 0, 123_000, tzinfo=dt.UTC)
    assert row["low"] == "low"
    assert row["pairs"] == {"a": 1}
    assert row["two"] == (1, "x")
    assert float(row["exact"]) == 1.5
    assert row["day"] == dt.date(2026, 1, 2)
    assert row["other"] == 1
    assert row["total"] == 6


VALUES = {"text": HOSTILE, "many": [1, 2, 3]}


@pytest.mark.parametrize("compress", [False, True, "gzip"])
def test_the_synchronous_client(served: Serving, compress: bool | str) -> None:
    client = served.client(compress=compress, tz_mode="aware")
    assert client.ping()
    (row,) = client.query(WIDE, parameters=VALUES).named_results()
    check_values(dict(row))
    assert client.command("SELECT count() FROM verdicts") == 0
    empty = client.query("SELECT id, target FROM verdicts")
    assert (empty.column_names, empty.result_rows) == (("id", "target"), [])
    assert client.query("SELECT * FROM verdicts LIMIT 0").column_names[:2] == ("id", "source")
    with client.query_row_block_stream("SELECT number FROM numbers(100000)") as stream:
        assert sum(len(block) for block in stream) == 100_000
    large = client.query("SELECT length({a:Array(UInt32)})", parameters={"a": list(range(20_000))})
    assert large.result_rows == [(20_000,)]
    assert json.loads(client.raw_query("SELECT 1 AS a", fmt="JSONEachRow")) == {"a": 1}
    client.close()


def test_what_the_synchronous_client_may_not(served: Serving) -> None:
    client = served.client(compress=False)
    for statement, code in (
        ("SELECT file('/etc/hostname')", 497),
        ("DROP TABLE verdicts", 164),
        ("SELECT * FROM system.processes", 497),
        ("SELECT nothing FROM verdicts", 47),
    ):
        with pytest.raises(ClickHouseError) as caught:
            client.command(statement)
        assert caught.value.code == code
    with pytest.raises(ClickHouseError, match="Only SELECT, SHOW"):
        client.insert("verdicts", [["forged"]], column_names=["id"])
    client.close()
    for wrong in ({"password": "x"}, {"username": "root"}):
        with pytest.raises(ClickHouseError, match="Authentication failed"):
            served.client(**wrong)


def test_the_asynchronous_client(served: Serving) -> None:
    async def test() -> None:
        async with await clickhouse_connect.get_async_client(
            host="127.0.0.1",
            port=served.port,
            username="davylamp",
            password=served.token,
            compress=False,
            tz_mode="aware",
            autogenerate_session_id=False,
        ) as client:
            (row,) = (await client.query(WIDE, parameters=VALUES)).named_results()
            check_values(dict(row))
            found = await asyncio.gather(
                *(client.query("SELECT {n:UInt8}", parameters={"n": n}) for n in range(20))
            )
            assert [each.result_rows for each in found] == [[(n,)] for n in range(20)]
            with pytest.raises(ClickHouseError, match="not offered"):
                await client.query("SELECT * FROM url('http://127.0.0.1:1/', 'CSV', 'a String')")

    asyncio.run(test())


def test_large_answers_take_no_more_memory_than_small_ones(served: Serving) -> None:
    """Three times the rows, a hundred million bytes: what the process has resident hardly grows."""
    stream(served, 300_000)
    before = peak(served.process.pid)
    size, rows = stream(served, 900_000)
    assert size > 100_000_000
    assert rows == 900_000
    assert peak(served.process.pid) - before < 40_000_000


def stream(served: Serving, number: int) -> tuple[int, int]:
    """Take an answer of so many rows in pieces, and return its bytes and rows."""
    statement = (
        "SELECT number, repeat('x', 100) AS text FROM numbers({n:UInt32}) FORMAT JSONEachRow"
    )
    key = {"X-ClickHouse-Key": served.token}
    url = f"http://127.0.0.1:{served.port}/?param_n={number}"
    size = rows = 0
    with httpx.stream("POST", url, content=statement, headers=key, timeout=60) as found:
        assert found.status_code == 200
        for piece in found.iter_bytes():
            size += len(piece)
            rows += piece.count(b"\n")
    return size, rows


def peak(pid: int) -> int:
    """Return the most memory a process has had resident."""
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def test_limits_are_errors_and_never_a_cut(served: Serving) -> None:
    found = served.ask("SELECT number FROM numbers(1000001)")
    assert (found.status_code, found.headers["x-clickhouse-exception-code"]) == (500, "396")
    assert found.text.startswith("Code: 396. DB::Exception: Limit for result exceeded")


def test_files_are_their_owners_and_answers_leave_none(served: Serving) -> None:
    token = served.installation.store / "sql.token"
    assert stat.S_IMODE(token.stat().st_mode) == 0o600
    answers = served.installation.store / "sql-answers"
    assert stat.S_IMODE(answers.stat().st_mode) == 0o700
    served.ask("SELECT 1")
    assert not list(answers.iterdir())


def test_a_second_process_is_told_who_serves(
    served: Serving, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["db", "serve", "--config", str(served.installation.config)]) == 2
    assert f"process {served.process.pid} owns this store" in capsys.readouterr().err


def test_a_port_that_is_taken_is_named(
    served: Serving, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = str(prepared(tmp_path).config)
    assert main(["db", "serve", "--port", str(served.port), "--config", config]) == 2
    said = capsys.readouterr().err
    assert f"cannot serve on 127.0.0.1:{served.port}" in said
    assert "storage.sql.port" in said
    assert not (tmp_path / "store" / "data").exists()


def test_a_server_of_your_own_is_served_by_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    installation = prepared(tmp_path)
    installation.settings["storage"]["url"] = "clickhouse://davylamp@127.0.0.1:1/x"
    assert main(["db", "serve", "--config", str(installation.write().config)]) == 2
    assert "storage.url names a ClickHouse server of your own" in capsys.readouterr().err


def test_the_end_is_quick_and_tells_who_waits(served: Serving) -> None:
    """The last of the shared process."""
    endless = "SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1"
    found: list[httpx.Response] = []
    asking = threading.Thread(target=lambda: found.append(served.ask(endless)))
    asking.start()
    assert served.ask("SELECT count() FROM system.settings").status_code == 200
    served.process.send_signal(signal.SIGTERM)
    assert served.process.wait(timeout=15) == 0
    asking.join(timeout=15)
    assert found[0].headers["x-clickhouse-exception-code"] == "394"
    assert not (served.installation.store / "sql-answers").exists()


def test_the_daemon_serves_readers_beside_its_api(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    installation = prepared(tmp_path)
    del installation.settings["storage"]["sql"]["port"]
    installation.settings["listen"]["port"] = port = free_pair()
    installation.write()
    command = [COMMAND, "run", "--config", str(installation.config)]
    log = installation.folder / "daemon.log"
    with process(command, stderr=log) as started:
        running = Serving(installation=installation, process=started, port=port + 1)
        wait_until(lambda: is_up(port, started), START_SECONDS, f"up: {log.read_text('utf-8')}")
        client = running.client(compress=False)
        assert client.command("SELECT count() FROM targets") == 1
        with pytest.raises(ClickHouseError, match="not offered"):
            client.command("SELECT file('/etc/hostname')")
        client.close()
        api = (installation.store / "api.token").read_text("ascii")
        assert api != running.token
        for token in (api, ""):
            found = httpx.get(
                f"http://127.0.0.1:{port + 1}/?query=SELECT+1", headers={"X-ClickHouse-Key": token}
            )
            assert found.status_code == 403
        reading = {"Authorization": f"Bearer {running.token}"}
        assert (
            httpx.get(f"http://127.0.0.1:{port}/api/findings", headers=reading).status_code == 401
        )
        metrics = httpx.get(f"http://127.0.0.1:{port}/metrics").text
        assert 'davylamp_sql_queries_total{env="testing",result="failed"} 0.0' in metrics
        assert 'davylamp_sql_queries_total{env="testing",result="refused"} 3.0' in metrics
        assert main(["db", "serve", "--config", str(installation.config)]) == 2
        said = capsys.readouterr().err
        assert f"serves readers already, at http://127.0.0.1:{port + 1}" in said
        started.send_signal(signal.SIGTERM)
        assert started.wait(timeout=20) == 0
    said = log.read_text("utf-8")
    assert "serving readers' SQL at" in said
    assert running.token not in said
    assert "SELECT" not in said


def free_pair() -> int:
    """Return a port that was free a moment ago, as was the one above it."""
    for _ in range(100):
        first = free_port()
        with socket.socket() as above, contextlib.suppress(OSError):
            above.bind(("127.0.0.1", first + 1))
            return first
    pytest.fail("no two ports in a row are free")


def is_up(port: int, started: subprocess.Popen[str]) -> bool:
    assert started.poll() is None
    try:
        return httpx.get(f"http://127.0.0.1:{port}/readyz").status_code == 200
    except httpx.HTTPError:
        return False
