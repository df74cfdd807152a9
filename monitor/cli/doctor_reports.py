"""Can weekly reports be written, told of, and are they there: nothing is built to see it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta

from monitor.cli.doctor_line import Line, Surroundings, fail, ok, warn
from monitor.errors import ConfigError
from monitor.paging.receivers import webhook_of
from monitor.weekly.schedule import ReportSchedule

# The daemon looks every ten minutes; who looks in between has nothing to mend yet.
_GRACE = timedelta(hours=1)


async def check_reports(around: Surroundings) -> AsyncIterator[Line]:
    """See that the folder of reports takes some, and that the last that is due is in it."""
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
    due = schedule.due(now).label
    absent = [week.label for week in schedule.wanted(now) if not schedule.is_there(week)]
    if absent:
        said = f"due and not there: the report of {', '.join(absent)}"
        yield warn("reports", said, "see that a daemon runs, and what its log says of reports")
    else:
        yield ok("reports", f"the report of {due} is there")
    if untold := [week.label for week in schedule.untold(now)]:
        said = f"{', '.join(untold)}: nobody was told, or who was told refused"
        yield warn("reports", said, "see what the daemon's log says of reports.webhook")
