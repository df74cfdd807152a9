"""``davylamp export``: a table into a file, however large it is."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated

import typer
from rich.filesize import decimal

from monitor.cli.instants import parse_instant
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption, has_folder
from monitor.cli.reading import open_reading
from monitor.cli.transfer import show_rows
from monitor.clock import SystemClock
from monitor.config import Config
from monitor.configured import read_config
from monitor.errors import StoreError, UsageError
from monitor.logs import set_up_logs
from monitor.store.exporting import Exported, Form, Wanted, Workshop, export, file_at
from monitor.store.retention import in_time

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("export")
def export_table(  # noqa: PLR0913, PLR0917 - each is an option
    table: Annotated[str, typer.Option(help="The table; an unknown one lists all.")],
    format: Annotated[Form, typer.Option(help="parquet, jsonl or csv.")],
    out: Annotated[
        str, typer.Option(callback=has_folder, help="The file to write; - is stdout.")
    ] = "-",
    columns: Annotated[
        str | None, typer.Option(help="Columns, with commas between. Default: all.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(help="Only rows from then on: a date, a time, or 7d.")
    ] = None,
    until: Annotated[str | None, typer.Option(help="Only rows before then.")] = None,
    target: Annotated[str | None, typer.Option(help="Only rows of this target.")] = None,
    with_sealed: Annotated[
        bool, typer.Option("--with-sealed", help="Also what is sealed, still sealed.")
    ] = False,
    config: ConfigOption = DEFAULT_CONFIG,
) -> None:
    """Write a table into one file, in order, each row once. Memory stays the same at any size."""
    now = SystemClock().now()
    settings = read_config(str(config))
    wanted = Wanted(
        table=table,
        form=format,
        columns=tuple(name.strip() for name in columns.split(",")) if columns else (),
        since=parse_instant("--since", since, now) if since else None,
        until=parse_instant("--until", until, now) if until else None,
        target=target,
        with_sealed=with_sealed,
        in_time=in_time(settings.storage.retention, now),
    )
    if wanted.since and wanted.until and wanted.since >= wanted.until:
        msg = "--until: no row is before it and after --since (give a later one)"
        raise UsageError(msg)
    if out == "-" and format is Form.PARQUET and sys.stdout.isatty():
        msg = "--out: a terminal cannot show Parquet (give a file)"
        raise UsageError(msg)
    done = _exported(settings, wanted, out)
    typer.echo(_said(wanted, done, out), err=True)


def _exported(settings: Config, wanted: Wanted, out: str) -> Exported:
    # What came of it is said below.
    set_up_logs("error", settings.log.format)
    folder = Path(tempfile.gettempdir()) if out == "-" else Path(out).resolve().parent
    with (
        open_reading(settings) as reading,
        show_rows(sys.stderr) as told,
        _stdout() if out == "-" else file_at(Path(out)) as file,
    ):
        return export(
            reading.client,
            wanted,
            file,
            Workshop(folder=folder, open_engine=reading.engine),
            lambda rows, expected, size: told(wanted.table, rows, expected, size),
            most_rows=reading.most_rows,
        )


@contextmanager
def _stdout() -> Iterator[IO[bytes]]:
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except OSError as error:
        # Else Python would try once more at its end, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        reason = (error.strerror or type(error).__name__).lower()
        msg = f"stdout took no more before the last row: {reason}"
        raise StoreError(msg) from error


def _said(wanted: Wanted, done: Exported, out: str) -> str:
    where = "stdout" if out == "-" else out
    left = f"; left out: {', '.join(done.left_out)} (--with-sealed)" if done.left_out else ""
    if not done.rows:
        narrowed = wanted.since or wanted.until or wanted.target is not None
        why = "none is what was asked for" if narrowed else "the table is empty"
        return f"{wanted.table}: 0 rows ({why}); {where} holds no row{left}"
    size = decimal(done.bytes)
    return f"{wanted.table}: {done.rows:,} rows, {size} of {wanted.form} in {where}{left}"
