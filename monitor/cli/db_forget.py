"""``davylamp db forget``: erase what was kept of a tenant, a trial or a time."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Annotated

import typer

from monitor.app import store_of
from monitor.cli.instants import parse_instant
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption, JsonOption, write_text
from monitor.cli.progress import show_progress
from monitor.clock import SystemClock
from monitor.config import Config
from monitor.configured import read_config
from monitor.daemon.client import forget_through_daemon
from monitor.daemon.forgetting import ERASED_WORDS, Forget, forget
from monitor.errors import UsageError
from monitor.logs import set_up_logs
from monitor.reports.forget import ForgetReport, forget_lines
from monitor.store import owner_of
from monitor.store.forget import Asked

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_Do = Callable[[Forget], ForgetReport]


@app.command("forget")
def forget_kept(
    tenant: Annotated[
        str | None, typer.Option(help="All trials this tenant took part in or was found in.")
    ] = None,
    trial: Annotated[str | None, typer.Option(help="One trial by its id.")] = None,
    before: Annotated[
        str | None, typer.Option(help="Everything before a date, a time or so long ago (90d).")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; needed without a terminal.")] = (
        False
    ),
    keep_held: Annotated[
        bool, typer.Option("--keep-held", help="Leave out what open findings hold.")
    ] = False,
    who: Annotated[str | None, typer.Option(help="Who says so. Default: your login.")] = None,
    json: JsonOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
) -> int:
    """Erase trials with all that was kept of them, and the texts of markers. It cannot be undone.

    What would be erased is counted and shown first. Sums, findings, hashes and owners of markers
    stay, and so does a tombstone in the audit chain. Exit 0 erased (or nothing left), 1 open
    findings hold some of it and nothing was erased, 2 usage, or the store knows nothing of it, 3
    erased, but copies may be left.
    """
    now = SystemClock().now()
    asked = Asked(
        tenant=tenant or "",
        trial=trial or "",
        before=parse_instant("--before", before, now) if before is not None else None,
    )
    settings = read_config(str(config))
    # What is found and erased is printed.
    set_up_logs("error", settings.log.format)
    request = Forget(asked=asked, who=who or getpass.getuser(), keep_held=keep_held)
    with _doing(settings) as do:
        report = do(request)
        _show(report, aside=json == "-")
        if not (report.refused or report.is_empty):
            _make_sure(yes=yes)
            report = do(replace(request, erase=True))
            _show(report, aside=json == "-")
    if json:
        write_text(json, report.model_dump_json(indent=2))
    return report.exit_code


def _show(report: ForgetReport, *, aside: bool) -> None:
    """Print a report, beside JSON on stderr."""
    typer.echo("\n".join(forget_lines(report)), err=aside)


def _make_sure(*, yes: bool) -> None:
    """Ask whether that is meant. Raises ``UsageError`` where nobody can be asked."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("nothing was erased: there is no terminal to ask at (add --yes)")
    typer.confirm("Erase this for good?", abort=True, err=True)


@contextmanager
def _doing(settings: Config) -> Iterator[_Do]:
    """Give what forgets: the daemon if it owns the store, else this process."""
    owner = owner_of(settings.storage_path)
    with show_progress(sys.stderr, quiet=False) as shown:
        if owner is not None and owner.url is not None:
            yield partial(forget_through_daemon, settings, owner, on_words=shown.words)
            return

        def on_erased(table: str, done: int, total: int) -> None:
            shown.words(table, ERASED_WORDS, done, total)

        with store_of(settings) as store:
            yield partial(forget, store, settings.storage_path, SystemClock(), on_erased=on_erased)
