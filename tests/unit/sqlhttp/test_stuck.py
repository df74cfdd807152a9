"""A call of a function that the engine cannot end: the reader, the others, and the stop."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

SECONDS = 1  # of storage.sql.max_seconds
# The engine looks for one within the other at one go, for a minute or more.
TEXT = "arrayStringConcat(arrayMap(x -> 'a', range({})))"
STUCK = f"SELECT position({TEXT.format(3_000_000)}, {TEXT.format(300_000)} || 'b')"
CONFIG = """\
version: 1
storage: {{path: ./data, sql: {{port: {port}, max_seconds: {seconds}}}}}
listen: {{port: {listen}}}
targets:
  - name: lab
    engine: openai
    base_url: http://127.0.0.1:9/v1
    model: m
    context_tokens: 4096
    tenants: [{{name: donor-a, api_key_env: DONOR_A_KEY}}]
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    port = free_port()
    file = tmp_path / "davylamp.yaml"
    file.write_text(CONFIG.format(port=port, listen=free_port(), seconds=SECONDS))
    command = [sys.executable, "-c", "from monitor.cli.main import run; run()", "db", "serve"]
    process = subprocess.Popen(
        [*command, "--config", str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("serving")
        token = (tmp_path / "data" / "sql.token").read_text().strip()
        headers = {"X-ClickHouse-Key": token}
        with httpx.Client(
            base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60
        ) as client:
            yield process, client
    finally:
        process.kill()
        process.communicate()


def test_what_the_engine_cannot_end(
    serving: tuple[subprocess.Popen[str], httpx.Client],
) -> None:
    process, client = serving

    def asked(statement: str) -> tuple[str, float]:
        begin = time.monotonic()
        found = client.post("/", content=statement)
        return found.headers.get("x-clickhouse-exception-code", "0"), time.monotonic() - begin

    readers = min(4, max(2, os.cpu_count() or 1))
    with ThreadPoolExecutor(readers + 3) as several:
        stuck = [several.submit(asked, STUCK) for _ in range(readers)]
        assert client.get("/ping").text == "Ok.\n"
        for each in stuck:
            code, seconds = each.result()
            assert code == "159"
            assert seconds < SECONDS + 10
        # All connections are with them now, and nobody waits for that.
        waiting = [several.submit(asked, "SELECT 1") for _ in range(3)]
        for each in waiting:
            code, seconds = each.result()
            assert code == "202"
            assert seconds < 10
    assert client.get("/ping").text == "Ok.\n"
    begin = time.monotonic()
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=60)
    assert time.monotonic() - begin < 20
    assert process.returncode == 0
    assert "do not end, and are left behind" in said
    assert "Traceback" not in said
    assert "arrayMap" not in said
