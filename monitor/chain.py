"""What a link of the audit chain is hashed as, and how far back a link points.

It needs no key and no store: whoever has the links can follow them.
"""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")

# Stands in what is hashed, so that a chain of another form cannot be taken for this one.
FORM = "davylamp-audit-1"


class Link(Protocol):
    """Everything that a link says. ``at`` is written as ``instant_text`` writes it."""

    @property
    def seq(self) -> int:
        """Its number, from 1 on."""

    @property
    def actor(self) -> str:
        """Who did it."""

    @property
    def action(self) -> str:
        """What was done."""

    @property
    def object(self) -> str:
        """To what it was done."""

    @property
    def details(self) -> str:
        """JSON of codes, names and numbers."""

    @property
    def previous(self) -> str:
        """The hash of the link before, empty for the first."""


def hash_of(link: Link, at: str) -> str:
    """Return the SHA-256 of everything in a link but its hash, as hex digits."""
    said = [FORM, link.seq, at, link.actor, link.action, link.object, link.details, link.previous]
    text = json.dumps(said, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def instant_text(instant: datetime) -> str:
    """Return an instant in UTC and whole milliseconds: ``2026-11-02T12:30:17.250Z``."""
    utc = instant.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z"


def jump_of(number: int) -> int:
    """Return the number of the link that this one points to over the one before; 0 if to none.

    Going back from any link to any other by these takes a number of steps that grows with the
    square of the logarithm, not with the length of the chain.
    """
    jump = number & (number - 1)
    return 0 if jump == number - 1 else jump


def leads_to(number: int) -> tuple[int, ...]:
    """Return the numbers of the links that those after this one may point to, in order."""
    numbers: list[int] = []
    while number:
        numbers.append(number)
        number &= number - 1
    return tuple(reversed(numbers))


class Jumps(Generic[T]):
    """What is known of the links that later ones may point to: no more than the logarithm of them.

    They are put in the order of their numbers.
    """

    def __init__(self) -> None:
        self._known: list[tuple[int, T]] = []

    def put(self, number: int, what: T) -> None:
        """Remember a link; those that none after it points to are forgotten."""
        while self._known and not _leads(self._known[-1][0], number):
            self._known.pop()
        self._known.append((number, what))

    def get(self, number: int) -> T | None:
        """Return what is known of a link."""
        return next((what for known, what in reversed(self._known) if known == number), None)


def _leads(number: int, later: int) -> bool:
    lowest_bit = number & -number
    return later & -lowest_bit == number
