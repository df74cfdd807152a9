"""``davylamp rescore``: judge stored answers again with the checks of today."""

from __future__ import annotations

import asyncio
import getpass
import os
import stat
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from monitor.cli.instants import parse_instant
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption, JsonOption, write_text
from monitor.cli.progress import show_progress
from monitor.clock import SystemClock
from monitor.config import Config
from monitor.configured import read_config
from monitor.errors import StoreBusyError, UsageError
from monitor.logs import set_up_logs
from monitor.reports.rescore import RescoreReport, render_rescore
from monitor.reports.terminal import printable
from monitor.rescoring import Rescore, RescoreStep, rescore
from monitor.store import owner_of
from monitor.store.bodies import KEY_FILE_BYTES, KeyFileError, Opener

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(name="rescore")
def rescore_answers(
    since: Annotated[
        str,
        typer.Option(metavar="WHEN", help="Judged from then on: a date, a time, or 7d, 12h ago."),
    ],
    private_key: Annotated[
        Path,
        typer.Option(help="The private half of storage.bodies.public_key_file, in PEM."),
    ],
    until: Annotated[
        str | None, typer.Option(metavar="WHEN", help="Judged before then. Default: now.")
    ] = None,
    target: Annotated[
        list[str] | None, typer.Option(help="Only this target; may be given several times.")
    ] = None,
    passphrase_env: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The environment variable with the key's passphrase."),
    ] = None,
    by: Annotated[str | None, typer.Option(help="Who does it. Default: your login.")] = None,
    config: ConfigOption = DEFAULT_CONFIG,
    json: JsonOption = None,
) -> int:
    """Judge kept answers again with the checks of today, and say what is different.

    Nothing is sent, and no finding changes. The new verdicts are kept beside the first ones; that
    bodies were opened is noted in the audit chain. A running daemon must be stopped first: the key
    never leaves this process. Exit 0 nothing is worse, 1 something is worse than it was judged, or
    a leak that no finding tells of, 2 usage or configuration, 3 none could be judged, or some
    cannot be judged any more.
    """
    settings = read_config(str(config))
    set_up_logs(settings.log.level, settings.log.format)
    clock = SystemClock()
    now = clock.now()
    asked = Rescore(
        since=parse_instant("--since", since, now),
        until=now if until is None else parse_instant("--until", until, now),
        opener=_opener(private_key, passphrase_env),
        who=by or getpass.getuser(),
        targets=tuple(dict.fromkeys(target or ())),
    )
    if asked.since >= asked.until:
        raise UsageError(f"--since {_shown(asked.since)} is not before {_shown(asked.until)}")
    _refuse_beside_daemon(settings)
    report = _rescored(settings, clock, asked, quiet=json == "-")
    if json:
        write_text(json, report.model_dump_json(by_alias=True, indent=2))
    if json != "-":
        for line in render_rescore(report):
            typer.echo(line)
    return report.exit_code


def _rescored(config: Config, clock: SystemClock, asked: Rescore, *, quiet: bool) -> RescoreReport:
    is_bar = sys.stderr.isatty()
    with show_progress(sys.stderr, quiet=quiet) as shown:

        def on_step(step: RescoreStep) -> None:
            tenth, before = step.done * 10 // step.total, (step.done - 1) * 10 // step.total
            if is_bar or tenth > before:
                shown.words("judged again", step.words, step.done, step.total)

        return asyncio.run(rescore(config, clock, asked, on_step))


def _opener(file: Path, passphrase_env: str | None) -> Opener:
    """Read the private key. Raises ``UsageError`` that never quotes it."""
    passphrase = None
    if passphrase_env is not None:
        passphrase = os.environ.get(passphrase_env)
        if not passphrase:
            raise UsageError(f"--passphrase-env: the variable {passphrase_env} is not set")
    try:
        with file.open("rb") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            pem = opened.read(KEY_FILE_BYTES)
        opener = Opener.of_pem(pem, passphrase)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise UsageError(f"--private-key: {file} cannot be read: {reason}") from None
    except KeyFileError as error:
        raise UsageError(f"--private-key: {file} {error}") from None
    if stat.S_IMODE(mode) & 0o077:
        words = f"warning: {file} can be read by others (chmod 600 {file})"
        typer.echo(printable(words), err=True)
    return opener


def _refuse_beside_daemon(config: Config) -> None:
    owner = owner_of(config.storage_path)
    if owner is not None and owner.url is not None:
        msg = (
            f"{config.storage_path}: process {owner.pid} owns this store; its daemon answers at "
            f"{owner.url}. Stop it first: the private key is never sent to it"
        )
        raise StoreBusyError(msg)


def _shown(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M:%S} UTC"
