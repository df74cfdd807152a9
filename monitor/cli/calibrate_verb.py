"""``davylamp calibrate``: record what a healthy target does, to hold later answers to it."""

from __future__ import annotations

import asyncio
import getpass
import sys
from typing import Annotated

import typer

from monitor.app import open_installation
from monitor.calibrating import (
    LEAST_SAMPLES,
    MOST_SAMPLES,
    SAMPLES,
    Calibrate,
    CalibrationStep,
    OnCalibrationStep,
    calibrate,
)
from monitor.cli.calibrations import calibrations_of
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption, JsonOption, write_text
from monitor.cli.progress import Shown, show_progress
from monitor.clock import SystemClock
from monitor.config import Config
from monitor.configured import read_config, selected
from monitor.daemon.client import calibrate_through_daemon
from monitor.logs import set_up_logs
from monitor.reports.calibration import CalibrationReport, render_calibration
from monitor.reports.terminal import printable
from monitor.store import owner_of

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(name="calibrate")
def calibrate_target(
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="The target's name in the configuration.")
    ],
    config: ConfigOption = DEFAULT_CONFIG,
    samples: Annotated[
        int,
        typer.Option(
            min=LEAST_SAMPLES, max=MOST_SAMPLES, help="Ask each golden prompt so many times."
        ),
    ] = SAMPLES,
    by: Annotated[str | None, typer.Option(help="Who does it. Default: your login.")] = None,
    reason: Annotated[str, typer.Option(help="Why; kept and signed with the record.")] = "",
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace a calibration that is valid; needs --reason.")
    ] = False,
    show: Annotated[
        bool, typer.Option("--show", help="Ask nothing: say how the calibration stands.")
    ] = False,
    json: JsonOption = None,
) -> int:
    """Ask a healthy target many times, and keep a signed record of what it does.

    The price is said first and comes from the day's budgets. Nothing is stored before the end, and
    nothing at all if the target is not healthy. Exit 0 stored (or shown), 1 not healthy, or most
    golden prompts missed, 2 usage or configuration, 3 could not tell: errors, or the budget.
    """
    settings = read_config(str(config))
    set_up_logs(settings.log.level, settings.log.format)
    if show:
        report = _shown(settings, target)
    else:
        asked = Calibrate(
            target=target,
            who=by or getpass.getuser(),
            samples=samples,
            reason=reason,
            replace=replace,
        )
        with show_progress(sys.stderr, quiet=json == "-") as shown:
            report = _calibrate(settings, asked, shown, quiet=json == "-")
    if json:
        write_text(json, report.model_dump_json(by_alias=True, indent=2))
    if json != "-":
        for line in render_calibration(report):
            typer.echo(line)
    return report.exit_code


def _shown(config: Config, target: str) -> CalibrationReport:
    targets = selected(config, (target,))
    return calibrations_of(config, targets, SystemClock())[target]


def _calibrate(config: Config, asked: Calibrate, shown: Shown, *, quiet: bool) -> CalibrationReport:
    """Calibrate by the daemon that owns the store if there is one, else here."""

    def on_words(target: str, words: str, done: int, total: int) -> None:
        if done == 0 and not quiet:
            # The price, before the bar: it stays to be read.
            sys.stderr.write(printable(f"{target} {words}") + "\n")
            sys.stderr.flush()
        elif done:
            shown.words(target, words, done, total)

    owner = owner_of(config.storage_path)
    if owner is not None and owner.url is not None:
        return calibrate_through_daemon(config, owner, asked, on_words)

    def on_step(step: CalibrationStep) -> None:
        on_words(step.target, step.words, step.done, step.total)

    return asyncio.run(_calibrate_alone(config, asked, on_step))


async def _calibrate_alone(
    config: Config, asked: Calibrate, on_step: OnCalibrationStep
) -> CalibrationReport:
    installation = open_installation(config, SystemClock())
    try:
        return await calibrate(installation, asked, on_step)
    finally:
        await installation.aclose()
