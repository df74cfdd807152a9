"""Options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ConfigOption = Annotated[
    Path, typer.Option("--config", "-c", help="The configuration file.", show_default=True)
]
JsonOption = Annotated[
    str | None, typer.Option("--json", help="Write the result as JSON to this file; - is stdout.")
]
DEFAULT_CONFIG = Path("davylamp.yaml")


def write_text(where: str, text: str) -> None:
    """Write to a file, or to stdout for ``-``."""
    if where == "-":
        typer.echo(text)
    else:
        Path(where).write_text(text + "\n", encoding="utf-8")
