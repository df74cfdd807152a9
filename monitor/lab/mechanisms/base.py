"""What a mechanism is: a name, a sentence, parameters, and the step it changes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random

from monitor.lab.steps import Steps

Value = bool | int | float | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """Randomness of one mechanism: a function of seed, mechanism and request number only."""

    seed: int
    name: str

    def hits(self, number: int, rate: float) -> bool:
        """Return whether this request is among the struck ones."""
        return self.rng(number).random() < rate

    def rng(self, number: int) -> Random:
        """Return the generator of one request."""
        text = f"{self.seed}/{self.name}/{number}".encode()
        return Random(int.from_bytes(hashlib.sha256(text).digest()[:8], "big"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """One fault, or one null: a peculiarity that is no fault.

    ``install`` returns the steps with one of them changed. ``settings`` are the sizes and the
    mode under which the mechanism can happen at all; explicit options win over them. ``choices``
    are the only values of a parameter that is a word.
    """

    name: str
    sentence: str
    install: Callable[[Steps, Mapping[str, Value], Chance], Steps]
    null: bool = False
    params: Mapping[str, Value] = field(default_factory=dict)
    settings: Mapping[str, Value] = field(default_factory=dict)
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
