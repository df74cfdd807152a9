"""Reading a node's metrics as facts: what is unclear or missing becomes a gap."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from monitor.nodes.exposition import Exposition, Series
from monitor.nodes.pages import METRICS, NodePages
from monitor.nodes.readers.base import Gaps, count, model_name, share
from monitor.nodes.scrape import Kept, Ranks, Scrape, Unclear

STARTED = "process_start_time_seconds"
_ABSENT = f"{METRICS} has no such metric; some engines show one only after its first event"

Counted = tuple[str, ...]
"""The names of one metric by version, newest first, without the engine's prefix."""


async def exposed(pages: NodePages, *, wanted: Collection[str], prefix: str) -> Exposition | None:
    """Return the wanted metrics of a node's page, ``None`` if it has none."""
    return await pages.exposition(wanted={*wanted, STARTED}, prefix=prefix)


def own_models(scrape: Scrape, models: Collection[str]) -> tuple[Kept, ...]:
    """Return what keeps the series of a node's own models, where a page has those of others."""
    names = scrape.values_of("model_name")
    own = frozenset(name for name in names if model_name(name) in models)
    return (Kept(label="model_name", values=own),) if len(names) > 1 and own else ()


class Meter:
    """Facts from a node's metrics.

    Without a page every fact is ``None``, and one gap says so.
    """

    def __init__(
        self, exposition: Exposition | None, *, gaps: Gaps, kept: Collection[Kept] = (), why: str
    ) -> None:
        self._gaps = gaps
        self._scrape = Scrape(exposition or Exposition(), kept)
        self.served = exposition is not None
        if not self.served:
            gaps.add("metrics", why)

    def gauge(
        self, fact: str, names: Counted, fold: Callable[[Iterable[float]], float]
    ) -> float | None:
        """Return a gauge, its data-parallel ranks folded by ``fold``."""
        return self._folded(fact, lambda: self._scrape.gauge(*names), fold)

    def counter(self, fact: str, names: Counted, only: Kept | None = None) -> float | None:
        """Return a counter over all ranks, ``only`` a part of it if that is given."""
        return self._folded(fact, lambda: self._scrape.counter(*names, only=only), sum)

    def together(self, fact: str, metrics: Iterable[Counted]) -> float | None:
        """Return several metrics added up, of those that are there; none if one is unclear."""
        try:
            every = [self._scrape.counter(*names) for names in metrics]
        except Unclear as unclear:
            self._gaps.add(fact, unclear.why)
            return None
        values = [value for ranks in every for value in ranks.values()]
        return sum(values) if values else None

    def amount(self, fact: str, names: Counted) -> int | None:
        """Return a whole number over all ranks, such as tokens or requests."""
        value = self.gauge(fact, names, sum)
        whole = count(value)
        if value is not None and whole is None:
            self._gaps.add(fact, "its metric is no whole number")
        return whole

    def ratio(
        self, fact: str, names: Counted, fold: Callable[[Iterable[float]], float] = max
    ) -> float | None:
        """Return a share from 0 to 1, of the rank that ``fold`` takes."""
        value = self.gauge(fact, names, fold)
        if value is not None and share(value) is None:
            self._gaps.add(fact, "its metric is above one")
        return share(value)

    def ranks(self, names: Counted) -> Ranks:
        """Return a gauge by rank; none where it is missing or unclear."""
        try:
            return self._scrape.gauge(*names)
        except Unclear:
            return {}

    def missing(self, fact: str, why: str = _ABSENT) -> None:
        """Note that ``fact`` should be among the metrics, if there are any."""
        if self.served:
            self._gaps.add(fact, why)

    def described(self, fact: str, name: str) -> tuple[Series, ...]:
        """Return the series of a metric whose labels are what it says."""
        try:
            return self._scrape.series(name)
        except Unclear as unclear:
            self._gaps.add(fact, unclear.why)
            return ()

    def started(self) -> float | None:
        """Return when the process began, in seconds since 1970."""
        return self.gauge("started_seconds", (STARTED,), max)

    def _folded(
        self, fact: str, ranks: Callable[[], Ranks], fold: Callable[[Iterable[float]], float]
    ) -> float | None:
        try:
            values = ranks()
        except Unclear as unclear:
            self._gaps.add(fact, unclear.why)
            return None
        return fold(values.values()) if values else None
