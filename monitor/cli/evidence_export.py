"""``davylamp evidence export``: the certificate of a finding."""

from __future__ import annotations

import getpass
from typing import Annotated

import typer

from monitor.app import store_of
from monitor.certificate.issuing import Export, issue
from monitor.certificate.record import Certificate
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption, HeadOption, has_folder, write_text
from monitor.clock import SystemClock
from monitor.config import Config
from monitor.configured import read_config
from monitor.daemon.client import certificate_of_daemon
from monitor.logs import set_up_logs
from monitor.reports.certificate import issued_line
from monitor.store import owner_of

_FINDING_HELP = "The id of a LEAK or a CROSSED, or the beginning of it."

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("export")
def export(
    finding: Annotated[str, typer.Argument(metavar="FINDING", help=_FINDING_HELP)],
    out: Annotated[
        str, typer.Option(callback=has_folder, help="The file to write; - is stdout.")
    ] = "-",
    head: HeadOption = None,
    who: Annotated[str | None, typer.Option(help="Who says so. Default: your login.")] = None,
    config: ConfigOption = DEFAULT_CONFIG,
) -> None:
    """Write a signed file that shows a leak to whoever trusts neither you nor your store.

    It reveals the markers that were seen, and no other text; the audit chain says by whom. With
    --head it is made to lead to that head, else to the newest. Exit 0 written, 2 usage, or a
    finding of another class, 3 what it would show is not kept any more.
    """
    settings = read_config(str(config))
    set_up_logs("error", settings.log.format)
    asked = Export(finding=finding, who=who or getpass.getuser(), head=head)
    text = _issued(settings, asked)
    write_text(out, text)
    typer.echo(issued_line(Certificate.model_validate_json(text)), err=True)


def _issued(config: Config, asked: Export) -> str:
    owner = owner_of(config.storage_path)
    if owner is not None and owner.url is not None:
        return certificate_of_daemon(config, owner, asked)
    with store_of(config) as store:
        return issue(store, config.environment, asked, SystemClock().now())
