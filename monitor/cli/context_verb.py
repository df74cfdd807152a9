"""``davylamp context``: up to which size a target reads its prompts whole."""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated

import typer

from monitor.app import open_installation
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption, JsonOption, write_text
from monitor.clock import SystemClock
from monitor.config import Config
from monitor.configured import read_config
from monitor.context import Asked, LadderStep, OnLadderStep, verify_context
from monitor.daemon.client import verify_through_daemon
from monitor.logs import set_up_logs
from monitor.reports.ladder import LadderReport, render_ladder
from monitor.reports.terminal import printable
from monitor.store.lock import owner_of

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.callback()
def context() -> None:
    """Up to which size a target reads its prompts whole."""


@app.command()
def verify(
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="The target's name in the configuration.")
    ],
    config: ConfigOption = DEFAULT_CONFIG,
    resolution: Annotated[
        float, typer.Option(min=0.0001, max=0.5, help="How fine, as a share of the size.")
    ] = 0.01,
    repeats: Annotated[
        int,
        typer.Option(
            min=1,
            max=100,
            help="Ask each size so often: 5 times show a fault of 50 % with 95 %, 29 one of 10 %.",
        ),
    ] = 1,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="Charge at most so many tokens.")
    ] = None,
    thorough: Annotated[
        bool,
        typer.Option(
            "--thorough",
            help="Ask likely sizes below a verified one, too, and nothing from a cache.",
        ),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Climb although the budget may not suffice.")
    ] = False,
    json: JsonOption = None,
) -> int:
    """Find the largest prompt size at which content is verified, and draw the ladder.

    Exit 0 verified up to what the limit leaves, 1 shortened, replaced or refused below it or a
    leak, 2 usage or configuration, 3 could not tell.
    """
    settings = read_config(str(config))
    set_up_logs(settings.log.level, settings.log.format)
    asked = Asked(
        target=target,
        resolution=resolution,
        repeats=repeats,
        max_tokens=max_tokens,
        thorough=thorough,
        yes=yes,
    )
    report = _verify(settings, asked, _show if json != "-" else _show_nothing)
    if json:
        write_text(json, report.model_dump_json(by_alias=True, indent=2))
    if json != "-":
        for line in render_ladder(report):
            typer.echo(line)
    return report.exit_code


def _verify(config: Config, asked: Asked, on_step: OnLadderStep) -> LadderReport:
    """Climb by the daemon that owns the store if there is one, else here."""
    owner = owner_of(config.storage_path)
    if owner is not None and owner.url is not None:
        return verify_through_daemon(config, owner, asked, on_step)
    return asyncio.run(_verify_alone(config, asked, on_step))


async def _verify_alone(config: Config, asked: Asked, on_step: OnLadderStep) -> LadderReport:
    installation = open_installation(config, SystemClock())
    try:
        return await verify_context(installation, asked, on_step)
    finally:
        await installation.aclose()


def _show(step: LadderStep) -> None:
    sys.stderr.write(printable(f"{step.target} {step.words}") + "\n")
    sys.stderr.flush()


def _show_nothing(step: LadderStep) -> None:
    """Say nothing: the JSON on stdout is all that was asked for."""
