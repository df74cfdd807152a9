"""Metrics of pages: attempts by what became of them, and what waits in the outbox."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, Counter
from prometheus_client.core import Metric

from monitor.clock import Clock
from monitor.conventions import pages as names
from monitor.conventions.families import family_of
from monitor.conventions.pages import PageAction, PageOutcome
from monitor.errors import StoreError
from monitor.paging.outbox import Event, Outbox


class PageCounters:
    """A collector that registers itself; every series of these receivers is there from the start.

    While the outbox cannot be read, what waits in it or is unsaid is absent, not 0.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        environment: str,
        receivers: Iterable[str],
        outbox: Outbox,
        clock: Clock,
    ) -> None:
        self._environment = environment
        self._outbox = outbox
        self._clock = clock
        self._pages = Counter(
            names.PAGES.name, names.PAGES.help, names.PAGES.labels, registry=registry
        )
        self._receivers = tuple(receivers)
        for receiver in self._receivers:
            for action in PageAction:
                for outcome in PageOutcome:
                    self._pages.labels(environment, receiver, action.value, outcome.value)
        registry.register(self)

    def count(self, receiver: str, event: Event, outcome: PageOutcome) -> None:
        """Count an attempt."""
        self._pages.labels(self._environment, receiver, event.action.value, outcome.value).inc()

    def collect(self) -> Iterator[Metric]:
        """Return what waits and what is unsaid now."""
        events = family_of(names.PAGE_OUTBOX_EVENTS)
        age = family_of(names.PAGE_OUTBOX_AGE)
        unsaid = family_of(names.PAGE_INCIDENTS_UNSAID)
        try:
            waiting, rejected = self._outbox.waiting(), self._outbox.rejected()
        except StoreError:
            yield from (events, age, unsaid)
            return
        seconds = 0.0
        if waiting.oldest is not None:
            seconds = max(0.0, (self._clock.now() - waiting.oldest).total_seconds())
        events.add_metric((self._environment,), waiting.events)
        age.add_metric((self._environment,), seconds)
        for receiver in self._receivers:
            unsaid.add_metric((self._environment, receiver), rejected.get(receiver, 0))
        yield from (events, age, unsaid)
