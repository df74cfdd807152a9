"""What a mechanism is: a name, a sentence, parameters, and the step it changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random

from monitor.lab.draws import Between, Draw, one_of
from monitor.lab.settings import TENANTS
from monitor.lab.steps import Steps
from monitor.lab.trigger import COMMON, Trigger, Value

__all__ = ["Install", "Mechanism", "Trigger", "Value"]

Install = Callable[[Steps, Mapping[str, Value], Trigger], Steps]
# What shows a mechanism: the answers, or only what the nodes say of themselves.
ANSWERS, NODES = "answers", "nodes"
# Three labs in four strike every tenant.
_DRAWN_TENANTS = one_of(*("",) * 9, *TENANTS)
_DRAWN_ONSET = Between(0, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """One fault, or one null: a peculiarity that is no fault.

    ``install`` returns the steps with one of them changed; it asks the trigger whether a request
    that meets the condition is struck, and thereby gets ``rate``, ``onset`` and ``tenant`` without
    a word. ``settings`` are the sizes and the mode under which the mechanism can happen at all;
    explicit options win over them. ``choices`` are the only values of a parameter that is a word.

    ``ranges`` are what ``--draw`` draws parameters from, ``lab_ranges`` those of the lab's sizes.
    ``shown_by`` says what shows it: the answers, or first and mostly the nodes' own ports.

    A ``deterministic`` mechanism strikes whatever meets its condition, from the first request on.
    """

    name: str
    sentence: str
    install: Install
    null: bool = False
    shown_by: str = ANSWERS
    deterministic: bool = False
    params: Mapping[str, Value] = field(default_factory=dict)
    settings: Mapping[str, Value] = field(default_factory=dict)
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ranges: Mapping[str, Draw] = field(default_factory=dict)
    lab_ranges: Mapping[str, Draw] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Add the parameters common to all to the own ones."""
        object.__setattr__(self, "params", {**COMMON, **self.params})

    def drawn_from(self) -> Mapping[str, Draw]:
        """Return the range of every parameter that is drawn."""
        if self.deterministic:
            return self.ranges
        return {"onset": _DRAWN_ONSET, "tenant": _DRAWN_TENANTS, **self.ranges}

    def draw(self, seed: int) -> Mapping[str, Value]:
        """Return drawn parameters: each a function of seed, mechanism and parameter only."""
        return drawn(seed, self.name, self.drawn_from())

    def draw_settings(self, seed: int) -> Mapping[str, Value]:
        """Return drawn sizes of the lab."""
        return drawn(seed, self.name, self.lab_ranges)


def drawn(seed: int, name: str, ranges: Mapping[str, Draw]) -> Mapping[str, Value]:
    """Return a value of each range, each from a generator of its own."""
    return {
        param: each.draw(Random(f"{seed}/{name}/{param}/draw")) for param, each in ranges.items()
    }
