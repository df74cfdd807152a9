"""Weekly reports of a daemon: each is built once its week is over, and then somebody is told.

``ReportSchedule`` says which are owed: the last that is due, and those of the weeks before it in
which no daemon ran. They are built in order, so that each is chained to the one before it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry

from monitor.canaries import InstallationKey
from monitor.certificate.keys import Signer
from monitor.clock import Clock
from monitor.config import Config
from monitor.conventions.pages import PageOutcome
from monitor.conventions.reports import ReportFailure
from monitor.daemon.reportcounts import ReportCounters
from monitor.errors import ConfigError, DavylampError, StoreError, UsageError
from monitor.logs import crash_words
from monitor.paging.receivers import Receiver, webhook_of
from monitor.store import Store
from monitor.store.client import connect
from monitor.store.week_reader import WeekReader
from monitor.weekly.asking import asked_of
from monitor.weekly.building import build
from monitor.weekly.computing import compute
from monitor.weekly.files import JSON_FILE, Format, files_of, json_of
from monitor.weekly.inputs import Asked
from monitor.weekly.manifest import MANIFEST_FILE, PreviousPart, sha256
from monitor.weekly.schedule import ReportSchedule, alone_in, put, stale_scratch
from monitor.weekly.verifying import BadManifestError, read_manifest, verify
from monitor.weekly.week import Week

log = logging.getLogger(__name__)

LOOK_SECONDS = 600.0
NOTICE_VERSION = 1
_MOVE = "move it away, and it is built anew"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reporter:
    """Builds the reports of an installation and tells of them.

    ``open_reader`` opens the rows; whoever opens closes. It may raise ``StoreError``.
    """

    config: Config
    schedule: ReportSchedule
    open_reader: Callable[[], WeekReader]
    key: InstallationKey
    clock: Clock
    counters: ReportCounters
    receiver: Receiver | None = None

    async def run(self) -> None:
        """Look every ten minutes whether something is due. What fails is logged and tried again."""
        while True:
            await self.look()
            await self.clock.sleep(LOOK_SECONDS)

    async def look(self) -> None:
        """Build each report that is owed, oldest first, and tell of it unless somebody was told.

        A week that cannot be built holds up those after it: each is chained to the one before.
        """
        try:
            if not self.schedule.folder.is_dir():
                raise UsageError(f"{self.schedule.folder}: no such folder (make it first)")
            with alone_in(self.schedule.folder) as alone:
                if alone:
                    await self._settle_all()
                else:
                    log.info("%s: another process builds reports there", self.schedule.folder)
        except (DavylampError, OSError) as error:
            self._failed("weekly reports", error)

    async def _settle_all(self) -> None:
        now = self.clock.now()
        self.schedule.begin(now)
        self._sweep(now)
        for week in self.schedule.wanted(now):
            await self._settle(week)
            if not self.schedule.is_there(week):
                return

    def _sweep(self, now: datetime) -> None:
        """Remove what builds that were killed left; what cannot be removed is in nobody's way."""
        for scratch in stale_scratch(self.schedule.folder, now):
            try:
                shutil.rmtree(scratch)
            except OSError as error:
                log.warning("%s, which a killed build left, stays: %s", scratch, error)

    async def _settle(self, week: Week) -> None:
        try:
            if not self.schedule.is_done(week):
                await asyncio.to_thread(self._prepare, week)
            await self._tell(week)
        except (DavylampError, BadManifestError, OSError) as error:
            self._failed(f"the weekly report of {week.label}", error)

    def _failed(self, what: str, error: Exception) -> None:
        self.counters.count(_kind_of(error))
        log.error("%s: %s", what, error)

    def _prepare(self, week: Week) -> None:
        """Write a report unless it is there, then what is told of it."""
        reports = self.schedule.reports
        drill, folder = reports.drill, self.schedule.folder / week.label
        asked = asked_of(self.config, week, self.config.file.parent / drill if drill else None)
        formats = [Format(each) for each in reports.formats]
        with closing(self.open_reader()) as reader:
            if (folder / MANIFEST_FILE).exists():
                # A process ended between the two.
                said = self._said(reader, asked, folder)
            else:
                built = build(reader, asked, formats, folder, self.key)
                for problem in built.passed_over:
                    log.error("a weekly report is not followed: %s", problem)
                said = json_of(built.report)
        manifest, content = read_manifest(folder)
        if said is None:
            put(self.schedule.held(week), {"manifest_sha256": sha256(content)})
            log.warning(
                "weekly report %s holds, but nobody can be told of it: it has no %s, and its week "
                "computed now is written otherwise (by another version, or other rows or settings)."
                " It stays as it is; %s",
                *(folder, JSON_FILE, _MOVE),
            )
            return
        notice = notice_of(json.loads(said), sha256(content), manifest.previous)
        put(self.schedule.notice(week), notice)
        late = self.schedule.due(self.clock.now()).weeks_since(week)
        built_late = f", late by {late} week{'' if late == 1 else 's'}" if late else ""
        log.info("weekly report %s: %s%s", folder, notice["judgement"], built_late)

    def _said(self, reader: WeekReader, asked: Asked, folder: Path) -> bytes | None:
        """Return the JSON of a report that is there, only if it holds and is of that week.

        One that was written without it is computed again in the formats it has. ``None`` if that
        gives other bytes: what it says is then known of its page or tables alone.
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
        formats = sorted({Format(name.rpartition(".")[2]) for name in listed})
        again = {name: sha256(content) for name, content in files_of(report, formats).items()}
        return json_of(report) if again == listed else None

    async def _tell(self, week: Week) -> None:
        """Tell of a report once. A receiver that fails is tried again, one that refuses is not."""
        told, notice = self.schedule.told(week), self.schedule.notice(week)
        if self.receiver is None or told.exists() or not notice.exists():
            return
        if not self.schedule.is_to_be_told(week, self.clock.now()):
            return
        body = notice.read_bytes()
        answer = await self.receiver.send(body)
        if answer.outcome is PageOutcome.FAILED:
            self.counters.count(ReportFailure.WEBHOOK_FAILED)
            log.warning(
                "nobody was told of the weekly report %s: %s; tried again in %.0f s",
                *(week.label, answer.problem, LOOK_SECONDS),
            )
            return
        if answer.outcome is PageOutcome.REJECTED:
            self.counters.count(ReportFailure.WEBHOOK_REJECTED)
            log.error(
                "%s refuses to be told of the weekly report %s: %s",
                *(self.receiver.name, week.label, answer.problem),
            )
        put(told, {"outcome": answer.outcome.value, "sent_sha256": sha256(body)})


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


def _kind_of(error: Exception) -> ReportFailure:
    match error:
        case StoreError():
            return ReportFailure.STORE
        case ConfigError():
            return ReportFailure.CONFIG
        case _:
            return ReportFailure.FILES


def reader_of(store: Store) -> Callable[[], WeekReader]:
    """Return what opens the rows of a store to read them. It raises ``StoreError``."""
    return lambda: WeekReader(connect(store.location, read_only=True))


def _say_crashed(task: asyncio.Task[None], counters: ReportCounters) -> None:
    """Say of what it ended: probing goes on without reports, but never silently."""
    if not task.cancelled() and (error := task.exception()) is not None:
        counters.count(ReportFailure.CRASHED)
        log.error("weekly reports have ended until the next start: %s", crash_words(error))


@contextlib.asynccontextmanager
async def reporting(
    config: Config, store: Store, clock: Clock, metrics: CollectorRegistry
) -> AsyncIterator[None]:
    """Build weekly reports meanwhile, if the configuration wants any.

    Raises ``ConfigError`` for a secret of the webhook that is missing.
    """
    schedule = ReportSchedule.of(config)
    if schedule is None:
        yield
        return
    webhook = schedule.reports.webhook
    receiver = webhook_of(webhook, clock) if webhook is not None else None
    counters = ReportCounters(metrics, config.environment, schedule, clock)
    reporter = Reporter(
        config=config,
        schedule=schedule,
        open_reader=reader_of(store),
        key=store.key,
        clock=clock,
        counters=counters,
        receiver=receiver,
    )
    running = asyncio.create_task(reporter.run())
    running.add_done_callback(lambda task: _say_crashed(task, counters))
    try:
        yield
    finally:
        running.cancel()
        await asyncio.wait({running})
        if receiver is not None:
            await receiver.aclose()
