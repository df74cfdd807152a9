"""``davylamp db backup``: every table into one folder, and whether a backup is whole."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.filesize import decimal

from monitor.app import store_of
from monitor.canaries import InstallationKey
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption, has_folder
from monitor.cli.transfer import show_bytes, show_rows
from monitor.clock import SystemClock
from monitor.config import Config
from monitor.configured import read_config
from monitor.daemon.backups import BackUp, own_backup
from monitor.daemon.client import back_up_through_daemon
from monitor.errors import UnsureError, UsageError
from monitor.store import owner_of
from monitor.store.backup import OnRows, move_backup, refuse_filled_folder
from monitor.store.manifest import KEY_COPY, Manifest, flaws_of, read_manifest
from monitor.store.store import KEY_FILE

BROKEN_EXIT = 1

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("backup")
def backup(
    out: Annotated[
        str | None,
        typer.Option(callback=has_folder, help="The folder to write: a new or an empty one."),
    ] = None,
    verify: Annotated[
        Path | None, typer.Option(help="Write nothing; read this backup and say if it is whole.")
    ] = None,
    without_bodies: Annotated[
        bool, typer.Option("--without-bodies", help="Leave sealed prompts and answers out.")
    ] = False,
    with_key: Annotated[
        bool, typer.Option("--with-key", help="Put the installation key in; then guard it so.")
    ] = False,
    config: ConfigOption = DEFAULT_CONFIG,
) -> None:
    """Write every table, with a manifest, into a folder; or verify one that was written.

    A daemon that runs goes on meanwhile.

    With --verify every file is compared with the manifest, and the manifest's seal under the
    installation key: of storage.path, or the copy in the backup.

    Exit 0 written or whole, 1 with --verify something is changed or missing, 2 it cannot be
    written or is no backup, 3 with --verify nothing is wrong but no key is at hand for the seal.
    """
    if (out is None) == (verify is None):
        msg = "give either --out, to take a backup, or --verify, to look at one"
        raise UsageError(msg)
    if verify is not None:
        _verify(verify, _storage_path(config))
        return
    settings = read_config(str(config))
    with show_rows(sys.stderr) as told:
        manifest = _taken(settings, Path(out or ""), told, bodies=not without_bodies, key=with_key)
    typer.echo("\n".join(_lines(manifest, Path(out or ""), settings.storage_path / KEY_FILE)))


def _taken(config: Config, folder: Path, on_rows: OnRows, *, bodies: bool, key: bool) -> Manifest:
    refuse_filled_folder(folder)
    _refuse_inside(config.storage_path, folder)
    owner = owner_of(config.storage_path)
    asked = BackUp(bodies=bodies, key=key, actor=getpass.getuser())
    if owner is not None and owner.url is not None:
        move_backup(back_up_through_daemon(config, owner, asked, on_rows), folder)
        return read_manifest(folder)
    with store_of(config) as store:
        return own_backup(store, config, asked, folder, SystemClock(), on_rows)


def _refuse_inside(storage: Path, folder: Path) -> None:
    if folder.resolve().is_relative_to(storage.resolve()):
        msg = (
            f"{folder}: lies in storage.path ({storage}): what loses the store loses such a backup "
            "too, and db forget does not reach it; give a folder elsewhere, best on another disk"
        )
        raise UsageError(msg)


def _lines(manifest: Manifest, folder: Path, key_file: Path) -> Iterator[str]:
    yield _summary(manifest, folder)
    if manifest.with_key:
        yield (
            "the installation key is in it: whoever can read the folder can read live markers and "
            "sign calibrations; guard it like a key"
        )
    else:
        yield (
            f"the installation key is not in it: keep a copy of {key_file} elsewhere. Without it "
            "a restored store cannot read live markers or calibrations, and hashes of its evidence "
            "are equal to none of later times"
        )


def _summary(manifest: Manifest, folder: Path) -> str:
    head = manifest.audit
    chain = f"audit chain at link {head.seq}, {head.hash}" if head else "no audit chain"
    left = f"; without {', '.join(manifest.left_out)}" if manifest.left_out else ""
    return (
        f"{folder}: {len(manifest.tables)} tables, {manifest.rows:,} rows, "
        f"{decimal(manifest.bytes)}, of {manifest.made_at:%Y-%m-%d %H:%M:%S} UTC{left}; {chain}"
    )


def _storage_path(config: Path) -> Path | None:
    """Return where the key is looked for; a backup may lie where nothing is configured."""
    if config == DEFAULT_CONFIG and not config.exists():
        return None
    return read_config(str(config)).storage_path


def _verify(folder: Path, storage: Path | None) -> None:
    manifest = read_manifest(folder)
    with show_bytes(sys.stderr) as told:
        flaws = flaws_of(folder, manifest, told)
    key = None
    if not flaws:
        key = _key_of(manifest, folder, storage)
        if manifest.with_key and key is None:
            flaws = [f"{KEY_COPY} is not the key it was taken under"]
        elif key is not None and not manifest.is_sealed_by(key):
            flaws = ["the manifest was changed: its seal is broken"]
    for flaw in flaws:
        typer.echo(f"{folder}: {flaw}")
    if flaws:
        raise typer.Exit(BROKEN_EXIT)
    typer.echo(_summary(manifest, folder))
    typer.echo("every file is as the manifest says")
    if key is None:
        where = f"{storage / KEY_FILE} is not that key" if storage else "nothing is configured here"
        msg = (
            f"{folder}: the manifest itself may have been changed: its seal was not compared, "
            f"because that takes the key of installation {manifest.installation} ({where}; put it "
            "into storage.path, or name the configuration of that installation with --config)"
        )
        raise UnsureError(msg)
    typer.echo("the seal of the manifest holds")


def _key_of(manifest: Manifest, folder: Path, storage: Path | None) -> InstallationKey | None:
    """Return the key a backup was taken under, if it is at hand."""
    files = [storage / KEY_FILE] if storage else []
    files += [folder / KEY_COPY] if manifest.with_key else []
    keys = [InstallationKey.load_or_create(file) for file in files if file.is_file()]
    return next((key for key in keys if key.fingerprint == manifest.installation), None)
