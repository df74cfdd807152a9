"""The HTTP interface, request by request, over the real engine."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import logging
import struct
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from monitor.clock import SystemClock
from monitor.conventions import SqlResult
from monitor.sqlhttp.app import SqlPages
from monitor.sqlhttp.failures import Code, SqlError, engine_failure
from tests.unit.sqlhttp.conftest import Served

TOKEN = "t0ken-of-readers"  # noqa: S105
HOSTS = frozenset({"127.0.0.1", "localhost"})
BASIC = {"Authorization": "Basic " + base64.b64encode(f"davylamp:{TOKEN}".encode()).decode()}
Test = Callable[[httpx.AsyncClient], Awaitable[None]]


class Desk:
    """Pages over the engine, and what they counted."""

    def __init__(self, served: Served, executor: ThreadPoolExecutor, **settings: Any) -> None:
        self.results: Counter[SqlResult] = Counter()
        clock = settings.pop("clock", SystemClock())
        self.pages = SqlPages(
            served.engine,
            TOKEN,
            clock,
            executor,
            lambda each: self.results.update([each]),
            **settings,
        )

    def run(self, test: Test, **headers: str) -> None:
        """Run a test with a client that has the password."""

        async def go() -> None:
            transport = httpx.ASGITransport(app=self.pages.application(HOSTS))
            async with httpx.AsyncClient(
                transport=transport, base_url="http://127.0.0.1:9465", headers=headers or BASIC
            ) as client:
                await test(client)

        asyncio.run(go())


@pytest.fixture(scope="module")
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as made:
        yield made


@pytest.fixture
def desk(served: Served, executor: ThreadPoolExecutor) -> Desk:
    return Desk(served, executor)


def test_pages_that_need_no_password(desk: Desk) -> None:
    async def test(client: httpx.AsyncClient) -> None:
        for path in ("/ping", "/replicas_status", "/"):
            found = await client.get(path)
            assert (found.status_code, found.text) == (200, "Ok.\n"), path
        assert (await client.head("/")).status_code == 200
        assert (await client.get("/play")).status_code == 404
        assert (await client.delete("/")).status_code == 405
        options = await client.options("/")
        assert options.status_code == 204
        assert "access-control-allow-origin" not in options.headers

    desk.run(test, **{"X-Nothing": "x"})
    assert not desk.results


@pytest.mark.parametrize(
    "way",
    [
        {"headers": BASIC},
        {"headers": {"X-ClickHouse-User": "davylamp", "X-ClickHouse-Key": TOKEN}},
        {"headers": {"X-ClickHouse-Key": TOKEN}},
        {"headers": {"X-ClickHouse-User": "DavyLamp", "X-ClickHouse-Key": TOKEN}},
        {"headers": {"Authorization": f"Bearer {TOKEN}"}},
        {"params": {"user": "davylamp", "password": TOKEN}},
        {"params": {"user": "default", "password": TOKEN}},
        {"params": {"password": TOKEN}},
    ],
)
def test_who_may_read(desk: Desk, way: dict[str, dict[str, str]]) -> None:
    async def test(client: httpx.AsyncClient) -> None:
        found = await client.get("/", params={"query": "SELECT 1"} | way.get("params", {}))
        assert (found.status_code, found.text) == (200, "1\n")

    desk.run(test, **(way.get("headers") or {"X-Nothing": "x"}))
    assert desk.results == {SqlResult.OK: 1}


@pytest.mark.parametrize(
    ("way", "status", "code"),
    [
        ({}, 401, 194),
        ({"headers": {"X-ClickHouse-Key": "wrong"}}, 403, 516),
        ({"headers": {"X-ClickHouse-Key": ""}}, 403, 516),
        ({"headers": {"X-ClickHouse-User": "root", "X-ClickHouse-Key": TOKEN}}, 403, 516),
        ({"headers": {"Authorization": "Basic !!!"}}, 403, 516),
        ({"headers": {"Authorization": "Basic " + base64.b64encode(b"\xff").decode()}}, 403, 516),
        ({"headers": {"Authorization": f"Bearer {TOKEN}x"}}, 403, 516),
        ({"headers": {"Authorization": f"Digest {TOKEN}"}}, 401, 194),
        ({"params": {"user": "davylamp"}}, 403, 516),
        ({"params": {"password": TOKEN[:-1]}}, 403, 516),
    ],
)
def test_who_may_not(desk: Desk, way: dict[str, dict[str, str]], status: int, code: int) -> None:
    async def test(client: httpx.AsyncClient) -> None:
        params = {"query": "SELECT 'asked'"} | way.get("params", {})
        found = await client.post("/", params=params, content=b" FORMAT JSON")
        assert found.status_code == status
        assert found.headers["x-clickhouse-exception-code"] == str(code)
        assert ("www-authenticate" in found.headers) == (status == 401)
        assert "asked" not in found.text
        assert TOKEN not in found.text

    desk.run(test, **(way.get("headers") or {"X-Nothing": "x"}))
    assert desk.results == {SqlResult.REFUSED: 1}


def test_an_unknown_name_of_the_server_is_refused(desk: Desk) -> None:
    async def test(client: httpx.AsyncClient) -> None:
        for host in ("evil.example", "127.0.0.1.evil.example", ""):
            found = await client.get("/", params={"query": "SELECT 1"}, headers={"Host": host})
            assert found.status_code == 400, host
            assert (await client.get("/ping", headers={"Host": host})).status_code == 200

    desk.run(test)


def test_a_statement_comes_in_the_url_in_the_body_or_in_both(desk: Desk) -> None:
    async def test(client: httpx.AsyncClient) -> None:
        asked = [
            await client.get("/", params={"query": "SELECT 1"}),
            await client.post("/", params={"query": "SELECT 1"}),
            await client.post("/", content="SELECT 1"),
            await client.post("/", params={"query": "SELECT"}, content="1"),
            await client.post("/", content=gzip.compress(b"SELECT 1"), headers=ZIPPED),
            await client.post("/", files={"query": (None, "SELECT 1")}),
        ]
        assert [(each.status_code, each.text) for each in asked] == [(200, "1\n")] * len(asked)
        head = await client.head("/", params={"query": "SELECT 1"})
        assert (head.status_code, head.content) == (200, b"")

    desk.run(test)


ZIPPED = {"Content-Encoding": "gzip"}


def test_values_are_bound_by_the_engine(desk: Desk) -> None:
    hostile = "'; DROP TABLE verdicts; -- file('/etc/passwd') Python(x)"

    async def test(client: httpx.AsyncClient) -> None:
        params = {"query": "SELECT {a:String}, {b:Array(UInt8)}", "param_b": "[1,2]"}
        found = await client.post("/", params=params | {"param_a": hostile.replace("'", "\\'")})
        assert found.text.startswith(hostile.replace("'", "\\'"))
        found = await client.post("/", params=params)
        assert found.headers["x-clickhouse-exception-code"] == "456"
        form = {"query": (None, params["query"]), "param_a": (None, "x"), "param_b": (None, "[3]")}
        assert (await client.post("/", files=form)).text == "x\t[3]\n"

    desk.run(test)


def test_the_form_of_an_answer(desk: Desk) -> None:
    async def test(client: httpx.AsyncClient) -> None:
        async def form(statement: str, header: str = "", **params: str) -> tuple[str, str]:
            headers = {"X-ClickHouse-Format": header} if header else {}
            params = {"query": statement, **params}
            found = await client.get("/", params=params, headers=headers)
            return found.headers["x-clickhouse-format"], found.headers["content-type"]

        assert (await form("SELECT 1"))[0] == "TabSeparated"
        assert (await form("SELECT 1", default_format="JSONEachRow"))[0] == "JSONEachRow"
        assert (await form("SELECT 1", "CSV", default_format="JSONEachRow"))[0] == "CSV"
        assert await form("SELECT 1 FORMAT JSON", "CSV") == JSON
        assert await form("SELECT 1 FORMAT json") == JSON
        found = await client.get("/", params={"query": "SELECT 1", "default_format": "Template"})
        assert (found.status_code, found.headers["x-clickhouse-exception-code"]) == (404, "73")

    desk.run(test)


JSON = ("JSON", "application/json; charset=UTF-8")


def test_what_the_headers_tell(desk: Desk) -> None:
    async def test(client: httpx.AsyncClient) -> None:
        params = {"query": "SELECT count() FROM verdicts", "query_id": "panel-7"}
        found = await client.get("/", params=params)
        assert found.headers["x-clickhouse-query-id"] == "panel-7"
        assert found.headers["x-clickhouse-server-display-name"] == "davylamp"
        assert found.headers["x-clickhouse-timezone"]
        assert found.headers["cache-control"] == "no-store"
        summary = json.loads(found.headers["x-clickhouse-summary"])
        assert int(summary["elapsed_ns"]) > 0
        assert summary["written_rows"] == "0"
        for bad in ("a\r\nSet-Cookie: x", "x" * 65, "ü", ""):
            found = await client.get("/", params=params | {"query_id": bad})
            assert found.headers["x-clickhouse-query-id"].startswith("query-")
            assert "set-cookie" not in found.headers

    desk.run(test)


def test_settings_of_the_client_are_dropped(desk: Desk) -> None:
    async def test(client: httpx.AsyncClient) -> None:
        params = {
            "query": "SELECT getSetting('readonly'), getSetting('max_execution_time')",
            "readonly": "0",
            "max_execution_time": "9999",
            "allow_introspection_functions": "1",
            "no_such_setting": "x",
            "session_id": "s",
            "session_timeout": "60",
            "role": "admin",
            "wait_end_of_query": "1",
        }
        assert (await client.get("/", params=params)).text == "1\t20\n"

    desk.run(test)


def test_what_is_not_spoken_is_said_and_not_pretended(desk: Desk) -> None:
    async def test(client: httpx.AsyncClient) -> None:
        for params, words in (
            ({"compress": "1"}, "Set compress=0 (JDBC, DBeaver)"),
            ({"decompress": "1"}, "Set compress=0"),
            ({"database": "system"}, "the store's is `default`"),
        ):
            found = await client.post("/", params=params, content="SELECT 1")
            assert found.status_code in (404, 501), params
            assert words in found.text
        sent = {"t": ("t", b"1"), "query": (None, "SELECT 1")}
        found = await client.post("/", files=sent)
        assert (found.status_code, "External tables" in found.text) == (501, True)
        found = await client.post("/", content=b"x", headers={"Content-Encoding": "br"})
        assert found.status_code == 501
        found = await client.post("/", content=b"no gzip", headers=ZIPPED)
        assert (found.status_code, "Content-Encoding" in found.text) == (400, True)
        assert (await client.get("/?query=SELECT+1&database=default")).text == "1\n"

    desk.run(test)


def test_requests_are_bounded_however_they_are_packed(desk: Desk) -> None:
    async def test(client: httpx.AsyncClient) -> None:
        bomb = gzip.compress(b" " * 30_000_000)
        assert len(bomb) < 100_000
        for content, headers in ((b" " * 5_000_000, {}), (bomb, ZIPPED)):
            found = await client.post("/", content=content, headers=headers)
            assert (found.status_code, found.text[:9]) == (413, "Code: 229")
        found = await client.post("/", content=f"SELECT '{'x' * 300_000}'")
        assert (found.status_code, found.text[:9]) == (413, "Code: 229")
        assert (await client.post("/", content=b"")).headers["x-clickhouse-exception-code"] == "62"

    desk.run(test)


def test_answers_are_packed_for_who_can_unpack_them(desk: Desk) -> None:
    statement = "SELECT number, toString(number) FROM numbers(100000)"

    async def test(client: httpx.AsyncClient) -> None:
        async def ask(accepted: str, **params: str) -> httpx.Response:
            headers = {"Accept-Encoding": accepted}
            return await client.get("/", params={"query": statement, **params}, headers=headers)

        plain = await ask("identity")
        assert "content-encoding" not in plain.headers
        assert int(plain.headers["content-length"]) == len(plain.content)
        packed = await ask("lz4, gzip")
        assert packed.headers["content-encoding"] == "gzip"
        assert "content-length" not in packed.headers
        assert packed.content == plain.content  # httpx unpacks
        refused = await ask("gzip", enable_http_compression="0")
        assert "content-encoding" not in refused.headers

    desk.run(test)


@pytest.mark.parametrize(
    ("statement", "status", "code"),
    [
        ("SELECT file('x')", 403, 497),
        ("DROP TABLE verdicts", 500, 164),
        ("SELECT * FROM nowhere", 404, 60),
        ("SELECT nothing", 404, 47),
        ("SELEC 1", 400, 62),
        ("SELECT 1 FORMAT Nope", 404, 73),
        ("SELECT toUInt8('x')", 400, 6),
        ("SELECT throwIf(1)", 500, 395),
        ("SELECT number FROM numbers(1000001)", 500, 396),
        ("SELECT groupArray(number) FROM numbers(200000000)", 500, 241),
    ],
)
def test_errors_are_those_of_clickhouse(desk: Desk, statement: str, status: int, code: int) -> None:
    async def test(client: httpx.AsyncClient) -> None:
        found = await client.post("/", content=statement)
        assert found.status_code == status
        assert found.headers["x-clickhouse-exception-code"] == str(code)
        assert found.text.startswith(f"Code: {code}. DB::Exception: ")
        assert found.text.endswith(")\n")
        assert "sql-answers" not in found.text

    desk.run(test)
    refused = statement.startswith(("SELECT file", "DROP", "SELECT * FROM nowhere")) or (
        "Nope" in statement
    )
    assert desk.results == {SqlResult.REFUSED if refused else SqlResult.FAILED: 1}


def test_what_the_engine_says_is_taken_apart() -> None:
    said = engine_failure(
        RuntimeError("Code: 47. DB::Exception: No (really). (UNKNOWN_IDENTIFIER)")
    )
    assert (said.code, said.words, said.name) == (47, "No (really).", "UNKNOWN_IDENTIFIER")
    assert engine_failure(RuntimeError("broken")).code == Code.BAD_ARGUMENTS
    long = engine_failure(RuntimeError(f"Code: 1. DB::Exception: {'x' * 9000}. (SOMETHING)"))
    assert len(str(long)) < 5000
    assert "UNKNOWN_EXCEPTION" in str(SqlError(99_999, "x"))


def test_how_clickhouse_go_begins(desk: Desk) -> None:
    """It reads this answer as its own revision, and all that follows as the one it is told."""
    statement = "SELECT displayName(), version(), revision(), timezone()"

    async def test(client: httpx.AsyncClient) -> None:
        params = {"default_format": "Native", "database": "default"}
        for revision, info, flag in ((54485, 8, 1), (54400, 8, 0), (0, 0, 0)):
            asked = params | {"client_protocol_version": str(revision)}
            found = await client.post("/", params=asked, content=statement)
            assert found.headers["x-clickhouse-format"] == "Native"
            body = found.content
            if revision:
                assert body[:info] == b"\x01\x00\x02\xff\xff\xff\xff\x00"
                values = read_row(body[info:], flag)
                assert values["displayName()"] == b"davylamp"
                assert struct.unpack("<I", values["revision()"]) == (0,)
                assert values["timezone()"]
        asked = params | {"client_protocol_version": "54485"}
        found = await client.post("/", params=asked, content="SELECT 'x' AS a")
        assert found.content == b"\x01\x01\x01a\x06String\x01x"

    desk.run(test)


def read_row(block: bytes, flag: int) -> dict[str, bytes]:
    """Return the values of a Native block of one row: strings, and numbers of four bytes."""
    columns, rows, place, values = block[0], block[1], 2, {}
    assert rows == 1

    def text() -> bytes:
        nonlocal place
        size = block[place]
        place += 1 + size
        return block[place - size : place]

    for _ in range(columns):
        name, kind = text().decode(), text()
        assert block[place : place + flag] == b"\x00" * flag
        place += flag
        if kind == b"UInt32":
            values[name] = block[place : place + 4]
            place += 4
        else:
            values[name] = text()
    assert place == len(block)
    return values


def test_native_tells_names_and_types_also_without_rows(desk: Desk) -> None:
    async def test(client: httpx.AsyncClient) -> None:
        for statement, block in (
            ("SELECT 1 AS a, 'x' AS b WHERE 0", b"\x02\x00\x01a\x05UInt8\x01b\x06String"),
            ("SHOW TABLES LIKE 'none'", b"\x01\x00\x04name\x06String"),
            ("SELECT {n:UInt8} AS a WHERE 0", b"\x01\x00\x01a\x05UInt8"),
        ):
            params = {"query": statement, "default_format": "Native", "param_n": "1"}
            assert (await client.get("/", params=params)).content == block

    desk.run(test)


def test_one_request_too_many_is_told_to_come_back(
    served: Served, executor: ThreadPoolExecutor
) -> None:
    full = Desk(served, executor, most_under_way=0)

    async def test(client: httpx.AsyncClient) -> None:
        found = await client.get("/", params={"query": "SELECT 1"})
        assert (found.status_code, found.headers["retry-after"]) == (503, "1")
        assert found.headers["x-clickhouse-exception-code"] == "202"

    full.run(test)


class LateClock(SystemClock):
    """By the time that a statement's turn comes, its time is over."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def monotonic(self) -> float:
        self._seconds += 1000.0
        return self._seconds


def test_who_waited_too_long_is_told_so(served: Served, executor: ThreadPoolExecutor) -> None:
    late = Desk(served, executor, clock=LateClock())

    async def test(client: httpx.AsyncClient) -> None:
        found = await client.get("/", params={"query": "SELECT 1"})
        assert found.headers["x-clickhouse-exception-code"] == "202"

    late.run(test)


def test_an_answer_nobody_takes_is_broken_off(served: Served, executor: ThreadPoolExecutor) -> None:
    patient = Desk(served, executor, send_seconds=0.05)
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()  # a client that takes nothing

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"SELECT 1", "more_body": False}

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/",
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"x-clickhouse-key", TOKEN.encode())],
    }
    asyncio.run(patient.pages.application(HOSTS)(scope, receive, send))
    assert [each["type"] for each in sent] == ["http.response.start", "http.response.body"]
    assert sent[1]["more_body"]
    assert patient.pages._under_way == 0


@pytest.mark.parametrize("way", ["request goes away", "request", "answer"])
def test_who_is_slow_while_it_stops_makes_no_noise(desk: Desk, way: str) -> None:
    """The server cancels what takes too long then: that is no fault of ours to be logged."""
    begun = asyncio.Event()
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if way == "answer":
            return {"type": "http.request", "body": b"SELECT 1", "more_body": False}
        if way == "request goes away":
            return {"type": "http.disconnect"}
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Any) -> None:
        sent.append(message)
        if way == "answer" and message["type"] == "http.response.body":
            begun.set()
            await asyncio.Event().wait()

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/",
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"x-clickhouse-key", TOKEN.encode())],
    }

    async def go() -> None:
        answering = asyncio.create_task(desk.pages.application(HOSTS)(scope, receive, send))
        if way != "request goes away":
            await begun.wait()
            answering.cancel()
        await answering

    asyncio.run(go())
    assert sent[0]["status"] == (200 if way == "answer" else 503)
    assert sent[-1].get("more_body", False) is (way == "answer")
    assert desk.pages._under_way == 0


def test_nothing_of_statements_answers_and_passwords_is_logged(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    async def test(client: httpx.AsyncClient) -> None:
        for statement in ("SELECT 'zq-secret'", "SELECT 'zq-secret' FROM x", "zq-secret"):
            await client.post("/", content=statement)
            await client.post("/", content=statement, headers={"Authorization": "Bearer zq-secret"})

    with caplog.at_level(logging.DEBUG):
        desk.run(test)
    said = [r.getMessage() for r in caplog.records if r.name.startswith(("monitor", "uvicorn"))]
    assert not [each for each in said if "zq-secret" in each or TOKEN in each]


def test_a_long_statement_holds_up_nobody_and_can_be_ended(
    served: Served, executor: ThreadPoolExecutor, desk: Desk
) -> None:
    async def test(client: httpx.AsyncClient) -> None:
        endless = "SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1"
        running = asyncio.create_task(client.post("/", content=endless))
        for _ in range(3):
            assert (await client.get("/", params={"query": "SELECT 1"})).text == "1\n"
        await asyncio.to_thread(
            served.store.writer.run,
            lambda client: client.command("CREATE TABLE meanwhile (a Int8) ENGINE = Memory"),
        )
        await asyncio.to_thread(
            served.store.writer.run, lambda client: client.command("DROP TABLE meanwhile")
        )
        assert not running.done()
        while not running.done():
            served.engine.end_running()
            await asyncio.wait({running}, timeout=0.1)
        found = running.result()
        assert (found.status_code, found.headers["x-clickhouse-exception-code"]) == (503, "394")

    desk.run(test)
    assert not list((served.store.location.path or served.out).parent.glob("sql-answers/*"))
