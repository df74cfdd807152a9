"""The drill as a user runs it: the command, its workers and labs, and what it writes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from monitor.drill import lab as drill_lab
from monitor.drill import spread as spreading
from monitor.drill.job import Job
from monitor.drill.lab import LabError, started_lab
from monitor.drill.spread import spread
from monitor.lab.mechanisms.nodes import NODE_FAULTS
from monitor.reports.drill import DrillReport, RunReport
from monitor.store.lock import owner_of
from tests.integration.processes import davylamp, wait_until

FAULTS = "overlength_placeholder,role_dropped,usage_half"
ORDER = ("--profile", "quick", "--seeds", "1")


def test_three_faults_are_caught_and_a_null_stays_silent(tmp_path: Path) -> None:
    file = tmp_path / "drill.json"
    names = f"{FAULTS},leading_space"
    run = davylamp("drill", "--faults", names, *ORDER, "--json", str(file), "--out", str(tmp_path))
    assert run.exit_code == 0, run.output
    report = DrillReport.model_validate_json(file.read_bytes())
    assert [row.fault for row in report.faults] == FAULTS.split(",")
    assert all(row.detected == row.told == 1 and row.exposed for row in report.faults)
    leak = report.faults[0]
    assert (leak.classes, leak.allowed) == ({"LEAK": 1}, 1.0)
    assert leak.right_owners == leak.claims > 0
    (null,) = report.nulls
    assert (null.told, null.alarms, null.valid > 0) == (1, 0, True)
    assert not any(row.baseline for row in report.faults)
    assert "EVERY PROMISE KEPT" in run.stdout
    assert "| `usage_half` | 1 of 1 |" in (tmp_path / "drill.md").read_text("utf-8")
    assert ET.parse(tmp_path / "drill.svg").getroot().tag.endswith("svg")


def test_json_alone_on_stdout_with_nothing_beside_it() -> None:
    run = davylamp("drill", "--faults", "healthy", *ORDER, "--json", "-")
    assert run.exit_code == 0, run.output
    assert json.loads(run.stdout)["exit_code"] == 0
    assert not run.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--faults", "overlength"], "no fault 'overlength' (use some of: all"),
        (["--profile", "fast"], "use one of: quick"),
        (["--seeds", "0"], "no seeds"),
        (["--jobs", "0"], "no workers"),
        (["--out", "/dev/null"], "not a folder"),
    ],
)
def test_what_cannot_be_drilled_is_a_usage_error(arguments: list[str], words: str) -> None:
    run = davylamp("drill", *arguments)
    assert run.exit_code == 2
    assert words in run.stderr


def _job(fault: str, seed: int = 1) -> Job:
    return Job(
        fault=fault, seed=seed, null=False, profile="quick", context_tokens=4096, whole=False
    )


def _spread(folder: Path, *work: Job) -> list[RunReport]:
    seen: list[RunReport] = []
    done = asyncio.run(spread(work, 1, folder, seen.append))
    assert seen == done
    return done


def test_a_lab_that_does_not_start_could_not_be_told_and_the_worker_goes_on(
    tmp_path: Path,
) -> None:
    unknown, known = _spread(tmp_path, _job("no_such_fault"), _job("usage_half"))
    assert (unknown.told, unknown.detected) == (False, False)
    assert unknown.reason == "the lab did not start"
    assert known.detected
    assert [each.name for each in (tmp_path / "worker-0").iterdir()] == ["1"]


def test_a_worker_that_crashes_could_not_tell_and_another_takes_over(tmp_path: Path) -> None:
    # A profile that does not exist is refused on the command line; a worker raises on it.
    broken = _job("usage_half").model_copy(update={"profile": "no-such-profile"})
    lost, known = _spread(tmp_path, broken, _job("usage_half"))
    assert (lost.told, lost.detected) == (False, False)
    assert "the worker gave no result" in lost.reason
    assert known.detected
    assert "Error" in (tmp_path / "worker-0.log").read_text("utf-8")
    assert len(list((tmp_path / "worker-0").iterdir())) == 2


def test_a_worker_that_takes_too_long_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spreading, "RUN_SECONDS", 0.0)
    (lost,) = _spread(tmp_path, _job("usage_half"))
    assert not lost.told


def test_who_breaks_a_drill_off_leaves_no_worker_behind(tmp_path: Path) -> None:
    store = tmp_path / "worker-0" / "1" / "store"

    async def broken_off() -> None:
        running = asyncio.create_task(spread([_job("usage_half")], 1, tmp_path, print))
        await asyncio.to_thread(wait_until, lambda: owner_of(store), 60, "a worker has its store")
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(broken_off())
    assert owner_of(store) is None


def test_a_lab_that_ended_early_is_no_source_of_truth() -> None:
    async def ended() -> None:
        async with started_lab(["--seed", "1", "--context", "1024"]) as running:
            running._process.kill()
            await running._process.wait()
            await running.stop()

    with pytest.raises(LabError, match="ended early"):
        asyncio.run(ended())


def test_what_only_nodes_show_is_not_drilled() -> None:
    listed = {each.name: each.shown_by for each in drill_lab.mechanisms()}
    assert set(listed.values()) == {"answers"}
    assert not {each.name for each in NODE_FAULTS} & listed.keys()


def test_a_program_that_lists_nothing_is_no_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drill_lab, "_COMMAND", ("/bin/echo",))
    with pytest.raises(LabError, match="did not list its faults"):
        drill_lab.mechanisms()
