"""How often to ask each stratum, so that a day's tokens find a fault soonest. Pure.

If a fault sits in stratum i with prior p, hits a share f of its requests there, and one trial costs
c tokens, the mean time to the first hit is 1 / (f r) at a rate r. The sum of p / (f r) under a
budget on the sum of c r is least where r is proportional to sqrt(p / (c f)). Three bounds bend
that rule: a floor of one trial a day, the interval of a probe, and what the budget cannot pay at
all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

DAY_SECONDS = 86_400.0
FLOOR_A_DAY = 1.0

# Faults of serving sit at limits, under load, and in what is new.
AT_LIMIT, UNDER_LOAD, AFTER_CHANGE = 10.0, 3.0, 5.0
LOAD_MEMBERS = 12
_NEAR_LIMIT = 0.05
_HALVINGS = 60

_LENGTH = re.compile(r"(?:^|-)(\d{1,12})(k?)$")
_CONCURRENCY = re.compile(r"^c(\d{1,6})$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One stratum of one probe: what a trial costs if it is answered, and how likely it is hit.

    ``fault_rate`` is the share of its requests a fault hits there; unknown, it is the same for all.
    """

    probe: str
    stratum: str
    budget: str
    tokens: float
    prior: float = 1.0
    fault_rate: float = 1.0

    @property
    def weight(self) -> float:
        """The square-root rule's rate, but for a factor that all cells of a budget share."""
        return float((self.prior / (max(self.tokens, 1.0) * self.fault_rate)) ** 0.5)

    @property
    def dearness(self) -> float:
        """Tokens for each unit of prior: the dearest go first where not all can be paid."""
        return max(self.tokens, 1.0) / self.prior


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How often a cell is asked; 0 if the day's budget cannot pay even its floor."""

    cell: Cell
    a_day: float

    @property
    def affordable(self) -> bool:
        """True if it is asked at all."""
        return self.a_day > 0


def risk_prior(stratum: str, limits: Collection[int], *, changed: bool = False) -> float:
    """Return how much likelier a fault is here than in an ordinary stratum.

    Ten times within 5 % of a limit, three times from twelve at once on, five times for a day
    after a change of the target; factors multiply.
    """
    axes = stratum.split("/")
    prior = AFTER_CHANGE if changed else 1.0
    length = _LENGTH.search(axes[0])
    if length:
        tokens = int(length[1]) * (1024 if length[2] else 1)
        if any(abs(tokens - limit) <= _NEAR_LIMIT * limit for limit in limits):
            prior *= AT_LIMIT
    members = _CONCURRENCY.match(axes[1]) if len(axes) > 1 else None
    if members and int(members[1]) >= LOAD_MEMBERS:
        prior *= UNDER_LOAD
    return prior


def allot(
    cells: Sequence[Cell],
    budgets: Mapping[str, float],
    most_a_day: Mapping[str, float],
    *,
    reserve: float = 0.0,
) -> tuple[Rate, ...]:
    """Return the rate of each cell, in the order given.

    ``budgets`` are tokens a day by kind; ``most_a_day`` is the most trials of each probe. The
    tokens of all rates never pass a budget; the part ``reserve`` of it pays floors only. Where a
    probe may not even ask each of its cells once a day, its floor is what it may.
    """
    held = tuple(sorted(budgets.items())), tuple(sorted(most_a_day.items()))
    return _allot(tuple(cells), *held, reserve)


@lru_cache(maxsize=64)
def _allot(
    cells: tuple[Cell, ...],
    budget_items: tuple[tuple[str, float], ...],
    most_items: tuple[tuple[str, float], ...],
    reserve: float,
) -> tuple[Rate, ...]:
    """Do it once for all targets that are alike."""
    budgets, most_a_day = dict(budget_items), dict(most_items)
    floors = _floors(cells, most_a_day)
    rates: dict[Cell, float] = {}
    for kind in dict.fromkeys(cell.budget for cell in cells):
        own = [cell for cell in cells if cell.budget == kind]
        budget = budgets.get(kind, 0.0)
        kept = _affordable(own, floors, budget)
        least = sum(cell.tokens * floors[cell] for cell in kept)
        usual = max(least, budget * (1 - reserve))
        rates |= _share(kept, floors, usual, _tops(kept, cells, most_a_day))
    return tuple(Rate(cell=cell, a_day=rates.get(cell, 0.0)) for cell in cells)


def _floors(cells: Sequence[Cell], most_a_day: Mapping[str, float]) -> dict[Cell, float]:
    count = {cell.probe: 0 for cell in cells}
    for cell in cells:
        count[cell.probe] += 1
    return {c: min(FLOOR_A_DAY, most_a_day[c.probe] / count[c.probe]) for c in cells}


def _affordable(
    cells: Sequence[Cell], floors: Mapping[Cell, float], budget: float
) -> tuple[Cell, ...]:
    """Keep the floors of the cheapest for their prior, as many as the budget pays."""
    kept: set[Cell] = set()
    left = budget
    for cell in sorted(cells, key=lambda each: (each.dearness, each.probe, each.stratum)):
        cost = cell.tokens * floors[cell]
        if cost <= left and cell.tokens <= budget:
            kept.add(cell)
            left -= cost
    return tuple(cell for cell in cells if cell in kept)


def _tops(
    kept: Sequence[Cell], cells: Sequence[Cell], most_a_day: Mapping[str, float]
) -> dict[str, float]:
    """Return what each probe's interval leaves for the cells that are kept of this budget."""
    tops: dict[str, float] = {}
    for cell in kept:
        every = [each for each in cells if each.probe == cell.probe]
        own = [each for each in every if each.budget == cell.budget]
        tops[cell.probe] = most_a_day[cell.probe] * len(own) / len(every)
    return tops


def _share(
    cells: Sequence[Cell],
    floors: Mapping[Cell, float],
    budget: float,
    tops: Mapping[str, float],
) -> dict[Cell, float]:
    """Raise all cells together by the square-root rule, each probe until its interval binds."""
    if not cells:
        return {}
    by_probe = sorted(cells, key=lambda each: each.probe)
    groups = {name: tuple(found) for name, found in groupby(by_probe, lambda each: each.probe)}
    highest = max(max(tops.values()) / cell.weight for cell in cells)

    def rate(cell: Cell, level: float) -> float:
        return max(floors[cell], level * cell.weight)

    def trials(group: Sequence[Cell]) -> Callable[[float], float]:
        return lambda level: sum(rate(cell, level) for cell in group)

    levels = {name: _largest(trials(own), tops[name], highest) for name, own in groups.items()}

    def cost(level: float) -> float:
        return sum(cell.tokens * rate(cell, min(level, levels[cell.probe])) for cell in cells)

    common = _largest(cost, budget, highest)
    return {cell: rate(cell, min(common, levels[cell.probe])) for cell in cells}


def _largest(grows: Callable[[float], float], bound: float, highest: float) -> float:
    """Return the largest level, at most ``highest``, at which ``grows`` is within ``bound``."""
    if grows(highest) <= bound:
        return highest
    low, high = 0.0, highest
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if grows(middle) <= bound else (low, middle)
    return low
