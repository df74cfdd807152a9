"""Sinks: who is told of a verdict."""

from monitor.sinks.base import Sink
from monitor.sinks.bodies import BodySink, sealer_of
from monitor.sinks.clickhouse import ClickHouseSink
from monitor.sinks.health import Blindness, HealthCollector
from monitor.sinks.holding import HoldingSink
from monitor.sinks.log import LogSink
from monitor.sinks.prometheus import PrometheusSink, Stream
from monitor.sinks.telemetry import TelemetryCounter

__all__ = [
    "Blindness",
    "BodySink",
    "ClickHouseSink",
    "HealthCollector",
    "HoldingSink",
    "LogSink",
    "PrometheusSink",
    "Sink",
    "Stream",
    "TelemetryCounter",
    "sealer_of",
]
