"""Where readers are served, with which password, and how serving begins and ends."""

from __future__ import annotations

import asyncio
import socket
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from monitor.clock import SystemClock
from monitor.config import own_secret
from monitor.conventions import SqlResult
from monitor.daemon.run import _readers_served
from monitor.errors import ConfigError, StoreError, UsageError
from monitor.sqlhttp import reader_token, sql_port, sql_server
from monitor.sqlhttp.engine import Limits, SqlEngine
from monitor.sqlhttp.failures import SqlError
from monitor.store import open_store
from monitor.store.client import Location
from tests.unit.daemon.installed import config_of


def config(folder: Path, listen: int = 9464, **sql: Any) -> Any:
    return config_of(
        folder,
        storage={"path": str(folder / "store"), "sql": sql},
        listen={"port": listen},
    )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_the_port_is_the_one_above_the_daemons_unless_it_is_said(tmp_path: Path) -> None:
    assert sql_port(config(tmp_path)) == 9465
    assert sql_port(config(tmp_path, port=8123)) == 8123
    with pytest.raises(
        UsageError, match=r"no port above listen\.port 65535: set storage\.sql\.port"
    ):
        sql_port(config(tmp_path, listen=65_535))


def test_a_password_of_our_own_is_made_once(tmp_path: Path) -> None:
    made = reader_token(config(tmp_path))
    file = tmp_path / "store" / "sql.token"
    assert len(made) >= 40
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert reader_token(config(tmp_path)) == made
    assert [each.name for each in file.parent.iterdir()] == ["sql.token"]


def test_one_password_comes_of_many_first_uses(tmp_path: Path) -> None:
    found: set[str] = set()
    start = threading.Barrier(8)

    def use() -> None:
        start.wait()
        found.add(own_secret(tmp_path / "new" / "token"))

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 1


def test_an_empty_or_odd_password_is_none(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    for content, words in ((b"", "is empty"), (b"\xff\xfe", "cannot be used: it is not text")):
        (tmp_path / "store" / "sql.token").write_bytes(content)
        with pytest.raises(UsageError, match=words):
            reader_token(config(tmp_path))


def test_the_password_may_be_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pw").write_text("from-a-file\n")
    assert reader_token(config(tmp_path, token_file="pw")) == "from-a-file"  # noqa: S106
    monkeypatch.setenv("READERS", "from-the-environment")
    named = config(tmp_path, token_env="READERS")  # noqa: S106
    assert reader_token(named) == "from-the-environment"
    monkeypatch.delenv("READERS")
    with pytest.raises(ConfigError, match="READERS is not set"):
        reader_token(named)
    assert not (tmp_path / "store").exists()


def test_a_taken_port_is_an_error_that_names_the_key(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=r"cannot serve on 127.*storage\.sql\.port"):
            sql_server(config(tmp_path, port=port), SystemClock())


def test_serving_begins_and_ends_as_often_as_one_likes(tmp_path: Path) -> None:
    counted: list[SqlResult] = []
    left = tmp_path / "store" / "sql-answers" / "of-a-process-that-was-killed" / "answer"
    left.parent.mkdir(parents=True)
    left.write_text("rows")
    with open_store(tmp_path / "store") as store:
        assert store.location.path is not None
        for _ in range(2):
            port = free_port()
            settings = config(tmp_path, port=port)
            readers = sql_server(settings, SystemClock(), on_result=counted.append)
            readers.start(store.location.path)
            assert not left.exists()
            found = httpx.get(
                f"{readers.url}/?query=SELECT+count()+FROM+verdicts",
                headers={"X-ClickHouse-Key": reader_token(settings)},
            )
            assert found.text == "0\n"
            assert not [name for name in found.headers if name.lower() == "server"]
            readers.stop()
            readers.stop()
            with socket.socket() as again:
                again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                again.bind(("127.0.0.1", port))
    assert counted == [SqlResult.OK] * 2


def test_who_asks_while_it_stops_is_told_so(tmp_path: Path) -> None:
    """More of them than there are connections: some run, some wait for their turn."""
    endless = b"SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1"
    with open_store(tmp_path / "store") as store:
        assert store.location.path is not None
        engine = SqlEngine(store.location.path, tmp_path / "store", Limits(readers=2))
        engine.open()
        with ThreadPoolExecutor(6) as several:
            asked = [several.submit(engine.run, endless, {}, None) for _ in range(6)]
            engine.close()
            assert [error_code(each.exception()) for each in asked] == [394] * 6
        with pytest.raises(SqlError, match="The server is stopping"):
            engine.run(b"SELECT 1", {}, None)


def error_code(error: BaseException | None) -> int:
    assert isinstance(error, SqlError)
    return error.code


def test_what_the_engine_refuses_ends_in_an_error_and_no_thread(tmp_path: Path) -> None:
    (tmp_path / "no-folder").write_text("x")
    readers = sql_server(config(tmp_path, port=free_port()), SystemClock())
    with pytest.raises(StoreError, match="cannot be served"):
        readers.start(tmp_path / "no-folder")
    readers.stop()
    assert not [each for each in threading.enumerate() if each.name == "sql-http"]


@pytest.mark.parametrize(
    ("sql", "location"),
    [({}, Location(url="http://127.0.0.1:8123")), ({"enabled": False}, Location(path=Path("/x")))],
)
def test_the_daemon_serves_none_where_it_is_not_to(
    tmp_path: Path, sql: dict[str, Any], location: Location
) -> None:
    port = free_port()
    settings = config(tmp_path, port=port, **sql)
    installation: Any = SimpleNamespace(config=settings, store=SimpleNamespace(location=location))

    async def test() -> None:
        async with _readers_served(installation):
            socket.create_server(("127.0.0.1", port)).close()

    asyncio.run(test())
    assert not (tmp_path / "store").exists()
