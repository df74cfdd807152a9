"""Rows out of the database and into it as bytes: embedded and over HTTP, whatever a path holds."""

from __future__ import annotations

import gzip
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from monitor.errors import StoreError
from monitor.store.client import Client, Location, connect
from tests.unit.store.gateway import PASSWORD

ROOT = Path(__file__).parents[3]
HOSTILE = "'quoted' \"twice\"\n\ttab \\ back \x00 nul é 漢 =1+1"
MAKE = """
CREATE TABLE IF NOT EXISTS {table}
(
    at DateTime64(3, 'UTC'), number UInt64, text String, share Nullable(Float64),
    many Array(UInt64), sum SimpleAggregateFunction(sum, UInt64),
    state AggregateFunction(quantilesDD(0.01, 0.5), Nullable(Float64))
)
ENGINE = AggregatingMergeTree PARTITION BY toYYYYMMDD(at) ORDER BY number
SETTINGS allow_dimensions_outside_sorting_key = 1
"""
FILL = """
INSERT INTO streamed
SELECT toDateTime64('2026-01-01 00:00:00', 3, 'UTC') + number * 3600, number, {text:String},
    if(number % 2 = 0, NULL, number / 3), [number, 18446744073709551615], number,
    quantilesDDState(0.01, 0.5)(CAST(number / 7, 'Nullable(Float64)'))
FROM numbers({rows:UInt64}) GROUP BY number SETTINGS max_partitions_per_insert_block = 0
"""
COLUMNS = ("at", "number", "text", "share", "many", "sum", "state")


@pytest.fixture(scope="module", params=["embedded", "server"])
def client(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Client]:
    directory = tmp_path_factory.mktemp("streams") / "data"
    if request.param == "embedded":
        opened = connect(Location(path=directory))
        yield opened
        opened.close()
        return
    command = [sys.executable, "-m", "tests.unit.store.gateway", str(directory)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    url = f"http://default@127.0.0.1:{process.stdout.readline().strip()}?compress=false"
    opened = connect(Location(url=url, password=PASSWORD))
    yield opened
    opened.close()
    process.kill()
    process.communicate()


def content(client: Client, table: str) -> list[tuple[object, ...]]:
    return client.query(f"SELECT count(), sum(cityHash64(tuple(*))) FROM {table} FINAL")  # noqa: S608


def test_what_is_streamed_out_and_loaded_again_is_the_same(client: Client, tmp_path: Path) -> None:
    for table in ("streamed", "loaded"):
        client.command(MAKE.format(table=table))
    client.command(FILL, {"rows": 3000, "text": HOSTILE})
    folder = tmp_path / "it's {a,b} [x]* ?"
    folder.mkdir()
    file = folder / "rows.native.gz"
    with gzip.open(file, "wb", compresslevel=1) as packed:
        for piece in client.stream("SELECT * FROM streamed FINAL ORDER BY number", "Native"):
            packed.write(piece)
    client.insert_file("loaded", COLUMNS, file, "Native")
    assert content(client, "loaded") == content(client, "streamed")
    assert client.query("SELECT count(), countDistinct(text), any(text) FROM loaded") == [
        (3000, 1, HOSTILE)
    ]


def test_values_of_a_stream_are_bound(client: Client) -> None:
    text = "x' OR 1 = 1 --"
    said = b"".join(client.stream("SELECT {text:String} AS t", "JSONEachRow", {"text": text}))
    assert said.decode() == f'{{"t":"{text}"}}\n'


def test_a_stream_that_is_left_gives_the_client_free(client: Client) -> None:
    rows = client.stream("SELECT number FROM numbers(1000000)", "Native")
    assert next(rows)
    rows.close()  # type: ignore[attr-defined]
    assert client.query("SELECT 1") == [(1,)]


def test_a_stream_that_breaks_halfway_says_so(client: Client) -> None:
    rows = client.stream("SELECT throwIf(number = 900000, 'halfway') FROM numbers(1000000)", "CSV")
    with pytest.raises(StoreError, match="halfway"):
        for _ in rows:
            pass
    assert client.query("SELECT 1") == [(1,)]


@pytest.mark.parametrize(
    "data", [b"not gzip", gzip.compress(b"x" * 10_000, mtime=0)[:-20]], ids=["no gzip", "cut off"]
)
def test_a_file_that_cannot_be_read_is_named(client: Client, tmp_path: Path, data: bytes) -> None:
    client.command(MAKE.format(table="loaded"))
    file = tmp_path / "broken.native.gz"
    file.write_bytes(data)
    with pytest.raises(StoreError, match=r"broken\.native\.gz"):
        client.insert_file("loaded", COLUMNS, file, "Native")
    assert client.query("SELECT 1") == [(1,)]


def test_a_query_that_fails_halfway_leaves_nothing_to_the_next(client: Client) -> None:
    failing = "SELECT throwIf(number = 900000, 'halfway') FROM numbers(1000000)"
    for ask in (client.query, client.command):
        with pytest.raises(StoreError, match="halfway"):
            ask(failing)
        assert client.query("SELECT 1") == [(1,)]


def test_threads_never_take_the_half_answer_of_another(client: Client) -> None:
    failing = "SELECT throwIf(number = 900000, 'halfway') FROM numbers(1000000)"
    begin = threading.Barrier(4)

    def honest() -> list[object]:
        begin.wait()
        return [client.query("SELECT {n:UInt8}", {"n": n}) for n in range(20)]

    def hasty() -> None:
        begin.wait()
        for _ in range(3):
            with pytest.raises(StoreError):
                client.query(failing)

    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(honest) for _ in range(2)]
        broken = [pool.submit(hasty) for _ in range(2)]
        assert [each.result() for each in answers] == [[[(n,)] for n in range(20)]] * 2
        assert [each.result() for each in broken] == [None, None]
