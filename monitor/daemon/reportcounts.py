"""Metrics of weekly reports: what failed, and what is owed, read off the folder at each scrape.

So a week that nothing builds any more is missed all the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter
from prometheus_client.core import Metric

from monitor.clock import Clock
from monitor.conventions import reports as names
from monitor.conventions.families import family_of
from monitor.conventions.reports import ReportFailure
from monitor.weekly.schedule import ReportSchedule


class ReportCounters:
    """A collector that registers itself; every series of it is there from the start."""

    def __init__(
        self,
        registry: CollectorRegistry,
        environment: str,
        schedule: ReportSchedule,
        clock: Clock,
    ) -> None:
        self._environment = environment
        self._schedule = schedule
        self._clock = clock
        failures = names.REPORT_FAILURES
        self._failures = Counter(failures.name, failures.help, failures.labels, registry=registry)
        for kind in ReportFailure:
            self._failures.labels(environment, kind.value)
        registry.register(self)

    def count(self, kind: ReportFailure) -> None:
        """Count what failed."""
        self._failures.labels(self._environment, kind.value).inc()

    def collect(self) -> Iterator[Metric]:
        """Return what is owed now."""
        now = self._clock.now()
        newest = self._schedule.newest_due_at(now)
        said = {
            names.REPORT_NEWEST_DUE: 0.0 if newest is None else newest.timestamp(),
            names.REPORTS_MISSING: len(self._schedule.missing(now)),
            names.REPORTS_UNTOLD: len(self._schedule.untold(now)),
        }
        for metric, value in said.items():
            family = family_of(metric)
            family.add_metric((self._environment,), value)
            yield family
