"""Progress of rows that go into files or come from them: a bar on a terminal, else plain lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, Progress, TextColumn

from monitor.reports.terminal import printable

# What is at work, rows so far, rows in all as they were counted before, bytes so far.
OnRows = Callable[[str, int, int, int], None]
# What is at work, bytes so far, bytes in all.
OnBytes = Callable[[str, int, int], None]
_PLAIN_SHARES = 10
_FEW = 100_000


@contextmanager
def show_rows(stream: TextIO) -> Iterator[OnRows]:
    """Give something to tell how many rows are done."""
    with _shown(stream) as show:
        yield lambda what, rows, expected, size: show(
            what, rows, expected, f"{rows:,}/{expected:,} rows, {decimal(size)}"
        )


@contextmanager
def show_bytes(stream: TextIO) -> Iterator[OnBytes]:
    """Give something to tell how many bytes are done."""
    with _shown(stream) as show:
        yield lambda what, size, expected: show(
            what, size, expected, f"{decimal(size)}/{decimal(expected)}"
        )


@contextmanager
def _shown(stream: TextIO) -> Iterator[Callable[[str, int, int, str], None]]:
    if not stream.isatty():
        yield _Plain(stream).show
        return
    columns = (
        TextColumn("{task.fields[what]}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[words]}", markup=False),
    )
    console = Console(file=stream, markup=False, highlight=False)
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", what="", words="")

        def show(what: str, done: int, expected: int, words: str) -> None:
            named = printable(what)
            progress.update(task, completed=done, total=expected, what=named, words=words)

        yield show


class _Plain:
    """A line when all is done, and for each tenth of what is much."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._last = 0

    def show(self, what: str, done: int, expected: int, words: str) -> None:
        """Show how far it is."""
        share = done * _PLAIN_SHARES // expected if expected else 0
        is_much = expected >= _FEW or share >= _PLAIN_SHARES
        if not is_much or share <= self._last:
            return
        self._last = share
        self._stream.write(f"{printable(what)} {words}\n")
        self._stream.flush()
