"""One node's metrics, folded over its ranks.

A tensor- or pipeline-parallel rank repeats what the others of its replica say, so of these the
largest counts; data-parallel ranks each hold a part, so these are kept apart for the caller to add
up or compare. Where series differ in some other way, nothing is concluded: they may be those of
other engines, which a relay serves on the same page.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from monitor.nodes.exposition import Exposition, Series

REPLICATED = frozenset({"tp_rank", "pp_rank", "moe_ep_rank", "ep_rank", "attn_tp_rank", "pid"})
DATA_PARALLEL = frozenset({"dp_rank", "engine"})
_PRIORITY = "priority"
_PLACES = frozenset(
    {
        "instance",
        "job",
        "pod",
        "pod_name",
        "container",
        "namespace",
        "host",
        "hostname",
        "node",
        "node_name",
        "worker",
        "worker_id",
        "worker_url",
        "replica",
        "exported_instance",
        "engine_type",
        "model_name",
        "model",
        "name",
    }
)
_MOST = 1e18

Ranks = Mapping[str, float]
"""A value for each data-parallel rank; one without a name where there is no such rank."""


class Unclear(Exception):  # noqa: N818 - no error: the page says something, and not clearly
    """A metric is there and nothing may be concluded from it; ``why`` is our own word."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Which series of a page are meant: whose ``label``, if there is one, is of ``values``.

    With ``but`` it is those whose label is none of them.
    """

    label: str
    values: frozenset[str]
    but: bool = False

    def keeps(self, series: Series) -> bool:
        """Tell whether ``series`` is one of them."""
        return self.label not in series.labels or self.has(series)

    def has(self, series: Series) -> bool:
        """Tell whether ``series`` has the label, with one of these values."""
        value = series.labels.get(self.label)
        return value is not None and (value in self.values) is not self.but


class Scrape:
    """The metrics of one page, of the series that ``kept`` keep."""

    def __init__(self, exposition: Exposition, kept: Collection[Kept] = ()) -> None:
        self._spoilt = exposition.spoilt
        self._series = {
            name: tuple(each for each in series if all(rule.keeps(each) for rule in kept))
            for name, series in exposition.series.items()
        }

    def values_of(self, label: str) -> frozenset[str]:
        """Return every value that ``label`` has on the page."""
        every = (each for series in self._series.values() for each in series)
        return frozenset(each.labels[label] for each in every if label in each.labels)

    def series(self, name: str) -> tuple[Series, ...]:
        """Return the series of ``name``, none if it is not there; raises ``Unclear``."""
        if name in self._spoilt:
            raise Unclear("its metric has a line that cannot be read, or contradicts itself")
        return self._series.get(name, ())

    def gauge(self, *names: str) -> Ranks:
        """Return the first of ``names`` that is there, by rank; raises ``Unclear``."""
        return self._folded(names, may_add=False)

    def counter(self, *names: str, only: Kept | None = None) -> Ranks:
        """Return the first of ``names`` that is there, by rank, its parts added up.

        A counter may be split by what it counts (a reason, an outcome), and ``only`` some of it be
        asked for; raises ``Unclear``.
        """
        return self._folded(names, may_add=True, only=only)

    def _folded(self, names: Iterable[str], *, may_add: bool, only: Kept | None = None) -> Ranks:
        for name in names:
            series = _without_breakdown(self.series(name))
            if only is not None:
                series = tuple(each for each in series if only.has(each))
            if series:
                parts = _differing(series)
                if parts & _PLACES or (parts - {_PRIORITY} and not may_add):
                    raise Unclear("series of several engines, or of a kind not known, are mixed")
                return _by_rank(series, parts)
        return {}


def _without_breakdown(series: tuple[Series, ...]) -> tuple[Series, ...]:
    """Leave out the share of each priority, which the total beside them holds already."""
    totals = tuple(each for each in series if not each.labels.get(_PRIORITY))
    return totals or series


def _differing(series: tuple[Series, ...]) -> frozenset[str]:
    """Return the labels besides ranks in which ``series`` differ."""
    names = {name for each in series for name in each.labels} - REPLICATED - DATA_PARALLEL
    return frozenset(name for name in names if len({each.labels.get(name) for each in series}) > 1)


def _by_rank(series: tuple[Series, ...], parts: frozenset[str]) -> Ranks:
    largest: dict[tuple[str, tuple[str | None, ...]], float] = {}
    for each in series:
        if not 0 <= each.value <= _MOST or not math.isfinite(each.value):
            raise Unclear("its metric has a value that is no number or below zero")
        part = tuple(each.labels.get(name) for name in sorted(parts))
        key = (_rank(each), part)
        largest[key] = max(each.value, largest.get(key, 0.0))
    ranks: dict[str, float] = {}
    for (rank, _), value in largest.items():
        ranks[rank] = ranks.get(rank, 0.0) + value
    if "" in ranks and len(ranks) > 1:
        raise Unclear("its metric has series with a data-parallel rank and series without")
    return ranks


def _rank(series: Series) -> str:
    named = (series.labels[name] for name in sorted(DATA_PARALLEL) if name in series.labels)
    return "/".join(named)
