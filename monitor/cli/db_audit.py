"""``davylamp db audit``: verify the chain of who did what, and print its head."""

from __future__ import annotations

from typing import Annotated

import typer

from monitor.cli.desk import open_desk
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption, JsonOption, is_head, write_text
from monitor.reports.audit import audit_lines

_MOST_SHOWN = 1_000

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("audit")
def audit(
    head: Annotated[
        str | None,
        typer.Option(callback=is_head, help="A head seen earlier: the chain must hold it."),
    ] = None,
    last: Annotated[
        int, typer.Option(min=0, max=_MOST_SHOWN, help="Show so many of the newest links.")
    ] = 0,
    json: JsonOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
) -> int:
    """Walk over the audit chain and say what was changed, removed or put in, if anything was.

    Keep the head it prints somewhere else: with --head a later run also finds what was cut off the
    end. Exit 0 whole, 1 broken, 2 usage, 3 could not tell: nothing is recorded, an erasure has no
    end, or the chain cannot be read.
    """
    with open_desk(config) as desk:
        report = desk.audit(head, last)
    if json:
        write_text(json, report.model_dump_json(indent=2))
    if json != "-":
        typer.echo("\n".join(audit_lines(report)))
    return report.exit_code
