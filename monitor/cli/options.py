"""Options that several verbs share."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from monitor.errors import UsageError


def has_folder(where: str | None) -> str | None:
    """Return it, or refuse it before anything is sent: a file whose folder is not there."""
    if where and where != "-" and not Path(where).parent.is_dir():
        msg = f"{Path(where).parent}: no such folder"
        raise typer.BadParameter(msg)
    return where


_HASH = re.compile(r"[0-9a-f]{64}")


def is_head(text: str | None) -> str | None:
    """Return a head of the audit chain, or refuse what is no hash."""
    if text is not None and not _HASH.fullmatch(text.strip().lower()):
        msg = "a head is 64 hex digits, as db audit and the log print it"
        raise typer.BadParameter(msg)
    return text.strip().lower() if text is not None else None


ConfigOption = Annotated[
    Path, typer.Option("--config", "-c", help="The configuration file.", show_default=True)
]
JsonOption = Annotated[
    str | None,
    typer.Option(
        "--json", callback=has_folder, help="Write the result as JSON to this file; - is stdout."
    ),
]
HeadOption = Annotated[
    str | None,
    typer.Option(callback=is_head, help="A head of the audit chain that was seen elsewhere."),
]
DEFAULT_CONFIG = Path("davylamp.yaml")


def write_text(where: str, text: str) -> None:
    """Write to a file, or to stdout for ``-``. Raises ``UsageError`` if it cannot be written."""
    if where == "-":
        typer.echo(text)
        return
    try:
        Path(where).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        msg = f"{where} cannot be written: {reason}"
        raise UsageError(msg) from None
