"""The doctor says whether weekly reports can be written, and which of them are owed."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from monitor.cli.doctor_line import Health, Line, Surroundings
from monitor.cli.doctor_reports import check_reports
from monitor.weekly.manifest import MANIFEST_FILE
from tests.unit.daemon.installed import ManualClock, config_of


def lines(folder: Path, clock: ManualClock | None = None, **reports: Any) -> list[Line]:
    wanted = reports.pop("wanted", True)
    said = {"reports": {"folder": "reports"} | reports} if wanted else {}
    config = config_of(folder, **said)
    around = Surroundings(config=config, clock=clock or ManualClock(), environ={})

    async def all_lines() -> list[Line]:
        return [line async for line in check_reports(around)]

    return asyncio.run(all_lines())


def test_without_the_section_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert lines(tmp_path, wanted=False) == []


def test_a_folder_that_is_not_there_fails(tmp_path: Path) -> None:
    [line] = lines(tmp_path)
    assert (line.health, "no such folder" in line.said) == (Health.FAIL, True)


def put(reports: Path, *weeks: str, held: bool = True) -> None:
    """Put reports there: a notice is written beside one that was found to hold."""
    for week in weeks:
        (reports / week).mkdir(parents=True)
        (reports / week / MANIFEST_FILE).write_text("")
        if held:
            (reports / f"{week}.notice.json").write_text("{}")


def test_a_report_that_is_due_is_a_warning_until_it_is_there_and_held(tmp_path: Path) -> None:
    clock = ManualClock()
    clock.instant += timedelta(hours=7)
    (tmp_path / "reports").mkdir()
    [line] = lines(tmp_path, clock)
    assert (line.health, line.said) == (
        Health.WARN,
        "due and not there: the report of 2026-W44",
    )
    put(tmp_path / "reports", "2026-W44", held=False)
    [line] = lines(tmp_path, clock)
    assert (line.health, line.said) == (
        Health.WARN,
        "there, but not known to hold: the report of 2026-W44",
    )
    (tmp_path / "reports" / "2026-W44.notice.json").write_text("{}")
    assert [line.health for line in lines(tmp_path, clock)] == [Health.OK]


def test_what_is_not_there_and_what_is_not_known_to_hold_are_two_lines(tmp_path: Path) -> None:
    clock = ManualClock()
    clock.instant += timedelta(days=14, hours=7)
    put(tmp_path / "reports", "2026-W44")
    put(tmp_path / "reports", "2026-W45", held=False)
    assert [(line.health, line.said) for line in lines(tmp_path, clock)] == [
        (Health.WARN, "due and not there: the report of 2026-W46"),
        (Health.WARN, "there, but not known to hold: the report of 2026-W45"),
    ]


def test_in_its_first_hour_a_report_is_not_yet_missed(tmp_path: Path) -> None:
    clock = ManualClock()
    clock.instant += timedelta(hours=6, minutes=59)
    put(tmp_path / "reports", "2026-W43")
    assert [line.health for line in lines(tmp_path, clock)] == [Health.OK]


def test_a_folder_whose_files_cannot_be_locked_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    (tmp_path / "reports").mkdir()
    [line] = lines(tmp_path)
    assert (line.health, "locks no files" in line.said) == (Health.FAIL, True)


def test_a_secret_of_the_webhook_that_is_missing_fails(tmp_path: Path) -> None:
    (tmp_path / "reports").mkdir()
    hook = {"name": "filed", "url": "https://hooks.example.com/x", "token_env": "NO_SUCH_TOKEN"}
    [line] = lines(tmp_path, webhook=hook)
    assert line.health is Health.FAIL
    assert "NO_SUCH_TOKEN" in line.said


def test_a_week_that_was_missed_is_named_until_it_is_built(tmp_path: Path) -> None:
    clock = ManualClock()
    clock.instant += timedelta(days=14, hours=7)
    put(tmp_path / "reports", "2026-W43", "2026-W44")
    [line] = lines(tmp_path, clock)
    assert (line.health, line.said) == (
        Health.WARN,
        "due and not there: the report of 2026-W45, 2026-W46",
    )


def test_a_report_that_nobody_was_told_of_is_a_warning(tmp_path: Path) -> None:
    clock = ManualClock()
    clock.instant += timedelta(hours=7)
    reports = tmp_path / "reports"
    put(reports, "2026-W44")
    hook = {"name": "filed", "url": "https://hooks.example.com/x"}
    told = reports / "2026-W44.told.json"
    for outcome, healths in (
        ("", [Health.OK, Health.WARN]),
        ("rejected", [Health.OK, Health.WARN]),
        ("accepted", [Health.OK]),
    ):
        if outcome:
            told.write_text(json.dumps({"outcome": outcome}))
        assert [line.health for line in lines(tmp_path, clock, webhook=hook)] == healths
    told.unlink()
    assert [line.health for line in lines(tmp_path, clock)] == [Health.OK]
