"""kill -9 at any moment: what was acknowledged is there once, in tables and in sums."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from monitor.store import open_store
from tests.integration.processes import ROOT, process
from tests.store_faults.counting import assert_exactly_once

ROUNDS = 50
DEADLINE_SECONDS = 60


def victim(folder: Path, round_number: int, *more: str) -> list[str]:
    """Return the command of a process that keeps verdicts until it dies."""
    module = "tests.store_faults.victim"
    return [sys.executable, "-m", module, str(folder), str(round_number), *more]


def killed_while_opening(command: list[str], seconds: float) -> list[str]:
    """Kill it some time after it began to start, and return what it had acknowledged."""
    started = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        started.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        started.kill()
    out, _ = started.communicate()
    return whole_lines(out)


def killed_after(command: list[str], acknowledged: int) -> list[str]:
    """Kill it once it has acknowledged so many, and return all that it had by then."""
    with process(command) as started:
        assert started.stdout
        assert started.stdout.readline() == "ready\n"
        lines = [started.stdout.readline() for _ in range(acknowledged)]
        started.kill()
        lines += started.stdout.readlines()
        started.wait(timeout=DEADLINE_SECONDS)
    return whole_lines("".join(lines))


def whole_lines(text: str) -> list[str]:
    """Return the ids that were printed to their end."""
    return [line for line in text[: text.rfind("\n") + 1].splitlines() if line != "ready"]


def test_fifty_deaths_at_random_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    folder, random, acknowledged = tmp_path / "store", Random(20261102), []
    for round_number in range(1, ROUNDS + 1):
        command = victim(folder, round_number)
        if round_number % 4 == 0:
            acknowledged += killed_while_opening(command, random.uniform(0.3, 4.0))
        else:
            acknowledged += killed_after(command, random.randint(1, 300))
    assert len(acknowledged) > ROUNDS * 50
    with open_store(folder) as store:
        kept = assert_exactly_once(store, acknowledged)
    print(f"{ROUNDS} deaths, {len(acknowledged)} verdicts acknowledged, {kept} kept")


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that is made and empty, to be copied."""
    folder = tmp_path_factory.mktemp("fresh") / "store"
    open_store(folder).close()
    return folder


@pytest.mark.parametrize(
    "moment", [*(f"insert-{number}" for number in range(1, 7)), "remove-1", "remove-2"]
)
def test_a_death_between_two_steps_of_the_writer(tmp_path: Path, fresh: Path, moment: str) -> None:
    folder, acknowledged = tmp_path / "store", []
    shutil.copytree(fresh, folder, symlinks=True)
    for round_number in (1, 2):
        died = subprocess.run(
            victim(folder, round_number, moment),
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            timeout=DEADLINE_SECONDS,
            check=False,
        )
        assert died.returncode == -9
        acknowledged += whole_lines(died.stdout)
    assert acknowledged
    assert list((folder / "spool").glob("*-*"))
    with open_store(folder) as store:
        assert_exactly_once(store, acknowledged)
