"""Reporters on a real store, with a clock moved by hand and a webhook of our own."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry

from monitor.config import Config
from monitor.daemon.reportcounts import ReportCounters
from monitor.daemon.reporting import Reporter, reader_of
from monitor.paging.receivers import webhook_of
from monitor.store import Store
from monitor.weekly.schedule import ReportSchedule
from tests.fakes.events_v2 import Endpoint
from tests.unit.daemon.installed import ManualClock, config_of

TOKEN, SECRET = "report-token-71aa", "report-secret-02bd"


def settings(base: Path, endpoint: Endpoint | None, **more: Any) -> Config:
    (base / "reports").mkdir(exist_ok=True)
    (base / "token").write_text(TOKEN, encoding="ascii")
    (base / "secret").write_text(SECRET, encoding="ascii")
    said: dict[str, Any] = {"folder": "reports", "formats": ["json"], **more}
    if endpoint is not None:
        said["webhook"] = {
            "name": "filed",
            "url": f"{endpoint.url}/report",
            "token_file": "token",
            "secret_file": "secret",
        }
    return config_of(base, reports=said)


def reporter(
    config: Config, store: Store, clock: ManualClock, registry: CollectorRegistry | None = None
) -> Reporter:
    schedule = ReportSchedule.of(config)
    assert schedule is not None
    webhook = schedule.reports.webhook
    receiver = webhook_of(webhook, clock) if webhook is not None else None
    metrics = CollectorRegistry() if registry is None else registry
    return Reporter(
        config=config,
        schedule=schedule,
        open_reader=reader_of(store),
        key=store.key,
        clock=clock,
        counters=ReportCounters(metrics, "test", schedule, clock),
        receiver=receiver,
    )


def look(of: Reporter) -> None:
    async def once() -> None:
        await of.look()
        if of.receiver is not None:
            await of.receiver.aclose()

    asyncio.run(once())


def reports_in(folder: Path) -> list[str]:
    return sorted(each.name for each in (folder / "reports").iterdir() if each.is_dir())
