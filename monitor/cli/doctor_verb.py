"""``davylamp doctor``."""

from __future__ import annotations

import asyncio

import typer

from monitor.cli.config_verb import tell
from monitor.cli.doctor import doctor as examine
from monitor.cli.doctor_line import Surroundings
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption, JsonOption
from monitor.clock import SystemClock
from monitor.configured import read_config

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def doctor(config: ConfigOption = DEFAULT_CONFIG, json: JsonOption = None) -> int:
    """Look at DNS, TLS, keys, clock, store, checks, nodes, metrics; each line says what to do."""
    around = Surroundings(config=read_config(str(config)), clock=SystemClock())
    return tell(asyncio.run(examine(around)), json)
