"""``davylamp pages``: whether pages arrive, before one has to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

import typer

from monitor.cli.main import GOOD_EXIT, UNSURE_EXIT
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption
from monitor.clock import SystemClock, new_id
from monitor.configured import read_config
from monitor.conventions.pages import PageOutcome
from monitor.errors import UsageError
from monitor.paging.trying import Tried, try_pages

REJECTED_EXIT = 1
# 4xx but these speak of what was sent, and no waiting mends it.
_TEMPORARY = frozenset({408, 425, 429})

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Whether pages arrive, before one has to.",
)


@app.callback()
def pages() -> None:
    """Do nothing by itself; the verbs do."""


@app.command("test")
def send_test(
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave it open, to see whom it reaches.")
    ] = False,
    config: ConfigOption = DEFAULT_CONFIG,
) -> None:
    """Send each receiver of `pages` a page that asks nothing of anybody, and resolve it.

    Exit 0: all accepted; 1: one refused it; 2: configuration; 3: one could not be reached.
    """
    settings = read_config(str(config))
    if not settings.settings.pages.receivers:
        msg = f"{settings.file}: pages: nobody is told directly (add pagerduty or webhooks)"
        raise UsageError(msg)
    tried = asyncio.run(try_pages(settings, SystemClock(), new_id("test"), keep=keep))
    typer.echo("\n".join(_lines(tried)))
    if keep:
        typer.echo("left open: resolve it by hand")
    raise typer.Exit(_exit_code(tried))


def _lines(tried: Sequence[Tried]) -> list[str]:
    return [f"{each.receiver}: {each.action} {each.dedup_key}: {_outcome(each)}" for each in tried]


def _outcome(tried: Tried) -> str:
    answer = tried.answer
    status = "" if answer.status is None else f" (HTTP {answer.status})"
    if answer.outcome is PageOutcome.ACCEPTED:
        return f"accepted{status}"
    if _is_refused(tried):
        return f"REFUSED{status}: check url and key"
    return f"NOT DELIVERED: {answer.problem}"


def _is_refused(tried: Tried) -> bool:
    status = tried.answer.status
    temporary = status is None or status in _TEMPORARY or not 400 <= status < 500  # noqa: PLR2004
    return tried.answer.outcome is not PageOutcome.ACCEPTED and not temporary


def _exit_code(tried: Sequence[Tried]) -> int:
    if any(_is_refused(each) for each in tried):
        return REJECTED_EXIT
    if any(each.answer.outcome is not PageOutcome.ACCEPTED for each in tried):
        return UNSURE_EXIT
    return GOOD_EXIT
