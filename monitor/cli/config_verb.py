"""``davylamp config check|show``."""

from __future__ import annotations

import json as json_format

import typer

from monitor.cli.config_commands import Report, config_check, config_show
from monitor.cli.estimate import day_estimate
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption, JsonOption, write_text
from monitor.clock import SystemClock
from monitor.configured import read_config
from monitor.slo import own_sources

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Check or show what is in force.",
)


@app.command()
def check(config: ConfigOption = DEFAULT_CONFIG, json: JsonOption = None) -> int:
    """Say whether the file is well, what a day costs, and what it cannot prove.

    The files of a folder of objectives are read too.
    """
    settings = read_config(str(config))
    objectives = own_sources(settings)
    today = SystemClock().now().date()
    return tell(
        config_check(settings, today=today, estimate=day_estimate, objectives=objectives), json
    )


@app.command()
def show(config: ConfigOption = DEFAULT_CONFIG, json: JsonOption = None) -> int:
    """Print everything in force, defaults included; secrets are named, not shown."""
    return tell(config_show(read_config(str(config))), json)


def tell(report: Report, json: str | None) -> int:
    """Print a command's report, write its data if asked, and return its exit code."""
    if json:
        write_text(json, json_format.dumps(report.data, indent=2, default=str))
    if json != "-":
        typer.echo(report.text.rstrip("\n"))
    return report.exit_code
