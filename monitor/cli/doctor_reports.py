"""Can weekly reports be written and told of, and which are owed: nothing is built to see it.

What is owed is read as the metrics, ``/readyz`` and the alerts read it.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta

from monitor.cli.doctor_line import Line, Surroundings, fail, ok, warn
from monitor.errors import ConfigError, UsageError
from monitor.paging.receivers import webhook_of
from monitor.weekly.schedule import ReportSchedule, check_locks

# The daemon looks every ten minutes; who looks in between has nothing to mend yet.
_GRACE = timedelta(hours=1)
_VERIFY = (
    "see what the daemon's log says of it, and `davylamp report verify`; "
    "moved away, it is built anew"
)


async def check_reports(around: Surroundings) -> AsyncIterator[Line]:
    """See that the folder of reports takes some, and that those that are due are in it and held."""
    schedule = ReportSchedule.of(around.config)
    if schedule is None:
        return
    reports, folder = schedule.reports, schedule.folder
    if not folder.is_dir():
        yield fail("reports", f"{folder}: no such folder", "make it, readable by its owner only")
        return
    if not os.access(folder, os.W_OK | os.X_OK):
        yield fail("reports", f"{folder} cannot be written", "let the user that runs us write it")
        return
    try:
        check_locks(folder)
    except UsageError as error:
        yield fail("reports", str(error), "let reports.folder be where files can be locked")
        return
    except OSError as error:
        yield fail("reports", f"{folder}: no file can be made: {error.strerror}", "see to the disk")
        return
    if reports.webhook is not None:
        try:
            receiver = webhook_of(reports.webhook, around.clock, around.environ)
        except ConfigError as error:
            yield fail("reports", error.problem, error.remedy or "mend reports.webhook")
            return
        await receiver.aclose()
    for line in _owed(schedule, around.clock.now() - _GRACE):
        yield line


def _owed(schedule: ReportSchedule, now: datetime) -> Iterator[Line]:
    missing = schedule.missing(now)
    if absent := [week.label for week in missing if not schedule.is_there(week)]:
        said = f"due and not there: the report of {', '.join(absent)}"
        yield warn("reports", said, "see that a daemon runs, and what its log says of reports")
    if doubtful := [week.label for week in missing if schedule.is_there(week)]:
        said = f"there, but not known to hold: the report of {', '.join(doubtful)}"
        yield warn("reports", said, _VERIFY)
    if not missing:
        yield ok("reports", f"the report of {schedule.due(now).label} is there, and held")
    if untold := [week.label for week in schedule.untold(now)]:
        said = f"{', '.join(untold)}: nobody was told, or who was told refused"
        yield warn("reports", said, "see what the daemon's log says of reports.webhook")
