"""From the section ``telemetry`` to a sink that sends."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from monitor.clock import Clock
from monitor.config import Config, resolve_secret
from monitor.config.telemetry import MOST_SECONDS, Otlp, Telemetry
from monitor.conventions.telemetry import TelemetryKind
from monitor.errors import ConfigError, UsageError
from monitor.http import origin_of
from monitor.store import EvidenceHasher
from monitor.telemetry.describing import Describing
from monitor.telemetry.names import NAMES
from monitor.telemetry.otlp import Collector, Origin, OtlpExporter
from monitor.telemetry.records import Served
from monitor.telemetry.sink import Count, TelemetrySink

_OFF = "OTEL_SDK_DISABLED"


def telemetry_sink(
    config: Config,
    telemetry: Telemetry,
    hasher: EvidenceHasher,
    clock: Clock,
    instance: str,
    count: Count,
) -> TelemetrySink:
    """Return a sink that tells the configured collector; it sends until it is closed.

    ``instance`` names this run of Davylamp. Nobody looks whether there is a collector. Raises
    ``ConfigError`` for a missing credential or certificate, ``UsageError`` if OpenTelemetry's SDK
    is switched off by its environment variable.
    """
    exporter = exporter_of(config, telemetry, instance)
    served = {target.name: _served(target.engine, target.base_url) for target in config.targets}
    sink = TelemetrySink(
        exporter,
        Describing(NAMES[telemetry.semconv], served, hasher),
        kinds=frozenset(kinds_of(telemetry)),
        clock=clock,
        count=count,
    )
    sink.start()
    return sink


def exporter_of(
    config: Config,
    telemetry: Telemetry,
    instance: str,
    *,
    environ: Mapping[str, str] | None = None,
    most_seconds: float = MOST_SECONDS,
) -> OtlpExporter:
    """Return what sends to the configured collector, waiting ``most_seconds`` for it at most.

    Raises as ``telemetry_sink`` does.
    """
    if (os.environ if environ is None else environ).get(_OFF, "").strip().lower() == "true":
        raise UsageError(
            f"{_OFF} is set, so nothing would be told (unset it, or remove telemetry from "
            f"{config.file.name})"
        )
    return OtlpExporter(
        _collector(config, telemetry.otlp, environ, most_seconds),
        Origin(environment=config.environment, instance=instance),
        NAMES[telemetry.semconv],
    )


def kinds_of(telemetry: Telemetry) -> Iterator[TelemetryKind]:
    """Yield what the collector is told."""
    if telemetry.traces:
        yield TelemetryKind.SPANS
    if telemetry.events:
        yield TelemetryKind.EVENTS
    if telemetry.metrics:
        yield TelemetryKind.METRICS


def _collector(
    config: Config, otlp: Otlp, environ: Mapping[str, str] | None, most_seconds: float
) -> Collector:
    headers = {name: resolve_secret(ref, environ) for name, ref in otlp.header_refs().items()}
    if otlp.token is not None:
        headers["Authorization"] = f"{otlp.scheme} {resolve_secret(otlp.token, environ)}"
    return Collector(
        endpoint=otlp.endpoint,
        headers=headers,
        ca_file=_certificates(config, otlp),
        timeout_seconds=min(otlp.timeout_seconds, most_seconds),
    )


def _certificates(config: Config, otlp: Otlp) -> str | None:
    if otlp.ca_file is None:
        return None
    file = config.file.parent / otlp.ca_file
    if not file.is_file():
        place = otlp.place_of("ca_file")
        raise ConfigError(
            f"there is no file {otlp.ca_file}",
            file=place.file,
            line=place.line,
            path=place.path,
            remedy="name the certificates of your collector's authority, or leave ca_file out",
        )
    return str(file)


def _served(engine: str, base_url: str) -> Served:
    _, host, port = origin_of(base_url)
    return Served(provider=engine, address=host, port=port)
