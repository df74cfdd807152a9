"""Weekly reports of a daemon: each is built once its week is over, and then somebody is told.

What is there and what was told stands in the folder of the reports, so a start forgets nothing: a
report that is missing is built, and one that nobody was told of yet is told.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from monitor.canaries import InstallationKey
from monitor.clock import Clock
from monitor.config import Config
from monitor.config.reports import Reports
from monitor.conventions.pages import PageOutcome
from monitor.daemon.weekly import asked_of
from monitor.errors import DavylampError
from monitor.logs import crash_words
from monitor.paging.receivers import Receiver, webhook_of
from monitor.store import Store
from monitor.store.client import Location, connect
from monitor.store.week_reader import WeekReader
from monitor.weekly.building import build
from monitor.weekly.files import Format
from monitor.weekly.manifest import MANIFEST_FILE, sha256
from monitor.weekly.week import Week

log = logging.getLogger(__name__)

LOOK_SECONDS = 600.0
NOTICE_VERSION = 1
_JUDGED = ".judged.json"
_TOLD = ".told.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reporter:
    """Builds the reports of an installation and tells of them."""

    config: Config
    reports: Reports
    location: Location
    key: InstallationKey
    clock: Clock
    receiver: Receiver | None = None

    @property
    def folder(self) -> Path:
        """Where the reports are; a relative one is relative to the configuration file."""
        return self.config.file.parent / self.reports.folder

    async def run(self) -> None:
        """Look every ten minutes whether something is due. What fails is logged and tried again."""
        while True:
            await self.look()
            await self.clock.sleep(LOOK_SECONDS)

    async def look(self) -> None:
        """Build the last report that is due unless it is there, and tell of it unless told."""
        week = self.due()
        try:
            if not (self.folder / week.label / MANIFEST_FILE).exists():
                await asyncio.to_thread(self._build, week)
            await self._tell(week)
        except (DavylampError, OSError) as error:
            log.error("the weekly report of %s: %s", week.label, error)  # noqa: TRY400 - our words

    def due(self) -> Week:
        """Return the last week whose report is due."""
        offset = timedelta(seconds=self.reports.offset_seconds)
        return Week.last_before(self.clock.now() - offset)

    def _build(self, week: Week) -> None:
        drill = self.reports.drill
        asked = asked_of(self.config, week, self.config.file.parent / drill if drill else None)
        formats = [Format(each) for each in self.reports.formats]
        with closing(WeekReader(connect(self.location, read_only=True))) as reader:
            built = build(reader, asked, formats, self.folder / week.label, self.key)
        judged = Counter(row.judgement.value for row in built.report.targets)
        notice = {
            "version": NOTICE_VERSION,
            "environment": self.config.environment,
            "week": week.label,
            "judgement": built.report.judgement.value,
            "has_data": built.report.has_data,
            "targets": {row.target: row.judgement.value for row in built.report.targets},
            "judged": dict(sorted(judged.items())),
            "not_looked_at": len(built.report.not_looked_at),
            "findings": len(built.report.findings),
            "manifest_sha256": built.manifest_sha256,
            "previous_sha256": built.previous.manifest_sha256 if built.previous else None,
        }
        _put(self.folder / f"{week.label}{_JUDGED}", notice)
        log.info(
            "weekly report %s: %s, manifest %s",
            *(built.folder, built.report.judgement.value, built.manifest_sha256),
        )

    async def _tell(self, week: Week) -> None:
        """Tell of a report once. A receiver that fails is tried again, one that refuses is not."""
        judged, told = (self.folder / f"{week.label}{end}" for end in (_JUDGED, _TOLD))
        if self.receiver is None or told.exists() or not judged.exists():
            return
        body = judged.read_bytes()
        answer = await self.receiver.send(body)
        if answer.outcome is PageOutcome.FAILED:
            log.warning(
                "nobody was told of the weekly report %s: %s; tried again in %.0f s",
                *(week.label, answer.problem, LOOK_SECONDS),
            )
            return
        if answer.outcome is PageOutcome.REJECTED:
            log.error(
                "%s refuses to be told of the weekly report %s: %s",
                *(self.receiver.name, week.label, answer.problem),
            )
        _put(told, {"outcome": answer.outcome.value, "sent_sha256": sha256(body)})


def _put(file: Path, said: object) -> None:
    """Write a file that stands there only once it is whole."""
    half = file.with_name(f".{file.name}.half")
    half.write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")
    half.replace(file)


def _say_crashed(task: asyncio.Task[None]) -> None:
    """Say of what it ended: probing goes on without reports, but never silently."""
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("weekly reports have ended until the next start: %s", crash_words(error))


@contextlib.asynccontextmanager
async def reporting(config: Config, store: Store, clock: Clock) -> AsyncIterator[None]:
    """Build weekly reports meanwhile, if the configuration wants any.

    Raises ``ConfigError`` for a secret of the webhook that is missing.
    """
    reports = config.settings.reports
    if reports is None:
        yield
        return
    receiver = webhook_of(reports.webhook, clock) if reports.webhook is not None else None
    reporter = Reporter(
        config=config,
        reports=reports,
        location=store.location,
        key=store.key,
        clock=clock,
        receiver=receiver,
    )
    running = asyncio.create_task(reporter.run())
    running.add_done_callback(_say_crashed)
    try:
        yield
    finally:
        running.cancel()
        await asyncio.wait({running})
        if receiver is not None:
            await receiver.aclose()
