"""``davylamp evidence verify``: whether a certificate holds, without configuration or store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from monitor.certificate.keys import MOST_PEM_BYTES, PublicKey
from monitor.certificate.verifying import MOST_BYTES, verify
from monitor.cli.options import HeadOption
from monitor.errors import UsageError
from monitor.reports.certificate import verified_exit, verified_lines

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("verify")
def verify_file(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A certificate.")],
    public_key: Annotated[
        Path, typer.Option(help="The installation's public key in PEM, had from its owner.")
    ],
    head: HeadOption = None,
    require_inclusion: Annotated[
        bool, typer.Option("--require-inclusion", help="Exit 3 if no head is given.")
    ] = False,
) -> int:
    """Say whether a certificate holds, offline, and what it shows.

    With --head, a head of the audit chain that was seen elsewhere, it also says whether every
    marker was minted before. Exit 0 it holds, 1 it does not, 2 usage, 3 no head was given and
    --require-inclusion was.
    """
    key = PublicKey.of_pem(_start_of(public_key, MOST_PEM_BYTES), str(public_key))
    verified = verify(_start_of(file, MOST_BYTES), key, head)
    typer.echo("\n".join(verified_lines(verified)))
    return verified_exit(verified, require_inclusion=require_inclusion)


def _start_of(file: Path, most: int) -> bytes:
    """Return a file, or a little more than ``most`` of it. Raises ``UsageError``."""
    try:
        with file.open("rb") as opened:
            return opened.read(most + 1)
    except OSError as error:
        msg = f"{file} cannot be read: {(error.strerror or 'unknown reason').lower()}"
        raise UsageError(msg) from None
