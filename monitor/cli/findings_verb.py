"""``davylamp findings list|show|resolve``: what is open, and closing it as a person."""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from monitor.app import read_config
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption
from monitor.clock import SystemClock
from monitor.config import resolve_secret
from monitor.errors import UsageError
from monitor.findings import Finding, Findings, StoredFindings
from monitor.store import Store, open_store

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="List, show and resolve findings.",
)


@contextmanager
def opened(config: str) -> Iterator[tuple[Store, Findings]]:
    """Open store and findings of an installation whose daemon does not run."""
    settings = read_config(config)
    password = resolve_secret(settings.storage.password) if settings.storage.password else ""
    with open_store(settings.storage_path, settings.storage.url, password=password) as store:
        yield store, Findings(StoredFindings(store.writer, store.reader), SystemClock().now())


@app.command("list")
def list_open(config: ConfigOption = DEFAULT_CONFIG) -> None:
    """Print every open finding, worst first."""
    with opened(str(config)) as (_, findings):
        found = findings.list_open()
    if not found:
        typer.echo("no open finding")
    for finding in found:
        typer.echo(_line(finding))


@app.command()
def show(finding: str, config: ConfigOption = DEFAULT_CONFIG) -> None:
    """Print one finding and its trials."""
    with opened(str(config)) as (_, findings):
        found = _find(findings, finding)
    typer.echo(_line(found))
    for stratum in (found.stratum, *found.children):
        typer.echo(f"  stratum  {stratum}")
    for trial in found.trials:
        typer.echo(f"  trial    davylamp explain {trial}")


@app.command()
def resolve(
    finding: str,
    why: Annotated[str, typer.Option(help="Why it is over; kept with the finding.")],
    who: Annotated[str | None, typer.Option(help="Who says so. Default: your login.")] = None,
    config: ConfigOption = DEFAULT_CONFIG,
) -> None:
    """Close a finding as mended. Its shape is probed again from now on."""
    with opened(str(config)) as (_, findings):
        found = findings.resolve(finding, who or getpass.getuser(), why, SystemClock().now())
    typer.echo(f"{found.id} is resolved; {found.shape} is probed again on {found.target}")


def _find(findings: Findings, finding_id: str) -> Finding:
    found = next((f for f in findings.list_open() if f.id == finding_id), None)
    if found is None:
        msg = f"{finding_id}: no open finding has this id (davylamp findings list)"
        raise UsageError(msg)
    return found


def _line(finding: Finding) -> str:
    seen = f"{finding.first_seen:%Y-%m-%d %H:%M} to {finding.last_seen:%Y-%m-%d %H:%M} UTC"
    return (
        f"{finding.id}  {finding.verdict_class.label}  {finding.target}  {finding.shape}  "
        f"{finding.state.value}  {finding.count} verdicts  {seen}"
    )
