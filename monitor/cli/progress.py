"""Progress of a pass on stderr: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from monitor.checking import Step
from monitor.reports.terminal import printable

_PLAIN_EVERY = 10


class Shown(Protocol):
    """Something that shows progress."""

    def step(self, step: Step) -> None:
        """Show one step."""

    def words(self, target: str, words: str, done: int, total: int) -> None:
        """Show one step given in words (through the daemon)."""


@contextmanager
def show_progress(stream: TextIO, *, quiet: bool) -> Iterator[Shown]:
    """Give something to report steps to; nothing is shown if ``quiet``."""
    if quiet:
        yield _Plain(None)
    elif stream.isatty():
        with _bar(stream) as bar:
            yield bar
    else:
        yield _Plain(stream)


class _Plain:
    """One line every few steps and for every step that is not good."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def step(self, step: Step) -> None:
        self.words(step.target, step.words, step.done, step.total)

    def words(self, target: str, words: str, done: int, total: int) -> None:
        plain_good = words.endswith(": good")
        if self._stream is None or (plain_good and done % _PLAIN_EVERY and done != total):
            return
        self._stream.write(printable(f"{target} {done}/{total} {words}") + "\n")
        self._stream.flush()


@contextmanager
def _bar(stream: TextIO) -> Iterator[Shown]:
    console = Console(file=stream, markup=False, highlight=False)
    columns = (
        TextColumn("{task.fields[target]}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[words]}", markup=False),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        yield _Bar(progress)


class _Bar:
    """One bar a target."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def step(self, step: Step) -> None:
        self.words(step.target, step.words, step.done, step.total)

    def words(self, target: str, words: str, done: int, total: int) -> None:
        if target not in self._tasks:
            self._tasks[target] = self._progress.add_task("", target=target, words="")
        task = self._tasks[target]
        self._progress.update(task, completed=done, total=total, words=printable(words))
