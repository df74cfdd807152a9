"""Which stratum is next: each in turn by its share, as evenly as whole trials allow. Pure.

Every step gives each stratum its share of a trial; of those that are owed something, the one goes
first that would soonest be owed a whole trial. One that runs a little ahead waits. So none is ever
a whole trial ahead of its share or behind it (the scheme is that of proportionate fairness:
Baruah, Cohen, Plaxton and Varvel, 1996).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

_ROUNDING = 1e-9


class Shares:
    """The turns of one probe's strata. What a stratum is owed outlives a change of the rates."""

    __slots__ = ("_owed", "_share")

    def __init__(self, rates: Mapping[str, float]) -> None:
        self._owed: dict[str, float] = {}
        self._share: dict[str, float] = {}
        self.reweigh(rates)

    def reweigh(self, rates: Mapping[str, float]) -> None:
        """Follow other rates from now on; strata without one are dropped."""
        asked = {stratum: rate for stratum, rate in rates.items() if rate > 0}
        total = sum(asked.values())
        self._share = {stratum: rate / total for stratum, rate in asked.items()}
        self._owed = {stratum: self._owed.get(stratum, 0.0) for stratum in asked}

    def strata(self) -> tuple[str, ...]:
        """Return the strata that have turns."""
        return tuple(self._share)

    def take(self, present: Collection[str] | None = None) -> str | None:
        """Return whose turn it is, among ``present`` if given; ``None`` if nobody's."""
        for stratum, share in self._share.items():
            self._owed[stratum] += share
        able = [each for each in self._share if present is None or each in present]
        if not able:
            return None
        due = [each for each in able if self._owed[each] > _ROUNDING] or able
        chosen = min(due, key=lambda each: ((1 - self._owed[each]) / self._share[each], each))
        self._owed[chosen] -= 1
        return chosen

    def give_back(self, stratum: str) -> None:
        """Take a turn back that could not be used: the stratum is owed it again."""
        if stratum in self._owed:
            self._owed[stratum] += 1
