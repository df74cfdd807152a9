"""What an OpenTelemetry collector is told: spans, evaluation results and metrics, never text."""

from monitor.telemetry.opening import telemetry_sink
from monitor.telemetry.sink import TelemetrySink

__all__ = ["TelemetrySink", "telemetry_sink"]
