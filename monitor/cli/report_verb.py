"""``davylamp report``: build the weekly integrity report, and verify one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from monitor.canaries import InstallationKey
from monitor.certificate.keys import MOST_PEM_BYTES, PublicKey
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption
from monitor.cli.reading import open_reading
from monitor.clock import SystemClock
from monitor.config import Config
from monitor.configured import read_config
from monitor.errors import UsageError
from monitor.logs import set_up_logs
from monitor.store.store import KEY_FILE
from monitor.store.week_reader import WeekReader
from monitor.weekly.asking import asked_of
from monitor.weekly.building import build, check_free
from monitor.weekly.files import Format
from monitor.weekly.verifying import verify
from monitor.weekly.week import Week
from monitor.weekly.words import NO_DATA_EXIT, built_lines, verified_exit, verified_lines

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Build the weekly integrity report, and verify one.",
)


@app.command("build")
def build_report(
    out: Annotated[Path, typer.Option(help="The report's own folder: new, or empty.")],
    week: Annotated[
        str | None, typer.Option(help="Such as 2026-W48 (UTC). Default: the last that is over.")
    ] = None,
    format: Annotated[
        str, typer.Option(help="html, json, csv and parquet, with commas between.")
    ] = "html,json,csv,parquet",
    previous: Annotated[
        Path | None,
        typer.Option(help="The report before. Default: the newest earlier one beside --out."),
    ] = None,
    drill: Annotated[
        Path | None, typer.Option(help="The JSON of the last drill. Default: reports.drill.")
    ] = None,
    config: ConfigOption = DEFAULT_CONFIG,
) -> int:
    """Write the report of a week, with a signed manifest that is chained to the report before.

    Also beside a daemon. Exit 0 written, whatever it says; 2 usage or configuration; 3 written, but
    nothing was judged in that week.
    """
    formats = _formats(format)
    settings = read_config(str(config))
    set_up_logs("error", settings.log.format)
    wanted = _week(week)
    check_free(out, wanted)
    asked = asked_of(settings, wanted, _drill(settings, drill))
    # Before the store is opened, which makes a key where there is none.
    key = InstallationKey.load(settings.storage_path / KEY_FILE)
    with open_reading(settings) as reading:
        built = build(WeekReader(reading.client), asked, formats, out, key, previous)
    typer.echo("\n".join(built_lines(built)))
    return 0 if built.report.has_data else NO_DATA_EXIT


def _formats(text: str) -> list[Format]:
    named = [name.strip() for name in text.split(",")]
    known = [each.value for each in Format]
    for name in named:
        if name not in known:
            msg = f"--format: no format {name[:20]!a} (use any of: {', '.join(known)})"
            raise UsageError(msg)
    return [Format(name) for name in dict.fromkeys(named)]


def _week(text: str | None) -> Week:
    now = SystemClock().now()
    if text is None:
        return Week.last_before(now)
    try:
        week = Week.parse(text)
    except ValueError:
        msg = f"--week: {text[:20]!a} is no week (write one such as 2026-W48)"
        raise UsageError(msg) from None
    if week.until > now:
        msg = f"--week: {week.label} is not over before {week.until:%Y-%m-%d %H:%M} UTC"
        raise UsageError(msg)
    return week


def _drill(config: Config, given: Path | None) -> Path | None:
    reports = config.settings.reports
    if given is not None or reports is None or reports.drill is None:
        return given
    return config.file.parent / reports.drill


@app.command("verify")
def verify_report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a report.")],
    public_key: Annotated[
        Path | None,
        typer.Option(help="The installation's public key in PEM, had from its owner."),
    ] = None,
    previous: Annotated[
        Path | None, typer.Option(help="The folder of the report before it.")
    ] = None,
) -> int:
    """Say whether a report is whole and unchanged, offline; with a key also whose it is.

    Exit 0 it holds, 1 it does not, 2 usage, 3 nothing is wrong but no key was given: then whoever
    changed the files may have changed the manifest too.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder")
    key = PublicKey.of_pem(_pem(public_key), str(public_key)) if public_key is not None else None
    verified = verify(folder, key, previous)
    typer.echo("\n".join(verified_lines(verified)))
    return verified_exit(verified)


def _pem(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(MOST_PEM_BYTES + 1)
    except OSError as error:
        msg = f"{file} cannot be read: {(error.strerror or 'unknown reason').lower()}"
        raise UsageError(msg) from None
