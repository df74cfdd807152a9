"""Weekly reports of a daemon: each is built once its week is over, and then somebody is told.

What is there and what was told stands in the folder of the reports, so a start forgets nothing: a
report that is missing is built, and one that nobody was told of yet is told.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Mapping
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
from monitor.weekly.computing import compute
from monitor.weekly.files import Format
from monitor.weekly.manifest import MANIFEST_FILE, PreviousPart, sha256
from monitor.weekly.record import WeeklyReport
from monitor.weekly.verifying import BadManifestError, read_manifest
from monitor.weekly.week import Week

log = logging.getLogger(__name__)

LOOK_SECONDS = 600.0
NOTICE_VERSION = 1
_NOTICE = ".notice.json"
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
            if not self._notice(week).exists():
                await asyncio.to_thread(self._prepare, week)
            await self._tell(week)
        except (DavylampError, BadManifestError, OSError) as error:
            log.error("the weekly report of %s: %s", week.label, error)  # noqa: TRY400 - our words

    def due(self) -> Week:
        """Return the last week whose report is due."""
        offset = timedelta(seconds=self.reports.offset_seconds)
        return Week.last_before(self.clock.now() - offset)

    def _notice(self, week: Week) -> Path:
        return self.folder / f"{week.label}{_NOTICE}"

    def _prepare(self, week: Week) -> None:
        """Write a report unless it is there, then what is told of it."""
        drill, folder = self.reports.drill, self.folder / week.label
        asked = asked_of(self.config, week, self.config.file.parent / drill if drill else None)
        formats = [Format(each) for each in self.reports.formats]
        with closing(WeekReader(connect(self.location, read_only=True))) as reader:
            if (folder / MANIFEST_FILE).exists():
                # A process ended between the two: the same store says the same again.
                report = compute(reader, asked)
            else:
                report = build(reader, asked, formats, folder, self.key).report
        manifest, content = read_manifest(folder)
        hashed = sha256(content)
        _put(self._notice(week), notice_of(report, hashed, manifest.previous))
        log.info("weekly report %s: %s, manifest %s", folder, report.judgement.value, hashed)

    async def _tell(self, week: Week) -> None:
        """Tell of a report once. A receiver that fails is tried again, one that refuses is not."""
        told = self.folder / f"{week.label}{_TOLD}"
        if self.receiver is None or told.exists():
            return
        body = self._notice(week).read_bytes()
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


def notice_of(
    report: WeeklyReport, manifest_sha256: str, previous: PreviousPart | None
) -> Mapping[str, object]:
    """Return what a webhook is told of a report: names of ours, counts and hashes."""
    return {
        "version": NOTICE_VERSION,
        "environment": report.environment,
        "week": report.week,
        "judgement": report.judgement.value,
        "has_data": report.has_data,
        "targets": {row.target: row.judgement.value for row in report.targets},
        "findings": len(report.findings),
        "not_looked_at": len(report.not_looked_at),
        "manifest_sha256": manifest_sha256,
        "previous_sha256": previous.manifest_sha256 if previous is not None else None,
        "weeks_between": previous.weeks_between if previous is not None else None,
    }


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
