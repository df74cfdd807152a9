"""``davylamp db migrate``: bring the store to this version, or say what is missing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from monitor.app import standing_of_store, store_of
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption
from monitor.cli.progress import show_progress
from monitor.config import Config
from monitor.configured import read_config
from monitor.errors import StoreBusyError
from monitor.logs import set_up_logs
from monitor.store import owner_of
from monitor.store.migrate import Migration, OnStatement, Standing, shipped
from monitor.store.structure import REMEDY

_MISSING_EXIT = 1
_PLAIN_EVERY = 10

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("migrate")
def migrate(
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; say what is missing, and exit 1.")
    ] = False,
    config: ConfigOption = DEFAULT_CONFIG,
) -> None:
    """Apply the migrations that are missing, and how long rows are to be kept.

    Every verb that opens the store does so too; this one shows how far it has come. Broken off, it
    is simply run again. Exit 0 nothing is missing (any more), 1 with --check something is, or a
    table or view is not as it was made, 2 the store is newer than this version, was changed, is in
    use, or cannot be opened.
    """
    settings = read_config(str(config))
    # What was changed is printed below.
    set_up_logs("error", settings.log.format)
    _refuse_a_running_daemon(settings)
    if check:
        standing = standing_of_store(settings)
        typer.echo("\n".join(_missing_lines(settings, standing)))
        raise typer.Exit(0 if standing.is_current else _MISSING_EXIT)
    with _shown() as on_statement, store_of(settings, on_statement) as store:
        brought = store.brought
    typer.echo("\n".join(_brought_lines(settings, brought)))
    raise typer.Exit(_MISSING_EXIT if brought.differs else 0)


def _refuse_a_running_daemon(settings: Config) -> None:
    owner = owner_of(settings.storage_path)
    if owner is not None and owner.url is not None:
        msg = (
            f"{settings.storage_path}: process {owner.pid} owns this store; its daemon at "
            f"{owner.url} brought it to its own version when it started. Stop it, then run this, "
            "or start it again with this version"
        )
        raise StoreBusyError(msg)


@contextmanager
def _shown() -> Iterator[OnStatement]:
    """Show how far it has come on stderr: a bar on a terminal, else a line now and then."""
    with show_progress(sys.stderr, quiet=False) as shown:

        def show(migration: Migration, done: int, total: int) -> None:
            if done % _PLAIN_EVERY == 0 or sys.stderr.isatty():
                shown.words(migration.name, "statements", done, total)

        yield show


def _missing_lines(settings: Config, standing: Standing) -> Iterator[str]:
    where = settings.storage.url or settings.storage_path
    if standing.is_current:
        yield f"{where}: schema {shipped()[-1].version}, as this version needs it"
        return
    if standing.is_new:
        yield f"{where}: no store yet"
    for migration in standing.migrations:
        yield f"missing: {migration.name}"
    for change in standing.terms:
        yield f"differs: {change}"
    yield from _differing_lines(standing)
    if standing.differs and not (standing.migrations or standing.terms):
        return
    yield "to apply this, run davylamp db migrate (any verb that opens the store does it too)"


def _brought_lines(settings: Config, brought: Standing) -> Iterator[str]:
    where = settings.storage.url or settings.storage_path
    for migration in brought.migrations:
        yield f"applied: {migration.name}"
    for change in () if brought.is_new else brought.terms:
        yield f"changed: {change}"
    if any(change.is_shorter for change in brought.terms):
        yield "what is past its time goes when the database merges, within hours"
    yield from _differing_lines(brought)
    if brought.differs:
        return
    done = "now" if not brought.is_current else "already"
    yield f"{where}: schema {shipped()[-1].version}, {done} as this version needs it"


def _differing_lines(standing: Standing) -> Iterator[str]:
    """Say what no migration mends, and what does."""
    for difference in standing.differs:
        yield f"damaged: {difference}"
    if standing.differs:
        yield f"to mend this, {REMEDY}"
