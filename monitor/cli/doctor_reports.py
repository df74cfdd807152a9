"""Can weekly reports be written, told of, and is the last one there: nothing is built to see it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from datetime import timedelta

from monitor.cli.doctor_line import Line, Surroundings, fail, ok, warn
from monitor.errors import ConfigError
from monitor.paging.receivers import webhook_of
from monitor.weekly.manifest import MANIFEST_FILE
from monitor.weekly.week import Week

# The daemon looks every ten minutes; who looks in between has nothing to mend yet.
_GRACE = timedelta(hours=1)


async def check_reports(around: Surroundings) -> AsyncIterator[Line]:
    """See that the folder of reports takes some, and that the last that is due is in it."""
    reports = around.config.settings.reports
    if reports is None:
        return
    folder = around.config.file.parent / reports.folder
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
    due = Week.last_before(around.clock.now() - timedelta(seconds=reports.offset_seconds) - _GRACE)
    if (folder / due.label / MANIFEST_FILE).is_file():
        yield ok("reports", f"the report of {due.label} is there")
        return
    said = f"the report of {due.label} is due and not there"
    yield warn("reports", said, "see that a daemon runs, and what its log says of reports")
