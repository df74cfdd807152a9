"""``davylamp probe now``: after a deploy, the limits first."""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated

import typer

from monitor.app import open_installation
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption, JsonOption, write_text
from monitor.cli.progress import Shown, show_progress
from monitor.clock import SystemClock
from monitor.config import Config
from monitor.configured import read_config
from monitor.conventions import ChangeKind
from monitor.daemon.changes import Changes
from monitor.daemon.client import probe_through_daemon
from monitor.daemon.probing import ProbeNow, probe_now
from monitor.daemon.record import ScheduleRecord
from monitor.logs import set_up_logs
from monitor.reports.check import CheckReport
from monitor.reports.terminal import render
from monitor.store.lock import owner_of

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)


@app.callback()
def probe() -> None:
    """Ask a target at once."""


@app.command()
def now(
    target: Annotated[str, typer.Argument(help="The target's name.")],
    config: ConfigOption = DEFAULT_CONFIG,
    probe: Annotated[list[str] | None, typer.Option(help="Only this probe; repeatable.")] = None,
    reason: Annotated[
        ChangeKind, typer.Option(help="What happened to the target.")
    ] = ChangeKind.DEPLOY,
    json: JsonOption = None,
) -> int:
    """Run a quick pass with the limits first, then let the daemon ask more often for 24 hours.

    The day's budgets hold. Exit 0 good, 1 something bad, 2 usage or configuration, 3 nothing bad
    but something could not be told.
    """
    settings = read_config(str(config))
    set_up_logs(settings.log.level, settings.log.format)
    asked = ProbeNow(target=target, probes=tuple(probe or ()), reason=reason)
    with show_progress(sys.stderr, quiet=json == "-") as shown:
        report = _ask(settings, asked, shown)
    if json:
        write_text(json, report.model_dump_json(by_alias=True, indent=2))
    if json != "-":
        for line in render(report):
            typer.echo(line)
    return report.exit_code


def _ask(config: Config, asked: ProbeNow, shown: Shown) -> CheckReport:
    owner = owner_of(config.storage_path)
    if owner is not None and owner.url is not None:
        return probe_through_daemon(config, owner, asked, shown.words)
    return asyncio.run(_ask_alone(config, asked, shown))


async def _ask_alone(config: Config, asked: ProbeNow, shown: Shown) -> CheckReport:
    clock = SystemClock()
    installation = open_installation(config, clock, nodes=True)
    try:
        record = ScheduleRecord(installation.store, installation.counters, clock)
        changes = Changes(record, clock.now())
        return await probe_now(installation, changes, asked, shown.step)
    finally:
        await installation.aclose()
