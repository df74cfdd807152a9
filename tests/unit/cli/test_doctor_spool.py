"""What the doctor says of rows that wait, or were laid aside."""

from __future__ import annotations

import os
from pathlib import Path

from monitor.cli.doctor_around import check_spool
from monitor.cli.doctor_line import Health, Line, Surroundings
from monitor.store.segment import line_of
from monitor.store.spool import Spool
from tests.unit.config.known import load_text
from tests.unit.store.samples import NOW
from tests.unit.store.spooling import PATIENT, SetClock, rows

TEXT = """\
version: 1
targets:
  - name: glm
    engine: openai
    base_url: http://127.0.0.1:1/v1
    model: glm-5.3
    tenants: [{name: donor-a}, {name: victim-b}]
"""


def lines(folder: Path, clock: SetClock) -> list[Line]:
    return list(check_spool(Surroundings(config=load_text(folder, TEXT), clock=clock)))


def spool_of(folder: Path) -> Path:
    return folder / "davylamp-data" / "spool"


def test_without_a_store_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert lines(tmp_path, SetClock()) == []


def test_rows_that_wait_for_long_are_a_warning_and_stay(tmp_path: Path) -> None:
    clock = SetClock()
    spool = Spool.opened(spool_of(tmp_path), clock, PATIENT)
    spool.put(line_of(rows(3), NOW), 3)
    (file,) = spool_of(tmp_path).glob("*.open")
    os.utime(file, (NOW.timestamp(), NOW.timestamp()))
    assert [line.health for line in lines(tmp_path, clock)] == [Health.OK]
    clock.pass_by(3600)
    (found,) = lines(tmp_path, clock)
    assert found.health is Health.WARN
    assert found.said == "the oldest rows have waited for 3600 s or more"
    assert "nothing is lost" in found.remedy
    assert file.exists()


def test_what_was_laid_aside_is_a_warning(tmp_path: Path) -> None:
    Spool.opened(spool_of(tmp_path), SetClock(), PATIENT).quarantine("x.line", b"x")
    health, aside = lines(tmp_path, SetClock())
    assert health.health is Health.OK
    assert (aside.what, aside.health) == ("quarantine", Health.WARN)
    assert str(spool_of(tmp_path) / "quarantine") in aside.remedy


def test_a_spool_that_cannot_be_read_is_not_well(tmp_path: Path) -> None:
    spool_of(tmp_path).parent.mkdir()
    spool_of(tmp_path).write_text("in the way")
    (found,) = lines(tmp_path, SetClock())
    assert found.health is Health.UNKNOWN
    assert "cannot be read: not a directory" in found.said
