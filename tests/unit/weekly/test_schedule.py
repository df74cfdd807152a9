"""Which weeks a schedule of reports owes, by what is in its folder and since when it is on."""

from __future__ import annotations

import json
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from monitor.weekly.manifest import MANIFEST_FILE
from monitor.weekly.schedule import SINCE_FILE, ReportSchedule, alone_in, put
from monitor.weekly.week import Week
from tests.unit.daemon.installed import config_of

# The report of 2026-W44 is due from six o'clock.
NOW = datetime(2026, 11, 2, 7, 0, tzinfo=UTC)
WEEK = timedelta(weeks=1)
HOOK = {"name": "filed", "url": "https://hooks.example.com/x"}


def schedule_of(base: Path, **more: Any) -> ReportSchedule:
    (base / "reports").mkdir(exist_ok=True)
    retention = more.pop("retention", {})
    config = config_of(
        base, reports={"folder": "reports", **more}, storage={"retention": retention}
    )
    found = ReportSchedule.of(config)
    assert found is not None
    return found


def build(base: Path, *weeks: str, told: str | None = None, noticed: bool = True) -> None:
    for week in weeks:
        folder = base / "reports" / week
        folder.mkdir()
        (folder / MANIFEST_FILE).write_text("{}")
        if noticed:
            (base / "reports" / f"{week}.notice.json").write_text("{}")
        if told is not None:
            said = json.dumps({"outcome": told})
            (base / "reports" / f"{week}.told.json").write_text(said)


def labels(weeks: tuple[Week, ...]) -> list[str]:
    return [week.label for week in weeks]


def test_without_the_section_there_is_no_schedule(tmp_path: Path) -> None:
    assert ReportSchedule.of(config_of(tmp_path)) is None


def test_at_first_only_the_last_week_is_owed(tmp_path: Path) -> None:
    schedule = schedule_of(tmp_path)
    assert labels(schedule.missing(NOW)) == ["2026-W44"]
    assert labels(schedule.missing(NOW - timedelta(hours=2))) == ["2026-W43"]


def test_weeks_since_it_is_on_are_owed_in_order_and_no_more_than_four(tmp_path: Path) -> None:
    schedule = schedule_of(tmp_path)
    schedule.begin(NOW)
    assert labels(schedule.missing(NOW + 2 * WEEK)) == ["2026-W44", "2026-W45", "2026-W46"]
    assert labels(schedule.missing(NOW + 9 * WEEK)) == [
        *("2026-W50", "2026-W51", "2026-W52", "2026-W53"),
    ]


def test_a_folder_of_before_tells_since_when_it_is_on(tmp_path: Path) -> None:
    build(with_folder(tmp_path), "2026-W42", "2026-W43")
    schedule = schedule_of(tmp_path)
    assert labels(schedule.missing(NOW + WEEK)) == ["2026-W44", "2026-W45"]


def with_folder(base: Path) -> Path:
    (base / "reports").mkdir()
    return base


def test_a_folder_that_was_emptied_is_owed_what_may_still_be_built(tmp_path: Path) -> None:
    schedule = schedule_of(tmp_path)
    schedule.begin(NOW - 8 * WEEK)
    assert len(schedule.missing(NOW)) == 4


def test_reports_that_were_taken_away_are_not_owed_if_their_notices_stayed(tmp_path: Path) -> None:
    schedule = schedule_of(tmp_path)
    schedule.begin(NOW - 8 * WEEK)
    for week in ("2026-W41", "2026-W42", "2026-W43", "2026-W44"):
        (tmp_path / "reports" / f"{week}.notice.json").write_text("{}")
    assert schedule.missing(NOW) == ()


def test_a_report_that_was_taken_away_has_left_those_before_it_behind(tmp_path: Path) -> None:
    schedule = schedule_of(tmp_path)
    schedule.begin(NOW - 8 * WEEK)
    (tmp_path / "reports" / "2026-W43.notice.json").write_text("{}")
    assert labels(schedule.wanted(NOW)) == ["2026-W43", "2026-W44"]


def test_what_is_kept_is_written_once(tmp_path: Path) -> None:
    schedule = schedule_of(tmp_path)
    schedule.begin(NOW)
    before = schedule.since_file.stat().st_ino
    schedule.begin(NOW + WEEK)
    assert schedule.since_file.stat().st_ino == before


def test_weeks_whose_rows_are_gone_are_not_owed(tmp_path: Path) -> None:
    schedule = schedule_of(tmp_path, retention={"verdicts_days": 15, "bodies_days": 7})
    schedule.begin(NOW - 8 * WEEK)
    # On Monday morning the week before the last began fourteen days and some hours ago.
    assert labels(schedule.missing(NOW)) == ["2026-W43", "2026-W44"]


def test_a_week_that_a_newer_report_left_behind_is_not_owed(tmp_path: Path) -> None:
    schedule = schedule_of(tmp_path)
    schedule.begin(NOW - 8 * WEEK)
    build(tmp_path, "2026-W41", "2026-W43")
    assert labels(schedule.wanted(NOW)) == ["2026-W41", "2026-W43", "2026-W44"]
    assert labels(schedule.missing(NOW)) == ["2026-W44"]


def test_a_report_that_was_not_found_to_hold_is_owed(tmp_path: Path) -> None:
    schedule = schedule_of(tmp_path)
    schedule.begin(NOW - WEEK)
    build(tmp_path, "2026-W43", noticed=False)
    build(tmp_path, "2026-W44")
    assert labels(schedule.missing(NOW)) == ["2026-W43"]


def test_a_half_folder_is_no_report(tmp_path: Path) -> None:
    schedule = schedule_of(tmp_path)
    half = tmp_path / "reports" / ".2026-W44.x1y2" / "report"
    half.mkdir(parents=True)
    (half / MANIFEST_FILE).write_text("{}")
    (tmp_path / "reports" / ".2026-W44.notice.json.half").write_text("{}")
    (tmp_path / "reports" / "2026-W43").mkdir()
    assert labels(schedule.missing(NOW)) == ["2026-W44"]
    assert schedule.last_built() is None


def test_a_clock_that_is_set_back_makes_older_weeks_owed_only_while_it_is(tmp_path: Path) -> None:
    schedule = schedule_of(tmp_path)
    schedule.begin(NOW)
    build(tmp_path, "2026-W44")
    before = (tmp_path / "reports" / "2026-W44" / MANIFEST_FILE).stat()
    assert labels(schedule.missing(NOW - WEEK)) == ["2026-W43"]
    schedule.begin(NOW - WEEK)
    assert schedule.missing(NOW) == ()
    assert (tmp_path / "reports" / "2026-W44" / MANIFEST_FILE).stat() == before


def test_a_clock_that_was_ahead_does_not_end_the_schedule(tmp_path: Path) -> None:
    schedule = schedule_of(tmp_path)
    schedule.begin(NOW + 300 * WEEK)
    build(tmp_path, (schedule.due(NOW + 300 * WEEK)).label)
    assert labels(schedule.missing(NOW)) == ["2026-W44"]
    schedule.begin(NOW)
    assert labels(schedule.missing(NOW + WEEK)) == ["2026-W44", "2026-W45"]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"week": 3}', '{"week": "soon"}', "[" * 9999])
def test_what_is_kept_and_cannot_be_read_is_as_if_nothing_were(
    tmp_path: Path, content: str
) -> None:
    schedule = schedule_of(tmp_path)
    schedule.since_file.parent.mkdir()
    schedule.since_file.write_text(content)
    assert labels(schedule.missing(NOW)) == ["2026-W44"]
    schedule.begin(NOW)
    assert json.loads(schedule.since_file.read_text()) == {"week": "2026-W44"}


def test_since_when_it_is_on_is_kept_with_the_store(tmp_path: Path) -> None:
    schedule = schedule_of(tmp_path)
    schedule.begin(NOW)
    schedule.begin(NOW + 3 * WEEK)
    assert schedule.since_file.name == SINCE_FILE
    assert schedule.since_file.parent != schedule.folder
    assert json.loads(schedule.since_file.read_text()) == {"week": "2026-W44"}


@pytest.mark.parametrize(
    ("told", "untold"),
    [(None, ["2026-W44"]), ("rejected", ["2026-W44"]), ("accepted", [])],
)
def test_who_refused_was_not_told(tmp_path: Path, told: str | None, untold: list[str]) -> None:
    schedule = schedule_of(tmp_path, webhook=HOOK)
    build(tmp_path, "2026-W44", told=told)
    assert labels(schedule.untold(NOW)) == untold
    assert schedule_of(tmp_path).untold(NOW) == ()


def test_a_folder_that_is_not_there_owes_every_week(tmp_path: Path) -> None:
    schedule = schedule_of(tmp_path)
    schedule.begin(NOW - WEEK)
    schedule.folder.rmdir()
    assert labels(schedule.missing(NOW)) == ["2026-W43", "2026-W44"]
    assert (schedule.untold(NOW), schedule.last_built()) == ((), None)


def test_a_file_is_whole_and_its_owners_whatever_a_killed_process_left(tmp_path: Path) -> None:
    file = tmp_path / "2026-W44.notice.json"
    half = tmp_path / ".2026-W44.notice.json.half"
    half.write_text("{")
    half.chmod(0o644)
    put(file, {"week": "2026-W44"})
    assert json.loads(file.read_bytes()) == {"week": "2026-W44"}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not half.exists()


def test_a_folder_is_held_by_one_and_let_go_of(tmp_path: Path) -> None:
    with alone_in(tmp_path) as first, alone_in(tmp_path) as second:
        assert (first, second) == (True, False)
    with alone_in(tmp_path) as again:
        assert again
