"""``davylamp explain TRIAL``: everything known of one trial, from the store, redacted."""

from __future__ import annotations

import typer

from monitor.cli.desk import open_desk
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def explain(trial: str, config: ConfigOption = DEFAULT_CONFIG) -> None:
    """Print a trial's exchanges, signals and verdict. No prompt or answer is shown."""
    with open_desk(config) as desk:
        lines = desk.explain(trial)
    typer.echo("\n".join(lines))
