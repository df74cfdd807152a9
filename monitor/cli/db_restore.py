"""``davylamp db restore``: an empty store filled from a backup."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.filesize import decimal

from monitor.cli.options import DEFAULT_CONFIG, ConfigOption
from monitor.cli.transfer import show_bytes, show_rows
from monitor.clock import SystemClock
from monitor.config import Config, resolve_secret
from monitor.configured import read_config
from monitor.logs import set_up_logs
from monitor.store.manifest import Manifest
from monitor.store.migrate import shipped
from monitor.store.restore import Order, Place, Restored, restore, whole_backup
from monitor.store.store import located

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("restore")
def restore_backup(
    folder: Annotated[Path, typer.Argument(help="The folder that `db backup` wrote.")],
    without_key: Annotated[
        bool,
        typer.Option(
            "--without-key",
            help="Do without the key it was taken under: live markers and calibrations are lost.",
        ),
    ] = False,
    config: ConfigOption = DEFAULT_CONFIG,
) -> None:
    """Fill an empty store from a backup, once every file of it was found to be whole.

    Broken off, it is run again: until it came to its end, nothing else opens the store. Exit 0
    restored, 2 the backup, the store or the key is not what it must be.
    """
    settings = read_config(str(config))
    # What was done is printed below.
    set_up_logs("error", settings.log.format)
    with show_bytes(sys.stderr) as on_bytes:
        manifest = whole_backup(folder, lambda what, *size: on_bytes(f"verifying {what}", *size))
    order = Order(actor=getpass.getuser(), at=SystemClock().now(), without_key=without_key)
    with show_rows(sys.stderr) as on_rows:
        done = restore(_place(settings), folder, manifest, order, on_rows)
    typer.echo("\n".join(_lines(settings, manifest, done)))


def _place(config: Config) -> Place:
    storage = config.storage
    password = resolve_secret(storage.password) if storage.password else ""
    path = config.storage_path
    location = located(path, storage.url, password=password, cluster=storage.cluster)
    return Place(path=path, location=location, retention=storage.retention)


def _lines(config: Config, manifest: Manifest, done: Restored) -> Iterator[str]:
    where = config.storage.url or config.storage_path
    yield (
        f"{where}: {len(manifest.tables)} tables, {manifest.rows:,} rows, "
        f"{decimal(manifest.bytes)}, as they were on {manifest.made_at:%Y-%m-%d %H:%M:%S} UTC"
    )
    if manifest.left_out:
        yield f"not in the backup: {', '.join(manifest.left_out)}"
    if done.brought.migrations:
        taken, now = manifest.migrations[-1].version, shipped()[-1].version
        yield f"schema {taken} of the backup was brought to {now}"
    if not done.is_own_key:
        yield (
            "under another key: texts of markers that were live are erased, calibrations are not "
            "in force, and hashes of evidence are equal to none of later times"
        )
    if done.chain.whole:
        yield "the audit chain is whole"
    else:
        yield (
            f"the audit chain was broken before the backup was taken ({done.chain.flaw_count} "
            "flaws): see davylamp db audit"
        )
