"""A metric as a family of samples, for collectors that are asked at every scrape."""

from __future__ import annotations

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from monitor.conventions.metric import Metric, MetricKind

Family = CounterMetricFamily | GaugeMetricFamily


def family_of(metric: Metric) -> Family:
    """Return the empty family of a counter or a gauge; ``ValueError`` for any other kind."""
    if metric.kind is MetricKind.COUNTER:
        return CounterMetricFamily(metric.name, metric.help, labels=metric.labels)
    if metric.kind is MetricKind.GAUGE:
        return GaugeMetricFamily(metric.name, metric.help, labels=metric.labels)
    raise ValueError(f"{metric.name} is a {metric.kind.value}, which no collector gives")
