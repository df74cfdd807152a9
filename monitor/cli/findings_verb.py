"""``davylamp findings``: what was found, its history, and what people decide about it."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Annotated

import typer

from monitor.cli.desk import open_desk
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption
from monitor.daemon.desk import Decision

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="List, show, confirm, dismiss and resolve findings.",
)
Why = Annotated[str, typer.Option(help="Why; kept with the finding.")]
Who = Annotated[str | None, typer.Option(help="Who says so. Default: your login.")]


@app.command("list")
def list_findings(
    every: Annotated[
        bool, typer.Option("--all", help="Closed ones too, the newest first.")
    ] = False,
    config: ConfigOption = DEFAULT_CONFIG,
) -> None:
    """Print every open finding, worst first."""
    with open_desk(config) as desk:
        typer.echo("\n".join(desk.findings(closed=every)))


@app.command()
def show(finding: str, config: ConfigOption = DEFAULT_CONFIG) -> None:
    """Print one finding, open or closed: its trials, and what changed about it when and by whom."""
    with open_desk(config) as desk:
        typer.echo("\n".join(desk.finding(finding)))


@app.command()
def confirm(finding: str, why: Why, who: Who = None, config: ConfigOption = DEFAULT_CONFIG) -> None:
    """Say that a finding in review is real."""
    _decide(config, Decision.CONFIRM, finding, who, why)


@app.command()
def dismiss(finding: str, why: Why, who: Who = None, config: ConfigOption = DEFAULT_CONFIG) -> None:
    """Close a finding as no fault. Its evidence is held no longer."""
    _decide(config, Decision.DISMISS, finding, who, why)


@app.command()
def resolve(finding: str, why: Why, who: Who = None, config: ConfigOption = DEFAULT_CONFIG) -> None:
    """Close a finding as mended. Its shape is probed again, its evidence held no longer."""
    _decide(config, Decision.RESOLVE, finding, who, why)


def _decide(config: Path, decision: Decision, finding: str, who: str | None, why: str) -> None:
    with open_desk(config) as desk:
        typer.echo("\n".join(desk.decide(decision, finding, who or getpass.getuser(), why)))
