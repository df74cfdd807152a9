"""``davylamp evidence resolve``: a person ends an alarm."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Annotated

import typer

from monitor.app import store_of
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption
from monitor.clock import SystemClock
from monitor.configured import read_config, selected
from monitor.daemon.client import end_alarm_through_daemon
from monitor.daemon.evidence import end_stored_alarm
from monitor.model import Lane
from monitor.store import owner_of
from monitor.watching import Ending

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("resolve")
def resolve(
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="The target's name in the configuration.")
    ],
    why: Annotated[str, typer.Option(help="Why; the audit chain has a keyed hash of it.")],
    who: Annotated[str | None, typer.Option(help="Who says so. Default: your login.")] = None,
    probe: Annotated[str | None, typer.Option(help="Only an alarm of this probe.")] = None,
    stratum: Annotated[str | None, typer.Option(help="Only an alarm of this stratum.")] = None,
    lane: Annotated[Lane | None, typer.Option(help="Only an alarm of this lane.")] = None,
    config: ConfigOption = DEFAULT_CONFIG,
) -> None:
    """End one alarm of a target; its evidence begins anew.

    A fault that goes on raises it again. The finding of a stream that moved stays open. Exit 2 if
    there is no such alarm, or more than one: say which.
    """
    typer.echo(
        "\n".join(
            _ended(
                config,
                target,
                Ending(
                    target=target,
                    who=who or getpass.getuser(),
                    why=why,
                    probe=probe,
                    stratum=stratum,
                    lane=lane,
                ),
            )
        )
    )


def _ended(config: Path, target: str, ending: Ending) -> list[str]:
    settings = read_config(str(config))
    selected(settings, (target,))
    owner = owner_of(settings.storage_path)
    if owner is not None and owner.url is not None:
        return end_alarm_through_daemon(settings, owner, ending)
    with store_of(settings) as store:
        return end_stored_alarm(store, ending, SystemClock().now())
