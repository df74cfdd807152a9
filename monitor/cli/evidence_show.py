"""``davylamp evidence show``: how the streams of a target stand."""

from __future__ import annotations

from typing import Annotated

import typer

from monitor.app import store_of
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption, JsonOption, write_text
from monitor.clock import SystemClock
from monitor.config import Config
from monitor.configured import read_config, selected
from monitor.daemon.client import evidence_of_daemon
from monitor.daemon.evidence import stored_evidence
from monitor.reports.evidence import EvidenceReport, evidence_lines
from monitor.store import owner_of

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("show")
def show(
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="The target's name in the configuration.")
    ],
    json: JsonOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
) -> int:
    """Print every stream of a target, the worst first: how many failed, and how near an alarm is.

    The daemon tells how they stand now; without one, how they were last kept. Exit 0 no alarm, 1 an
    alarm is not over, 2 usage, 3 could not tell: nothing has a score yet, or what was kept cannot
    be read.
    """
    settings = read_config(str(config))
    selected(settings, (target,))
    report = _report(settings, target)
    if json:
        write_text(json, report.model_dump_json(indent=2))
    if json != "-":
        typer.echo("\n".join(evidence_lines(report)))
    return report.exit_code


def _report(config: Config, target: str) -> EvidenceReport:
    owner = owner_of(config.storage_path)
    if owner is not None and owner.url is not None:
        return evidence_of_daemon(config, owner, target)
    with store_of(config) as store:
        return stored_evidence(store, target, SystemClock().now())
