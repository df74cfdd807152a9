"""Counts what an OpenTelemetry collector is told."""

from __future__ import annotations

from prometheus_client import CollectorRegistry

from monitor.conventions.telemetry import TELEMETRY, TelemetryKind, TelemetryResult
from monitor.sinks.table import Table

_COLUMNS = [(kind.value, result.value) for kind in TelemetryKind for result in TelemetryResult]


class TelemetryCounter:
    """Counts in a registry it is given; ``env`` is a label of every series."""

    def __init__(self, registry: CollectorRegistry, env: str) -> None:
        self._env = env
        self._records = Table(TELEMETRY, registry, _COLUMNS)
        self._records.initialise((env,))

    def count(self, kind: TelemetryKind, result: TelemetryResult, number: int) -> None:
        """Count what came to this."""
        self._records.add((self._env,), (kind.value, result.value), number)
