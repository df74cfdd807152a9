"""The axes of a stratum: which strata differ from one in a single axis, and in what order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

# A line of so many values is asked one by one; a longer one is halved again and again.
_FEW = 3


class Axis(StrEnum):
    """What a stratum is a cell of, in the order of its id."""

    LENGTH = "length"
    CONCURRENCY = "concurrency"
    CACHE = "cache"
    TRANSPORT = "transport"
    TENANTS = "tenants"


# Where less of it is a smaller prompt, or fewer at once: a fault may begin somewhere along it.
GRADED = (Axis.LENGTH, Axis.CONCURRENCY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A stratum that differs from another in one axis only, where it has this value."""

    axis: Axis
    value: str
    stratum: str


def cell_of(stratum: str) -> dict[Axis, str] | None:
    """Return the values of a stratum by axis, or ``None`` for an id of another form."""
    parts = stratum.split("/")
    return dict(zip(Axis, parts, strict=True)) if len(parts) == len(Axis) else None


def neighbours(stratum: str, tokens: Mapping[str, int]) -> dict[Axis, list[Neighbour]]:
    """Return the strata that differ from this one in a single axis, for each axis.

    ``tokens`` are the strata that can be asked, with what a trial of each costs: the cheapest of
    an axis comes first.
    """
    found: dict[Axis, list[Neighbour]] = {axis: [] for axis in Axis}
    here = cell_of(stratum)
    if here is None:
        return found
    for other in sorted(tokens, key=lambda name: (tokens[name], name)):
        cell = cell_of(other)
        if cell is None:
            continue
        differing = [axis for axis in Axis if cell[axis] != here[axis]]
        if len(differing) == 1:
            (axis,) = differing
            found[axis].append(Neighbour(axis=axis, value=cell[axis], stratum=other))
    return found


def is_halved(axis: Axis, line: list[Neighbour]) -> bool:
    """True if it is searched where along a line a fault begins, instead of asking all of it."""
    return axis in GRADED and len(line) > _FEW
