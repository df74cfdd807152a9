"""Instruments that do what an answer says: for tests of who runs instruments.

They are built in the worker process, by the name of this module.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from monitor.errors import InstrumentError
from monitor.scoring.base import Asked, InstrumentKind, Reading, Skipped

HERE = "tests.fakes.instruments"


class OddError(Exception):
    """What no list of errors names."""


_HELD: list[bytes] = []


class Obedient:
    """Reads numbers off answers that name them, and misbehaves where an answer says so."""

    def measure(self, asked: Sequence[Asked]) -> list[Reading]:
        self._together = len(asked)
        return [self._reading(each.answer) for each in asked]

    def _reading(self, answer: str) -> Reading:
        word, _, rest = answer.partition(" ")
        numbers: dict[str, Callable[[], float]] = {
            "pid": os.getpid,
            "together": lambda: self._together,
            "length": lambda: len(rest),
            "nice": lambda: os.nice(0),
            "environment": lambda: rest in os.environ,
            "loaded": lambda: rest in sys.modules,
        }
        if word == "skip":
            return Skipped("does not apply")
        _misbehave(word, rest)
        return float(numbers[word]()) if word in numbers else 0.0


def _misbehave(word: str, rest: str) -> None:
    match word:
        case "hang":  # in C, with the interpreter's lock held, as a bad pattern does
            if rest:  # a named pipe in which to say so first
                Path(rest).write_text("now", "utf-8")
            re.fullmatch(r"(a+)+", "a" * 64 + "b")
        case "wait":  # until somebody writes into this named pipe
            Path(rest).read_text("utf-8")
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "grow":  # by so many bytes, and keep them
            _HELD.append(os.urandom(1 << 20) * (int(rest) >> 20))
        case "raise":
            raise ValueError(rest)
        case "raise_odd":
            raise OddError(rest)


def obedient(settings: Mapping[str, Any]) -> Obedient:
    """Build one that does as it is told."""
    return Obedient()


def missing(settings: Mapping[str, Any]) -> Obedient:
    """Count the call in a file and fail as an instrument whose file is missing."""
    _count(settings)
    raise InstrumentError("/models/none is missing (put it there)")


def deadly(settings: Mapping[str, Any]) -> Obedient:
    """Count the call in a file and die as something that eats all memory does."""
    _count(settings)
    os.kill(os.getpid(), signal.SIGKILL)
    return Obedient()


def _count(settings: Mapping[str, Any]) -> None:
    with Path(settings["count"]).open("a", encoding="utf-8") as file:
        file.write("x")


def a_kind(build: str = "obedient") -> InstrumentKind:
    """Return the kind of one of these."""
    return InstrumentKind(module=HERE, build=build, needs=lambda _: {})
