"""``davylamp db migrate`` killed again and again while it adds up what is there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

from monitor.store.client import Client
from monitor.store.migrate import migrate, shipped
from tests.unit.cli.test_plan import written
from tests.unit.store.breaking import database

ROWS, KILLS = 300_000, 20
FILLED = """
INSERT INTO verdicts (id, source, trial, target, probe, stratum, decided_at, outcome, class)
SELECT toString(number), if(number % 50 = 0, 'traffic', 'probe'), toString(number), 'glm',
    'canary', toString(number % 40), AT, 'good', 'none' FROM numbers(ROWS);
INSERT INTO signals (verdict, position, trial, target, decided_at, code, status)
SELECT toString(number), 0, toString(number), 'glm', AT, 'NONCE', 'pass' FROM numbers(ROWS);
INSERT INTO exchanges (trial, exchange, target, probe, stratum, started_at, total_seconds)
SELECT toString(number), 0, 'glm', 'canary', toString(number % 40), AT, 1.5 FROM numbers(ROWS)
""".replace("AT,", "toDateTime64('2026-11-01 00:00:00', 3, 'UTC') + number * 7,")


def test_every_row_is_in_the_sums_once_however_often_it_was_killed(tmp_path: Path) -> None:
    file, data = written(tmp_path), tmp_path / "store" / "data"
    data.mkdir(parents=True)
    with database(data) as client:
        migrate(client, shipped()[:9])
        for statement in FILLED.replace("ROWS", str(ROWS)).split(";"):
            client.command(statement)
    killed = rounds(file, Random(5))
    assert killed >= 5
    with database(data) as client:
        for table in ("verdicts", "signals", "exchanges"):
            assert number(client, "count()", table) == ROWS
            assert number(client, "sum(number)", f"{table}_hourly") == ROWS
            assert number(client, "sum(number)", f"{table}_daily") == ROWS
        for table in ("verdicts", "signals"):
            sql = f"SELECT source, count() FROM {table} GROUP BY source ORDER BY source"  # noqa: S608
            assert client.query(sql) == [("probe", ROWS // 50 * 49), ("traffic", ROWS // 50)]


def rounds(file: Path, random: Random) -> int:
    """Kill it after a random time, given longer and longer, until it comes to its end."""
    command = [sys.executable, "-c", "from monitor.cli.main import run; run()"]
    for killed in range(KILLS):
        process = subprocess.Popen(
            [*command, "db", "migrate", "--config", str(file)],
            cwd=Path(__file__).parents[2],
            env={**os.environ, "NO_COLOR": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        try:
            _, said = process.communicate(timeout=random.uniform(0.8, 1.5 + killed / 4))
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        else:
            assert process.returncode == 0, said
            return killed
    subprocess.run(
        [*command, "db", "migrate", "--config", str(file)],
        cwd=Path(__file__).parents[2],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return KILLS


def number(client: Client, what: str, table: str) -> int:
    return int(client.query(f"SELECT {what} FROM {table}")[0][0])  # noqa: S608
