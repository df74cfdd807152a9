"""Ranges that parameters are drawn from, each from a generator of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random
from typing import Protocol

from monitor.lab.trigger import Value

# Whole numbers and shares that read well: no range of ours needs more digits.
_DIGITS = 4


class Draw(Protocol):
    """Something that gives a value of a parameter."""

    def draw(self, rng: Random) -> Value:
        """Return a value."""


@dataclass(frozen=True, slots=True)
class Between:
    """A whole number between two bounds if both are whole, else any number; bounds included."""

    low: float
    high: float

    def draw(self, rng: Random) -> Value:
        """Return a value, every one as likely."""
        if isinstance(self.low, int) and isinstance(self.high, int):
            return rng.randint(self.low, self.high)
        return round(rng.uniform(self.low, self.high), _DIGITS)

    def __str__(self) -> str:
        """Return the bounds."""
        return f"{self.low} to {self.high}"


@dataclass(frozen=True, slots=True)
class Spread:
    """A number between two bounds, every order of size as likely."""

    low: float
    high: float

    def draw(self, rng: Random) -> Value:
        """Return a value."""
        logarithm = rng.uniform(math.log(self.low), math.log(self.high))
        return round(math.exp(logarithm), _DIGITS)

    def __str__(self) -> str:
        """Return the bounds."""
        return f"{self.low} to {self.high}, by size"


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of some values."""

    values: tuple[Value, ...]

    def draw(self, rng: Random) -> Value:
        """Return a value, every one as likely."""
        return rng.choice(self.values)

    def __str__(self) -> str:
        """Return the values."""
        return ", ".join(dict.fromkeys(str(value) or "all" for value in self.values))


def one_of(*values: Value) -> OneOf:
    """Return the range of these values."""
    return OneOf(values)
