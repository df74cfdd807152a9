"""Counters and gauges of many series in little memory.

A thousand targets have a million series at zero. prometheus_client keeps an object with a lock of
its own for each, about a kilobyte; here all series that differ only in a fixed list of label
values (outcome and class, say) are one row of numbers.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterator, Sequence

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.core import Metric as Family

from monitor.conventions.metric import Metric, MetricKind

Labels = tuple[str, ...]


class Table:
    """One metric. A series is a row (its first labels) and a column (the last ones, from a list).

    Without ``columns`` every row is one series. Safe from several threads.
    """

    def __init__(
        self, metric: Metric, registry: CollectorRegistry, columns: Sequence[Labels] = ((),)
    ) -> None:
        self._metric = metric
        self._columns = tuple(columns)
        self._place = {column: number for number, column in enumerate(self._columns)}
        self._rows: dict[Labels, array[float]] = {}
        self._lock = threading.Lock()
        registry.register(self)

    def initialise(self, row: Labels) -> None:
        """Make the series of a row, at 0."""
        with self._lock:
            self._row(row)

    def add(self, row: Labels, column: Labels = (), amount: float = 1.0) -> None:
        """Add to a series."""
        with self._lock:
            self._row(row)[self._place[column]] += amount

    def set(self, row: Labels, value: float, column: Labels = ()) -> None:
        """Set a series."""
        with self._lock:
            self._row(row)[self._place[column]] = value

    def collect(self) -> Iterator[Family]:
        """Return the family as it stands now."""
        kind = CounterMetricFamily if self._metric.kind is MetricKind.COUNTER else GaugeMetricFamily
        family = kind(self._metric.name, self._metric.help, labels=self._metric.labels)
        with self._lock:
            rows = [(row, tuple(values)) for row, values in self._rows.items()]
        for row, values in rows:
            for column, value in zip(self._columns, values, strict=True):
                family.add_metric((*row, *column), value)
        yield family

    def _row(self, row: Labels) -> array[float]:
        found = self._rows.get(row)
        if found is None:
            found = self._rows[row] = array("d", bytes(8 * len(self._columns)))
        return found
