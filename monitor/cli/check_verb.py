"""``davylamp check``: one pass now, through the daemon if it runs, else by itself."""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated

import typer

from monitor.app import open_installation
from monitor.checking import Selection, run_check
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption, JsonOption, has_folder, write_text
from monitor.cli.progress import Shown, show_progress
from monitor.clock import SystemClock
from monitor.config import Config
from monitor.configured import read_config
from monitor.daemon.checked import check_through_daemon
from monitor.logs import set_up_logs
from monitor.reports.check import CheckReport
from monitor.reports.junit import junit_xml
from monitor.reports.terminal import render
from monitor.store.lock import owner_of

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def check(
    config: ConfigOption = DEFAULT_CONFIG,
    target: Annotated[list[str] | None, typer.Option(help="Only this target; repeatable.")] = None,
    probe: Annotated[list[str] | None, typer.Option(help="Only this probe; repeatable.")] = None,
    profile: Annotated[
        str | None, typer.Option(help="quick, standard or deep, instead of the configured probes.")
    ] = None,
    require_coverage: Annotated[
        bool, typer.Option("--require-coverage", help="Exit 3 if any stratum was not probed.")
    ] = False,
    json: JsonOption = None,
    junit: Annotated[
        str | None, typer.Option(callback=has_folder, help="Write JUnit XML to this file.")
    ] = None,
) -> int:
    """Ask every selected target, judge the answers, and say what was found.

    Exit 0 good, 1 something bad, 2 usage or configuration, 3 nothing bad but something could
    not be told.
    """
    settings = read_config(str(config))
    set_up_logs(settings.log.level, settings.log.format)
    selection = Selection(
        targets=tuple(target or ()),
        probes=tuple(probe or ()),
        profile=profile,
        require_coverage=require_coverage,
    )
    report = check_now(settings, selection, quiet=json == "-")
    if report.configuration_hash != settings.hash:
        typer.echo(
            f"the daemon runs configuration {report.configuration_hash}, {config} is now "
            f"{settings.hash}: restart the daemon to use it",
            err=True,
        )
    if json != "-":
        for line in render(report):
            typer.echo(line)
    if json:
        write_text(json, report.model_dump_json(by_alias=True, indent=2))
    if junit:
        write_text(junit, junit_xml(report))
    return report.exit_code


def check_now(config: Config, selection: Selection, *, quiet: bool) -> CheckReport:
    """Return the report of one pass, by the daemon that owns the store if there is one.

    Raises ``StoreBusyError`` if another process owns it and does not answer.
    """
    with show_progress(sys.stderr, quiet=quiet) as shown:
        owner = owner_of(config.storage_path)
        if owner is not None and owner.url is not None:
            return check_through_daemon(config, owner, selection, shown.words)
        return asyncio.run(_check_alone(config, selection, shown))


async def _check_alone(config: Config, selection: Selection, shown: Shown) -> CheckReport:
    installation = open_installation(config, SystemClock(), nodes=True)
    try:
        return await run_check(installation, selection, shown.step)
    finally:
        await installation.aclose()
