"""What a schedule of weekly reports owes: which weeks are wanted, and what is there of each.

Everything stands in files, so that a start forgets nothing. Beside the report of a week stand
``WEEK.notice.json``, what somebody is told of it, written once the report is there and holds, and
``WEEK.told.json``, what became of that; or ``WEEK.held.json``, if it holds and nobody can be told
of it. Since when the schedule is on, and its webhook, is kept with the store: a folder of reports
may be emptied.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from monitor.config import Config
from monitor.config.reports import Reports
from monitor.conventions.pages import PageOutcome
from monitor.errors import UsageError
from monitor.weekly.manifest import MANIFEST_FILE, sha256
from monitor.weekly.week import Week

LATE_WEEKS = 4
"""How many weeks, the last that is due among them, are built if they are missing."""
SINCE_FILE = "reports-since.json"
_NOTICE, _TOLD, _HELD = ".notice.json", ".told.json", ".held.json"
_LOCK = ".davylamp.lock"
_OWNER_ONLY = 0o600
# What a build writes into before it is renamed, as ``tempfile`` names it.
_SCRATCH = re.compile(r"\.([0-9]{4}-W[0-9]{2})\.[a-z0-9_]{8}", re.ASCII)
# A build by hand holds no lock; it writes for seconds.
_STALE = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSchedule:
    """The reports of an installation by its configuration: nothing here writes a report.

    A file that cannot be seen counts as not there: what could not be told is owed.
    """

    reports: Reports
    folder: Path
    since_file: Path
    kept_days: int

    @classmethod
    def of(cls, config: Config) -> ReportSchedule | None:
        """Return what a configuration wants; ``None`` if it wants no reports."""
        reports = config.settings.reports
        if reports is None:
            return None
        return cls(
            reports=reports,
            # A relative folder is relative to the configuration file.
            folder=config.file.parent / reports.folder,
            since_file=config.storage_path / SINCE_FILE,
            kept_days=config.storage.retention.verdicts_days,
        )

    def due(self, now: datetime) -> Week:
        """Return the last week whose report is due."""
        return Week.last_before(now - timedelta(seconds=self.reports.offset_seconds))

    def wanted(self, now: datetime) -> tuple[Week, ...]:
        """Return the weeks that there must be reports of, oldest first; the last one is due now.

        Of those before it only what the schedule was on for, whose rows are still kept, and that
        no newer report has left behind: the newer one says already that they have none.
        """
        due = self.due(now)
        weeks = [due.earlier(number) for number in reversed(range(LATE_WEEKS))]
        first, kept = self._first(due), now - timedelta(days=self.kept_days)
        newest = max((week for week in weeks if self.is_there(week)), default=None)
        return tuple(
            week
            for week in weeks
            if week == due
            or (first <= week and kept <= week.since and self._in_order(week, newest))
        )

    def _in_order(self, week: Week, newest: Week | None) -> bool:
        return newest is None or newest < week or self.is_there(week)

    def missing(self, now: datetime) -> tuple[Week, ...]:
        """Return the wanted weeks that no report is known to be there of and to hold."""
        return tuple(week for week in self.wanted(now) if not self.is_done(week))

    def untold(self, now: datetime) -> tuple[Week, ...]:
        """Return the wanted weeks with a report that nobody was told of, or who was told refused.

        None if nobody is to be told, and none of before the webhook was on.
        """
        done = (week for week in self.wanted(now) if self.is_done(week))
        return tuple(
            week
            for week in done
            if self.is_to_be_told(week, now) and self._outcome(week) != PageOutcome.ACCEPTED.value
        )

    def is_to_be_told(self, week: Week, now: datetime) -> bool:
        """True if there is a webhook, and the week is not of before it was on.

        Of the reports there then, it is told of the last that was due.
        """
        first = self._first_told(self.due(now))
        return first is not None and first <= week

    def newest_due_at(self, now: datetime) -> datetime | None:
        """Return when the newest report that is there was due; ``None`` if none is.

        By its week, not by its files: a copy is as old as what it is a copy of. One of a week that
        is not due yet was built under a clock that was ahead, and is none.
        """
        due = self.due(now)
        newest = max((week for week in self._weeks_there() if week <= due), default=None)
        if newest is None:
            return None
        return newest.until + timedelta(seconds=self.reports.offset_seconds)

    def is_there(self, week: Week) -> bool:
        """True if there is a report of a week, or there was one that somebody took away."""
        return _is_file(self.folder / week.label / MANIFEST_FILE) or self.is_done(week)

    def is_done(self, week: Week) -> bool:
        """True if the report of a week was built and held."""
        return _is_file(self.notice(week)) or self._held_untellable(week)

    def _held_untellable(self, week: Week) -> bool:
        held = _read(self.held(week)).get("manifest_sha256")
        try:
            content = (self.folder / week.label / MANIFEST_FILE).read_bytes() if held else b""
        except OSError:
            return False
        # Another report in its place is to be seen anew.
        return bool(held) and held == sha256(content)

    def notice(self, week: Week) -> Path:
        """Return the file of what is told of a week."""
        return self.folder / f"{week.label}{_NOTICE}"

    def told(self, week: Week) -> Path:
        """Return the file of what became of telling it."""
        return self.folder / f"{week.label}{_TOLD}"

    def held(self, week: Week) -> Path:
        """Return the file that names the manifest of a report that holds and cannot be told of."""
        return self.folder / f"{week.label}{_HELD}"

    def _outcome(self, week: Week) -> str:
        said = _read(self.told(week)).get("outcome")
        return said if isinstance(said, str) else ""

    def begin(self, now: datetime) -> None:
        """Keep since which week the schedule is on, and its webhook. Raises ``OSError``.

        A week that has not come yet was kept under a clock that was ahead, and is corrected.
        """
        due = self.due(now)
        told = self._first_told(due)
        said = {
            "week": self._first(due).label,
            "told_week": told.label if told is not None else None,
        }
        if _read(self.since_file) != said:
            self.since_file.parent.mkdir(parents=True, exist_ok=True)
            put(self.since_file, said)

    def _first(self, due: Week) -> Week:
        """Return since which week reports are wanted: as kept, or as the folder shows."""
        kept = _week(_read(self.since_file).get("week"))
        if kept is None:
            kept = min(self._weeks_there(), default=due)
        return min(kept, due)

    def _first_told(self, due: Week) -> Week | None:
        """Return since which week the webhook is told: as kept, or as the folder shows.

        ``None`` if there is no webhook.
        """
        if self.reports.webhook is None:
            return None
        said = _read(self.since_file)
        kept = _week(said.get("told_week"))
        # One that says nothing of webhooks was kept by a version that told of whatever was there.
        if kept is None and "told_week" not in said:
            there = (week for week in self._weeks_there() if _is_file(self.told(week)))
            kept = min(there, default=None)
        return due if kept is None else min(kept, due)

    def _weeks_there(self) -> Iterator[Week]:
        with contextlib.suppress(OSError):
            for each in self.folder.iterdir():
                with contextlib.suppress(ValueError):
                    week = Week.parse(each.name.partition(".")[0])
                    if self.is_there(week):
                        yield week


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[bool]:
    """Hold a folder of reports; false if another process does.

    A process that ends, however it does, lets go of it. Raises ``UsageError`` where files cannot be
    locked, ``OSError`` if the file of the lock cannot be opened.
    """
    descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _OWNER_ONLY)
    try:
        yield _lock(descriptor, folder)
    finally:
        os.close(descriptor)


def check_locks(folder: Path) -> None:
    """Raise ``UsageError`` where files cannot be locked, ``OSError`` where none can be made.

    Nothing is left there, and whoever holds the folder is not disturbed.
    """
    with tempfile.TemporaryFile(dir=folder) as file:
        _lock(file.fileno(), folder)


def _lock(descriptor: int, folder: Path) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        msg = (
            f"{folder}: its file system locks no files (flock: {reason}), so no report is built "
            "there (let reports.folder be on one that does: a local disk, or NFS with its lock "
            "service)"
        )
        raise UsageError(msg) from None
    return True


def stale_scratch(folder: Path, now: datetime) -> tuple[Path, ...]:
    """Return the folders that builds which were killed wrote into. Raises ``OSError``.

    One that was changed within the hour may be of a build by hand, and is not among them.
    """
    return tuple(
        each
        for each in sorted(folder.iterdir())
        if (found := _SCRATCH.fullmatch(each.name))
        and _week(found[1]) is not None
        and not each.is_symlink()
        and each.is_dir()
        and each.stat().st_mtime < (now - _STALE).timestamp()
    )


def put(file: Path, said: object) -> None:
    """Write a file that stands there only once it is whole, readable by its owner only.

    Raises ``OSError``.
    """
    half = file.with_name(f".{file.name}.half")
    # What a process that was killed left may have other rights.
    half.unlink(missing_ok=True)
    descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWNER_ONLY)
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        opened.write(json.dumps(said, indent=2) + "\n")
        opened.flush()
        os.fsync(opened.fileno())
    half.replace(file)


def _week(label: object) -> Week | None:
    with contextlib.suppress(ValueError):
        return Week.parse(label) if isinstance(label, str) else None
    return None


def _read(file: Path) -> Mapping[str, object]:
    """Return what such a file says; nothing if it cannot be read."""
    try:
        said = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _is_file(file: Path) -> bool:
    try:
        return file.is_file()
    except OSError:
        return False
