"""From the section ``telemetry`` to a sink that sends."""

from __future__ import annotations

import os
from collections.abc import Iterator

from monitor.clock import Clock
from monitor.config import Config, resolve_secret
from monitor.config.telemetry import Otlp, Telemetry
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
    if os.environ.get(_OFF, "").strip().lower() == "true":
        raise UsageError(
            f"{_OFF} is set, so nothing would be told (unset it, or remove telemetry from "
            f"{config.file.name})"
        )
    names = NAMES[telemetry.semconv]
    exporter = OtlpExporter(
        _collector(config, telemetry.otlp),
        Origin(environment=config.environment, instance=instance),
        names,
    )
    served = {target.name: _served(target.engine, target.base_url) for target in config.targets}
    sink = TelemetrySink(
        exporter,
        Describing(names, served, hasher),
        kinds=frozenset(_kinds(telemetry)),
        clock=clock,
        count=count,
    )
    sink.start()
    return sink


def _kinds(telemetry: Telemetry) -> Iterator[TelemetryKind]:
    if telemetry.traces:
        yield TelemetryKind.SPANS
    if telemetry.events:
        yield TelemetryKind.EVENTS
    if telemetry.metrics:
        yield TelemetryKind.METRICS


def _collector(config: Config, otlp: Otlp) -> Collector:
    headers = {name: resolve_secret(ref) for name, ref in otlp.header_refs().items()}
    if otlp.token is not None:
        headers["Authorization"] = f"{otlp.scheme} {resolve_secret(otlp.token)}"
    return Collector(
        endpoint=otlp.endpoint,
        headers=headers,
        ca_file=_certificates(config, otlp),
        timeout_seconds=otlp.timeout_seconds,
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
