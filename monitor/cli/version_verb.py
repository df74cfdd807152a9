"""``davylamp version``."""

from __future__ import annotations

import platform

import typer

from monitor import __version__
from monitor.checks import CHECKS_VERSION
from monitor.reports.check import SCHEMA_VERSION

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def version() -> None:
    """Print the versions of the command, its checks and its JSON contract."""
    typer.echo(
        f"davylamp {__version__} (checks {CHECKS_VERSION}, check JSON {SCHEMA_VERSION}, "
        f"Python {platform.python_version()})"
    )
