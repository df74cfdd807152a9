"""The errors Davylamp raises, classed by what the caller does about them.

DavylampError
├── ConfigError        the user mends a file; the command exits 2
│   └── PromptError    the same, for a golden-prompt suite
├── UsageError         the user mends the command line; the command exits 2
├── UnsureError        it could not be told; the command exits 3
├── StoreError         the store cannot be opened, read or written
│   └── StoreBusyError another process owns the embedded store
├── ProbeError         a probe could not be carried out; caught in one place, becomes ``invalid``
└── InstrumentError    an instrument cannot be loaded; what it should measure is ``broken``

What a *target* does wrong is never an exception: it is a ``Failure`` record.
"""

from __future__ import annotations

from pathlib import Path


class DavylampError(Exception):
    """Any error with a message written for the person who must act on it."""


class UsageError(DavylampError):
    """The command line asks for something that cannot be done."""


class UnsureError(DavylampError):
    """What was asked for could not be told, and nothing about the command line is wrong."""


class ConfigError(DavylampError):
    """A configuration file is wrong.

    Promises a one-line message that names file, line, YAML path and remedy, in that order:
    ``davylamp.yaml:7: targets[0].engine: unknown engine 'opnai' (use one of: openai)``.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: Path | str,
        line: int | None = None,
        path: str | None = None,
        remedy: str | None = None,
    ) -> None:
        self.problem = problem
        self.file = str(file)
        self.line = line
        self.path = path
        self.remedy = remedy
        super().__init__(self._render())

    def _render(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        where = f"{self.path}: " if self.path else ""
        remedy = f" ({self.remedy})" if self.remedy else ""
        return f"{place}: {where}{self.problem}{remedy}"


class PromptError(ConfigError):
    """A golden-prompt suite is wrong."""


class StoreError(DavylampError):
    """The store cannot be opened, read or written."""


class StoreBusyError(StoreError):
    """Another process owns the embedded store at this path."""


class ProbeError(DavylampError):
    """A probe could not build or send what it planned; the trial becomes ``invalid``."""


class InstrumentError(DavylampError):
    """An instrument cannot be loaded; the message says what is missing where, and the remedy."""
