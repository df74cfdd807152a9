"""Would the OpenTelemetry collector take what it is told: an empty report of each kind is sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from monitor.cli.doctor_line import Line, Surroundings, fail, ok, unknown
from monitor.conventions.telemetry import TelemetryKind
from monitor.errors import ConfigError, UsageError
from monitor.telemetry import exporter_of, kinds_of
from monitor.telemetry.otlp import OtlpExporter

_REFUSED = frozenset({"HTTP 401", "HTTP 403"})
_ELSEWHERE = frozenset({"HTTP 404", "HTTP 405"})
_NO_ANSWER = "no answer"


async def check_telemetry(around: Surroundings) -> AsyncIterator[Line]:
    """Try the configured collector as the daemon would; one line for each kind it is told."""
    telemetry = around.config.settings.telemetry
    if telemetry is None:
        return
    try:
        exporter = exporter_of(
            around.config,
            telemetry,
            "doctor",
            environ=around.environ,
            most_seconds=around.timeout_seconds,
        )
    except ConfigError as error:
        yield fail("telemetry", error.problem, error.remedy or "mend the section telemetry")
        return
    except UsageError as error:
        yield fail("telemetry", str(error), "let the daemon be started without that variable")
        return
    try:
        for kind in kinds_of(telemetry):
            yield await asyncio.to_thread(_tried, exporter, kind)
    finally:
        exporter.close()


def _tried(exporter: OtlpExporter, kind: TelemetryKind) -> Line:
    what = f"telemetry {kind}"
    if exporter.reaches(kind):
        return ok(what, "the collector takes them")
    trouble = exporter.trouble
    if trouble == _NO_ANSWER:
        remedy = "check telemetry.otlp.endpoint and ca_file, and that this machine may reach it"
        return fail(what, "the collector gives no answer", remedy)
    if trouble in _REFUSED:
        remedy = "check token_env or token_file, scheme and headers_env of telemetry.otlp"
        return fail(what, f"the collector refuses them: {trouble}", remedy)
    if trouble in _ELSEWHERE:
        remedy = (
            f"let endpoint be the root of OTLP over HTTP (port 4318), or switch off {_key(kind)}"
        )
        return fail(what, f"nothing takes them there: {trouble}", remedy)
    said = f"whether the collector would take them is not known: {trouble}"
    return unknown(what, said, "see what the log of the collector says")


def _key(kind: TelemetryKind) -> str:
    return "traces" if kind is TelemetryKind.SPANS else kind.value
