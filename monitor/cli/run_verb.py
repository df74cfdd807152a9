"""``davylamp run``: the daemon."""

from __future__ import annotations

import asyncio

import typer

from monitor.cli.options import DEFAULT_CONFIG, ConfigOption
from monitor.clock import SystemClock
from monitor.configured import read_config
from monitor.daemon.run import run_daemon
from monitor.logs import set_up_logs

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def run(config: ConfigOption = DEFAULT_CONFIG) -> None:
    """Probe on a schedule and serve /metrics, /healthz and /readyz until SIGTERM."""
    settings = read_config(str(config))
    set_up_logs(settings.log.level, settings.log.format)
    asyncio.run(run_daemon(settings, SystemClock()))
