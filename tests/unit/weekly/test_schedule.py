"""Which weeks a schedule of reports owes, by what is in its folder and since when it is on."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from monitor.errors import UsageError
from monitor.weekly.manifest import MANIFEST_FILE, sha256
from monitor.weekly.schedule import (
    SINCE_FILE,
    ReportSchedule,
    alone_in,
    check_locks,
    put,
    stale_scratch,
)
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


def since(schedule: ReportSchedule) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(schedule.since_file.read_text())
    return said


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
    assert schedule.newest_due_at(NOW) is None


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
    assert since(schedule) == {"week": "2026-W44", "told_week": None}


def test_since_when_it_is_on_is_kept_with_the_store(tmp_path: Path) -> None:
    schedule = schedule_of(tmp_path)
    schedule.begin(NOW)
    schedule.begin(NOW + 3 * WEEK)
    assert schedule.since_file.name == SINCE_FILE
    assert schedule.since_file.parent != schedule.folder
    assert since(schedule) == {"week": "2026-W44", "told_week": None}


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
    assert (schedule.untold(NOW), schedule.newest_due_at(NOW)) == ((), None)


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


FOUR = ("2026-W41", "2026-W42", "2026-W43", "2026-W44")


def test_a_webhook_that_is_added_is_told_of_the_last_report_and_of_none_before(
    tmp_path: Path,
) -> None:
    schedule_of(tmp_path).begin(NOW - 3 * WEEK)
    build(tmp_path, *FOUR)
    schedule = schedule_of(tmp_path, webhook=HOOK)
    # As the doctor sees it before a daemon was started, and after.
    assert labels(schedule.untold(NOW)) == ["2026-W44"]
    schedule.begin(NOW)
    assert labels(schedule.untold(NOW)) == ["2026-W44"]
    build(tmp_path, "2026-W45")
    assert labels(schedule.untold(NOW + WEEK)) == ["2026-W44", "2026-W45"]


def test_a_webhook_that_was_off_is_not_told_of_what_was_built_meanwhile(tmp_path: Path) -> None:
    on = schedule_of(tmp_path, webhook=HOOK)
    on.begin(NOW - 3 * WEEK)
    build(tmp_path, "2026-W41", told="accepted")
    build(tmp_path, *FOUR[1:])
    schedule_of(tmp_path).begin(NOW - 2 * WEEK)
    assert labels(on.untold(NOW)) == ["2026-W44"]


def test_a_webhook_of_before_is_told_since_the_first_report_it_was_told_of(tmp_path: Path) -> None:
    schedule = schedule_of(tmp_path, webhook=HOOK)
    schedule.since_file.parent.mkdir()
    schedule.since_file.write_text('{"week": "2026-W41"}')
    build(tmp_path, "2026-W41")
    build(tmp_path, "2026-W42", told="accepted")
    build(tmp_path, "2026-W43", "2026-W44")
    assert labels(schedule.untold(NOW)) == ["2026-W43", "2026-W44"]
    schedule.begin(NOW)
    assert since(schedule) == {"week": "2026-W41", "told_week": "2026-W42"}


def test_a_report_is_as_old_as_its_week_whenever_it_was_copied(tmp_path: Path) -> None:
    schedule = schedule_of(tmp_path, day="tuesday", time="07:30")
    build(tmp_path, "2026-W40", "2026-W41")
    due_at = datetime(2026, 10, 13, 7, 30, tzinfo=UTC)
    assert schedule.newest_due_at(NOW) == due_at
    assert schedule.due(due_at).label == "2026-W41"
    assert schedule.due(due_at - timedelta(seconds=1)).label == "2026-W40"
    # Built under a clock that was ahead.
    build(tmp_path, "2026-W50")
    assert schedule.newest_due_at(NOW) == due_at


def test_a_report_that_holds_and_cannot_be_told_of_is_there_while_it_is_the_one_that_held(
    tmp_path: Path,
) -> None:
    schedule = schedule_of(tmp_path, webhook=HOOK)
    build(tmp_path, "2026-W44", noticed=False)
    week = Week.parse("2026-W44")
    put(schedule.held(week), {"manifest_sha256": sha256(b"{}")})
    assert (schedule.missing(NOW), labels(schedule.untold(NOW))) == ((), ["2026-W44"])
    manifest = schedule.folder / "2026-W44" / MANIFEST_FILE
    manifest.write_text("{ }")
    assert labels(schedule.missing(NOW)) == ["2026-W44"]
    manifest.unlink()
    assert labels(schedule.missing(NOW)) == ["2026-W44"]
    put(schedule.held(week), {})
    assert labels(schedule.missing(NOW)) == ["2026-W44"]


def test_what_killed_builds_left_is_stale_after_an_hour_and_nothing_else_is(tmp_path: Path) -> None:
    names = (
        *(".2026-W44.a1b2c3d_", ".2026-W45.a1b2c3d_", ".2026-W99.a1b2c3d_", ".2026-W44.mine"),
        *("2026-W44", ".other"),
    )
    for name in names:
        (tmp_path / name).mkdir()
    (tmp_path / ".2026-W44.notice.json.half").write_text("{")
    (tmp_path / ".2026-W43.a1b2c3d4").write_text("a file")
    (tmp_path / ".2026-W43.a1b2c3d5").symlink_to(tmp_path / ".other")
    for each in tmp_path.iterdir():
        os.utime(each, (0, (NOW - timedelta(minutes=61)).timestamp()))
    os.utime(tmp_path / ".2026-W45.a1b2c3d_", (0, (NOW - timedelta(minutes=59)).timestamp()))
    assert [each.name for each in stale_scratch(tmp_path, NOW)] == [".2026-W44.a1b2c3d_"]


def test_a_file_system_without_locks_is_named_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    check_locks(tmp_path)
    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(UsageError, match=r"locks no files .*no locks.*reports\.folder"):
        check_locks(tmp_path)
    with pytest.raises(UsageError, match="locks no files"), alone_in(tmp_path):
        pass
    assert not [each for each in tmp_path.iterdir() if each.name != ".davylamp.lock"]


def test_the_locks_are_seen_while_the_folder_is_held(tmp_path: Path) -> None:
    with alone_in(tmp_path) as alone:
        check_locks(tmp_path)
        assert alone


def test_a_restored_store_owes_what_it_owed_while_the_reports_are_there(tmp_path: Path) -> None:
    # A backup has neither the reports nor since when they are on.
    schedule = schedule_of(tmp_path, webhook=HOOK)
    schedule.begin(NOW - 2 * WEEK)
    build(tmp_path, "2026-W42", told="accepted")
    build(tmp_path, "2026-W43")
    owed = (["2026-W44"], ["2026-W43"])
    assert (labels(schedule.missing(NOW)), labels(schedule.untold(NOW))) == owed
    schedule.since_file.unlink()
    schedule.begin(NOW)
    assert (labels(schedule.missing(NOW)), labels(schedule.untold(NOW))) == owed
    assert since(schedule) == {"week": "2026-W42", "told_week": "2026-W42"}


def test_a_clock_that_was_behind_at_first_owes_no_more_than_four_weeks(tmp_path: Path) -> None:
    schedule = schedule_of(tmp_path)
    schedule.begin(NOW - 52 * WEEK)
    schedule.begin(NOW)
    assert labels(schedule.missing(NOW)) == list(FOUR)
