"""``davylamp evidence public-key``: what verifies the certificates of this installation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from monitor.canaries import InstallationKey
from monitor.certificate.keys import Signer
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption, has_folder, write_text
from monitor.configured import read_config
from monitor.errors import UsageError
from monitor.store.store import KEY_FILE

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("public-key")
def public_key(
    out: Annotated[
        str, typer.Option(callback=has_folder, help="The file to write; - is stdout.")
    ] = "-",
    config: ConfigOption = DEFAULT_CONFIG,
) -> None:
    """Write the public key in PEM, and its fingerprint to stderr. Also beside a daemon.

    Give it away before anything happens: a key that comes with a certificate proves nothing.
    Nothing is made by asking. Exit 0 written, 2 usage, or there is no installation yet, or its
    key is gone.
    """
    storage = read_config(str(config)).storage_path
    file = storage / KEY_FILE
    # A store whose key is gone is no new one: that is for ``load`` to say.
    if _is_new(storage):
        raise UsageError(f"{file}: there is no installation key yet (davylamp check makes one)")
    public = Signer(InstallationKey.load(file)).public
    write_text(out, public.pem().removesuffix("\n"))
    typer.echo(f"fingerprint {public.fingerprint}", err=True)


def _is_new(storage: Path) -> bool:
    try:
        return not any(storage.iterdir())
    except OSError as error:
        return isinstance(error, FileNotFoundError)
