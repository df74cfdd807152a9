"""Weekly reports of a daemon: each is built once its week is over, and then somebody is told.

What is there and what was told stands in the folder of the reports, so a start forgets nothing: the
last report that is due is built if it is missing, and told of if nobody was told. Those of weeks
before it are not built later.
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
from typing import Any

from monitor.canaries import InstallationKey
from monitor.certificate.keys import Signer
from monitor.clock import Clock
from monitor.config import Config
from monitor.config.reports import Reports
from monitor.conventions.pages import PageOutcome
from monitor.errors import DavylampError, UsageError
from monitor.logs import crash_words
from monitor.paging.receivers import Receiver, webhook_of
from monitor.store import Store
from monitor.store.client import Location, connect
from monitor.store.week_reader import WeekReader
from monitor.weekly.asking import asked_of
from monitor.weekly.building import build
from monitor.weekly.computing import compute
from monitor.weekly.files import JSON_FILE, Format, files_of, json_of
from monitor.weekly.inputs import Asked
from monitor.weekly.manifest import MANIFEST_FILE, PreviousPart, sha256
from monitor.weekly.verifying import BadManifestError, read_manifest, verify
from monitor.weekly.week import Week

log = logging.getLogger(__name__)

LOOK_SECONDS = 600.0
NOTICE_VERSION = 1
_NOTICE = ".notice.json"
_TOLD = ".told.json"
_MOVE = "move it away, and it is built anew"


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
                # A process ended between the two.
                said = self._said(reader, asked, folder)
            else:
                built = build(reader, asked, formats, folder, self.key)
                for problem in built.passed_over:
                    log.error("a weekly report is not followed: %s", problem)
                said = json_of(built.report)
        manifest, content = read_manifest(folder)
        notice = notice_of(json.loads(said), sha256(content), manifest.previous)
        _put(self._notice(week), notice)
        log.info("weekly report %s: %s", folder, notice["judgement"])

    def _said(self, reader: WeekReader, asked: Asked, folder: Path) -> bytes:
        """Return the JSON of a report that is there, only if it holds and is of that week.

        One that was written without it is computed again, and must be the same to the bit.
        """
        found = verify(folder, Signer(self.key).public)
        manifest = found.manifest
        if found.problems or manifest is None:
            raise UsageError(f"{folder} is there and does not hold: {found.problems[0]} ({_MOVE})")
        if (manifest.week, manifest.environment) != (asked.week.label, asked.environment):
            raise UsageError(f"{folder} is there and holds another report ({_MOVE})")
        listed = {part.name: part.sha256 for part in manifest.files}
        if JSON_FILE in listed:
            said = (folder / JSON_FILE).read_bytes()
            if sha256(said) == listed[JSON_FILE]:
                return said
            raise UsageError(f"{folder} was changed meanwhile ({_MOVE})")
        report = compute(reader, asked)
        formats = [Format(each) for each in self.reports.formats]
        again = {name: sha256(content) for name, content in files_of(report, formats).items()}
        if again != listed:
            raise UsageError(f"{folder} is there, and its week now says something else ({_MOVE})")
        return json_of(report)

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
    said: Mapping[str, Any], manifest_sha256: str, previous: PreviousPart | None
) -> Mapping[str, object]:
    """Return what a webhook is told of a report's JSON: names of ours, counts and hashes."""
    return {
        "version": NOTICE_VERSION,
        **{name: said[name] for name in ("environment", "week", "judgement", "has_data")},
        "targets": {row["target"]: row["judgement"] for row in said["targets"]},
        "findings": len(said["findings"]),
        "not_looked_at": len(said["not_looked_at"]),
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
