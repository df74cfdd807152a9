"""The metric of what an OpenTelemetry collector is told."""

from __future__ import annotations

from enum import StrEnum

from monitor.conventions.metric import L, counter


class TelemetryKind(StrEnum):
    """What an OpenTelemetry collector is told."""

    SPANS = "spans"
    EVENTS = "events"
    METRICS = "metrics"


class TelemetryResult(StrEnum):
    """What became of it: the collector took it, did not take it, or there was no room to wait."""

    SENT = "sent"
    FAILED = "failed"
    DROPPED = "dropped"


TELEMETRY = counter(
    "telemetry_records_total",
    "Spans, events and reports of metrics for the OpenTelemetry collector, by what became of them.",
    *(L.ENV, L.KIND, L.RESULT),
)
