"""``davylamp evidence public-key``: what verifies the certificates of this installation."""

from __future__ import annotations

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
    Exit 0 written, 2 usage, or there is no installation yet.
    """
    file = read_config(str(config)).storage_path / KEY_FILE
    if not file.exists():
        raise UsageError(f"{file}: there is no installation key yet (davylamp check makes one)")
    public = Signer(InstallationKey.load_or_create(file)).public
    write_text(out, public.pem().removesuffix("\n"))
    typer.echo(f"fingerprint {public.fingerprint}", err=True)
