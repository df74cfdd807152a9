"""``davylamp findings``: what was found, its history, what people decide, and looking again."""

from __future__ import annotations

import getpass
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from monitor.cli.desk import open_desk
from monitor.cli.examination import localised, verified
from monitor.cli.instants import parse_instant, parse_lasting, parse_share
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption, JsonOption, write_text
from monitor.clock import SystemClock
from monitor.configured import read_config
from monitor.daemon.desk import Said, Told, Wanted
from monitor.errors import UsageError
from monitor.examining import DEFAULT_MOST_TRIALS, DEFAULT_REPEATS, Localise, Verify
from monitor.findings import Decision, FindingState, Rotation
from monitor.logs import set_up_logs
from monitor.reports.findings import finding_lines, findings_lines
from monitor.reports.localisation import render_localisation
from monitor.reports.verification import render_verification

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="List, decide about, verify and localise findings.",
)
Found = Annotated[str, typer.Argument(metavar="FINDING", help="Its id, or the beginning of it.")]
Why = Annotated[str, typer.Option(help="Why; kept with the finding.")]
Who = Annotated[str | None, typer.Option(help="Who says so. Default: your login.")]
IfWhy = Annotated[str, typer.Option("--why", help="Why, if that is to be kept with the finding.")]
At = Annotated[
    str | None,
    typer.Option(
        metavar="TIME", help="When it happened: 2026-11-02T14:30, or 10m ago as 10m. Default: now."
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what it takes; send nothing.")]


@app.command("list")
def list_findings(
    every: Annotated[
        bool, typer.Option("--all", help="Closed ones too, the newest first.")
    ] = False,
    target: Annotated[str | None, typer.Option(help="Only of this target.")] = None,
    state: Annotated[FindingState | None, typer.Option(help="Only in this state.")] = None,
    json: JsonOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
) -> None:
    """Print every open finding, worst first."""
    wanted = Wanted(closed=every, target=target, state=state)
    with open_desk(config) as desk:
        report = desk.findings(wanted)
    if json:
        write_text(json, report.model_dump_json(by_alias=True, indent=2))
    if json != "-":
        none = "no finding" if every or target or state else "no open finding"
        typer.echo("\n".join(findings_lines(report, none=none)))


@app.command()
def show(finding: Found, json: JsonOption = None, config: ConfigOption = DEFAULT_CONFIG) -> None:
    """Print one finding, open or closed: its trials, and what changed about it when and by whom."""
    with open_desk(config) as desk:
        shown = desk.finding(finding)
    if json:
        write_text(json, shown.model_dump_json(by_alias=True, indent=2))
    if json != "-":
        typer.echo("\n".join(finding_lines(shown)))


@app.command()
def confirm(
    finding: Found, why: Why, who: Who = None, config: ConfigOption = DEFAULT_CONFIG
) -> None:
    """Say that a finding in review is real."""
    _decide(config, Decision.CONFIRM, finding, who, why)


@app.command()
def dismiss(
    finding: Found,
    why: Why,
    who: Who = None,
    suppress: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="So long (7d, 12h; at most 90d) its twins open nothing: same target, shape, "
            "stratum, class and signals. Never a LEAK or CROSSED.",
        ),
    ] = None,
    config: ConfigOption = DEFAULT_CONFIG,
) -> None:
    """Close a finding as no fault. Its evidence is held no longer."""
    lasting = None if suppress is None else parse_lasting("--suppress", suppress)
    _decide(config, Decision.DISMISS, finding, who, why, lasting)


@app.command()
def resolve(
    finding: Found, why: Why, who: Who = None, config: ConfigOption = DEFAULT_CONFIG
) -> None:
    """Close a finding as mended. Its shape is probed again, its evidence held no longer."""
    _decide(config, Decision.RESOLVE, finding, who, why)


@app.command()
def reopen(
    finding: Found, why: Why, who: Who = None, config: ConfigOption = DEFAULT_CONFIG
) -> None:
    """Open a closed finding again. Evidence of it that is still there is held again."""
    _decide(config, Decision.REOPEN, finding, who, why)


@app.command()
def drained(
    finding: Found,
    at: At = None,
    why: IfWhy = "",
    who: Who = None,
    config: ConfigOption = DEFAULT_CONFIG,
) -> None:
    """Tell that an open finding's target was taken out of rotation. Davylamp drains nothing.

    From then on what shows in a further stratum of a leak opens a finding of its own.
    """
    _rotate(config, Rotation.DRAINED, finding, (who, why, at))


@app.command()
def returned(
    finding: Found,
    at: At = None,
    why: IfWhy = "",
    who: Who = None,
    config: ConfigOption = DEFAULT_CONFIG,
) -> None:
    """Tell that its target was put back while it is still open."""
    _rotate(config, Rotation.RETURNED, finding, (who, why, at))


@app.command()
def verify(
    finding: Found,
    bound: Annotated[
        str,
        typer.Option(
            metavar="SHARE",
            help="Show the fault to be in fewer trials than this share: 5% takes 59 clean "
            "replays, 1% 299.",
        ),
    ] = "5%",
    dry_run: DryRun = False,
    json: JsonOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
) -> int:
    """Ask the smallest trial that showed a fault again, until it is clean or shows it once more.

    Stops at the first LEAK. Exit 0 clean, 1 still bad, 2 usage or configuration, 3 could not tell.
    """
    settings = read_config(str(config))
    set_up_logs(settings.log.level, settings.log.format)
    asked = Verify(finding=finding, bound=parse_share("--bound", bound), sends=not dry_run)
    report = verified(settings, asked, quiet=json == "-")
    if json:
        write_text(json, report.model_dump_json(by_alias=True, indent=2))
    if json != "-":
        typer.echo("\n".join(render_verification(report)))
    return report.exit_code


@app.command()
def localise(
    finding: Found,
    repeats: Annotated[
        int,
        typer.Option(min=1, max=100, help="Ask each stratum so often, unless it shows the fault."),
    ] = DEFAULT_REPEATS,
    most_trials: Annotated[
        int, typer.Option(min=1, max=1000, help="Send at most so many trials.")
    ] = DEFAULT_MOST_TRIALS,
    dry_run: DryRun = False,
    json: JsonOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
) -> int:
    """Ask the strata around a fault: which axes it depends on, and where it begins.

    Each stratum is asked until it shows the fault once. Exit 1 the fault shows, 2 usage or
    configuration, 3 it did not show again or could not be told.
    """
    settings = read_config(str(config))
    set_up_logs(settings.log.level, settings.log.format)
    asked = Localise(finding=finding, repeats=repeats, most_trials=most_trials, sends=not dry_run)
    report = localised(settings, asked, quiet=json == "-")
    if json:
        write_text(json, report.model_dump_json(by_alias=True, indent=2))
    if json != "-":
        typer.echo("\n".join(render_localisation(report)))
    return report.exit_code


def _decide(
    config: Path,
    decision: Decision,
    finding: str,
    who: str | None,
    why: str,
    suppress: timedelta | None = None,
) -> None:
    said = Said(who=_who(who), why=why, suppress=suppress)
    with open_desk(config) as desk:
        typer.echo("\n".join(desk.decide(decision, finding, said)))


def _rotate(
    config: Path, rotation: Rotation, finding: str, said: tuple[str | None, str, str | None]
) -> None:
    who, why, at = said
    told = Told(
        rotation=rotation,
        who=_who(who),
        why=why,
        at=None if at is None else parse_instant("--at", at, SystemClock().now()),
    )
    with open_desk(config) as desk:
        typer.echo("\n".join(desk.rotate(finding, told)))


def _who(given: str | None) -> str:
    """Return who says something: the login, unless somebody is named. An empty name is refused."""
    if given is None:
        return getpass.getuser()
    if not given.strip():
        msg = "--who: it is empty; name who says so, or leave it out for your login"
        raise UsageError(msg)
    return given
