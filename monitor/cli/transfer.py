"""Progress of rows that go into files or come from them: a bar on a terminal, else plain lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from monitor.reports.terminal import printable

# What is written, rows so far, rows in all as they were counted before, bytes so far.
OnRows = Callable[[str, int, int, int], None]
_PLAIN_SHARES = 10


@contextmanager
def show_transfer(stream: TextIO) -> Iterator[OnRows]:
    """Give something to tell how far it is."""
    if stream.isatty():
        with _bar(stream) as told:
            yield told
    else:
        yield _Plain(stream).told


class _Plain:
    """A line for each tenth of what is written."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._last: tuple[str, int] = ("", 0)

    def told(self, what: str, rows: int, expected: int, size: int) -> None:
        share = rows * _PLAIN_SHARES // expected if expected else 0
        if not share or (what, share) == self._last:
            return
        self._last = (what, share)
        line = f"{what} {rows:,}/{expected:,} rows, {decimal(size)}"
        self._stream.write(printable(line) + "\n")
        self._stream.flush()


@contextmanager
def _bar(stream: TextIO) -> Iterator[OnRows]:
    columns = (
        TextColumn("{task.fields[what]}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("rows, {task.fields[size]}", markup=False),
    )
    console = Console(file=stream, markup=False, highlight=False)
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", what="", size="")

        def told(what: str, rows: int, expected: int, size: int) -> None:
            shown = {"what": printable(what), "size": decimal(size)}
            progress.update(task, completed=rows, total=expected, **shown)

        yield told
