"""``davylamp findings list|show|resolve``: what is open, and closing it as a person."""

from __future__ import annotations

import getpass
from typing import Annotated

import typer

from monitor.cli.desk import open_desk
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="List, show and resolve findings.",
)


@app.command("list")
def list_open(config: ConfigOption = DEFAULT_CONFIG) -> None:
    """Print every open finding, worst first."""
    with open_desk(config) as desk:
        typer.echo("\n".join(desk.findings()))


@app.command()
def show(finding: str, config: ConfigOption = DEFAULT_CONFIG) -> None:
    """Print one finding and its trials."""
    with open_desk(config) as desk:
        typer.echo("\n".join(desk.finding(finding)))


@app.command()
def resolve(
    finding: str,
    why: Annotated[str, typer.Option(help="Why it is over; kept with the finding.")],
    who: Annotated[str | None, typer.Option(help="Who says so. Default: your login.")] = None,
    config: ConfigOption = DEFAULT_CONFIG,
) -> None:
    """Close a finding as mended. Its shape is probed again from now on."""
    with open_desk(config) as desk:
        typer.echo("\n".join(desk.resolve(finding, who or getpass.getuser(), why)))
