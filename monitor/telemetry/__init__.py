"""What an OpenTelemetry collector is told: spans, evaluation results and metrics, never text."""

from monitor.telemetry.opening import exporter_of, kinds_of, telemetry_sink
from monitor.telemetry.sink import TelemetrySink

__all__ = ["TelemetrySink", "exporter_of", "kinds_of", "telemetry_sink"]
