"""What a schedule of weekly reports owes: which weeks are wanted, and what is there of each.

Everything stands in files, so that a start forgets nothing. Beside the report of a week stand
``WEEK.notice.json``, what somebody is told of it, written once the report is there and holds, and
``WEEK.told.json``, what became of that. Since when the schedule is on is kept with the store: a
folder of reports may be emptied.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from monitor.config import Config
from monitor.config.reports import Reports
from monitor.conventions.pages import PageOutcome
from monitor.weekly.manifest import MANIFEST_FILE
from monitor.weekly.week import Week

LATE_WEEKS = 4
"""How many weeks, the last that is due among them, are built if they are missing."""
SINCE_FILE = "reports-since.json"
_NOTICE, _TOLD = ".notice.json", ".told.json"
_LOCK = ".davylamp.lock"
_OWNER_ONLY = 0o600


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

        None if nobody is to be told.
        """
        if self.reports.webhook is None:
            return ()
        done = (week for week in self.wanted(now) if self.is_done(week))
        return tuple(week for week in done if self._outcome(week) != PageOutcome.ACCEPTED.value)

    def last_built(self) -> datetime | None:
        """Return when the newest report by its week was written; ``None`` if none is there."""
        for week in sorted(self._weeks_there(), reverse=True):
            with contextlib.suppress(OSError):
                written = (self.folder / week.label / MANIFEST_FILE).stat().st_mtime
                return datetime.fromtimestamp(written, UTC)
        return None

    def is_there(self, week: Week) -> bool:
        """True if there is a report of a week, or there was one that somebody took away."""
        return _is_file(self.folder / week.label / MANIFEST_FILE) or self.is_done(week)

    def is_done(self, week: Week) -> bool:
        """True if the report of a week was built, held, and may be told of."""
        return _is_file(self.notice(week))

    def notice(self, week: Week) -> Path:
        """Return the file of what is told of a week."""
        return self.folder / f"{week.label}{_NOTICE}"

    def told(self, week: Week) -> Path:
        """Return the file of what became of telling it."""
        return self.folder / f"{week.label}{_TOLD}"

    def _outcome(self, week: Week) -> str:
        said = _read(self.told(week)).get("outcome")
        return said if isinstance(said, str) else ""

    def begin(self, now: datetime) -> None:
        """Keep since which week the schedule is on. Raises ``OSError``.

        A week that has not come yet was kept under a clock that was ahead, and is corrected.
        """
        due = self.due(now)
        first = self._first(due)
        if self._kept() != first:
            self.since_file.parent.mkdir(parents=True, exist_ok=True)
            put(self.since_file, {"week": first.label})

    def _first(self, due: Week) -> Week:
        """Return since which week reports are wanted: as kept, or as the folder shows."""
        kept = self._kept()
        if kept is None:
            kept = min(self._weeks_there(), default=due)
        return min(kept, due)

    def _kept(self) -> Week | None:
        label = _read(self.since_file).get("week")
        with contextlib.suppress(ValueError):
            return Week.parse(label) if isinstance(label, str) else None
        return None

    def _weeks_there(self) -> Iterator[Week]:
        with contextlib.suppress(OSError):
            for each in self.folder.iterdir():
                with contextlib.suppress(ValueError):
                    week = Week.parse(each.name.partition(".")[0])
                    if self.is_there(week):
                        yield week


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[bool]:
    """Hold a folder of reports; false if another process does. Raises ``OSError``.

    A process that ends, however it does, lets go of it.
    """
    descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _OWNER_ONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


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
