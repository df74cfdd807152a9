"""``davylamp scan FILE|-``: judge an answer that somebody reports, or JSON lines of many."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, BinaryIO, TextIO

import typer

from monitor.cli.options import DEFAULT_CONFIG, ConfigOption, has_folder
from monitor.cli.reported import BadLine, Line, read_lines, read_text
from monitor.clock import SystemClock
from monitor.config import Config
from monitor.configured import read_config
from monitor.daemon.client import DaemonScanDesk
from monitor.daemon.scandesk import ScanDesk, own_scan_desk
from monitor.errors import DavylampError, UsageError
from monitor.reports.scan import ScanReport, scan_lines
from monitor.reports.summary import BAD_EXIT, GOOD_EXIT, UNSURE_EXIT
from monitor.scanning import Reported
from monitor.store import owner_of

app = typer.Typer(add_completion=False, rich_markup_mode=None)

# So many answers, or characters of them and their prompts, go to the scanner at once: memory stays
# flat however many come.
_BATCH = 64
_BATCH_CHARACTERS = 2_000_000


class Format(StrEnum):
    """How the input is written."""

    TEXT = "text"
    JSONL = "jsonl"


@app.command()
def scan(
    file: Annotated[str, typer.Argument(help="A file, or - for stdin.")],
    prompt: Annotated[
        Path | None, typer.Option(help="A file with the prompt that was answered.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="Whose answer it is; needed with several targets.")
    ] = None,
    source: Annotated[str, typer.Option(help="Who reported it: names the finding.")] = "reported",
    tenant: Annotated[str, typer.Option(help="Which of our tenants got it, if one did.")] = "",
    format: Annotated[
        Format | None,
        typer.Option(help="text: one answer. jsonl: an object with `answer` a line."),
    ] = None,
    json: Annotated[
        str | None,
        typer.Option(callback=has_folder, help="Write one JSON line an answer; - is stdout."),
    ] = None,
    config: ConfigOption = DEFAULT_CONFIG,
) -> None:
    """Search reported answers for our markers and planted values, personal data and damage.

    JSON lines hold `answer`, and may hold `prompt`, `tenant` and `name`. Exit 0 nothing bad found
    (SUSPECT is shown for people to look at, and is not bad), 1 something bad, 3 nothing bad but
    something could not be told, unreadable lines included.
    """
    settings = read_config(str(config))
    named = target or _only_target(settings)
    kind = format or (Format.JSONL if file.endswith((".jsonl", ".ndjson")) else Format.TEXT)
    if kind is Format.JSONL and prompt is not None:
        raise UsageError("--prompt is for one answer: JSON lines hold their own `prompt`")
    if kind is Format.JSONL and tenant:
        raise UsageError("--tenant is for one answer: JSON lines hold their own `tenant`")
    with _opened(file) as stream, _writer(json) as out, _desk(settings) as desk:
        if kind is Format.TEXT:
            lines: Iterator[Line] = iter([read_text(stream, prompt, tenant)])
        else:
            lines = read_lines(stream, _tenants(settings, named))
        tally = asyncio.run(_scan(desk, lines, named, source, out))
    raise typer.Exit(tally)


async def _scan(
    desk: ScanDesk, lines: Iterator[Line], target: str, source: str, out: TextIO | None
) -> int:
    bad = suspect = unsure = count = 0
    for batch in _batches(lines):
        broken = [line for line in batch if isinstance(line, BadLine)]
        for line in broken:
            typer.echo(f"line {line.number}: {line.why}", err=True)
        reported = [line for line in batch if isinstance(line, Reported)]
        try:
            reports = await desk.scan(reported, target, source)
        except DavylampError:
            if count:
                typer.echo(f"stopped after {_counted(count, bad, suspect, unsure)}", err=True)
            raise
        for report in reports:
            _show(report, out)
        bad += sum(report.is_bad for report in reports)
        suspect += sum(report.is_suspect for report in reports)
        unsure += len(broken) + sum(not report.is_sure for report in reports)
        count += len(batch)
    if not count:
        raise UsageError("there is no answer in the input")
    if count > 1:
        typer.echo(_counted(count, bad, suspect, unsure), err=True)
    return BAD_EXIT if bad else UNSURE_EXIT if unsure else GOOD_EXIT


def _counted(count: int, bad: int, suspect: int, unsure: int) -> str:
    answers = "1 answer" if count == 1 else f"{count} answers"
    return f"{answers}: {bad} bad, {suspect} suspect, {unsure} not told in full"


def _show(report: ScanReport, out: TextIO | None) -> None:
    if out is not None:
        out.write(report.model_dump_json(by_alias=True, ensure_ascii=True) + "\n")
    if out is not sys.stdout:
        typer.echo("\n".join(scan_lines(report)))


def _batches(lines: Iterator[Line]) -> Iterator[list[Line]]:
    batch: list[Line] = []
    characters = 0
    for line in lines:
        batch.append(line)
        if isinstance(line, Reported):
            characters += len(line.answer) + len(line.prompt or "")
        if len(batch) >= _BATCH or characters >= _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _only_target(config: Config) -> str:
    names = [target.name for target in config.targets]
    if len(names) != 1:
        msg = f"whose answer is it? --target {' | '.join(names)}"
        raise UsageError(msg)
    return names[0]


def _tenants(config: Config, target: str) -> set[str]:
    known = config.target(target)
    return {tenant.name for tenant in known.tenants} if known else set()


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    if file == "-":
        yield sys.stdin.buffer
        return
    try:
        stream = Path(file).open("rb")  # noqa: SIM115 - closed below, errors told apart
    except OSError as error:
        msg = f"{file} cannot be read: {(error.strerror or 'unknown reason').lower()}"
        raise UsageError(msg) from None
    with stream:
        yield stream


@contextmanager
def _writer(where: str | None) -> Iterator[TextIO | None]:
    if where is None or where == "-":
        yield None if where is None else sys.stdout
        return
    with Path(where).open("w", encoding="utf-8") as stream:
        yield stream


@contextmanager
def _desk(config: Config) -> Iterator[ScanDesk]:
    owner = owner_of(config.storage_path)
    if owner is not None and owner.url is not None:
        yield DaemonScanDesk(config, owner)
        return
    with own_scan_desk(config, SystemClock()) as desk:
        yield desk
