"""Samples and short ways of the tests of this folder."""

from __future__ import annotations

from monitor.store import EvidenceHasher
from monitor.telemetry.describing import Describing
from monitor.telemetry.names import NAMES
from monitor.telemetry.otlp import Collector as Place
from monitor.telemetry.otlp import Origin, OtlpExporter
from monitor.telemetry.records import Served
from tests.builders import KEY
from tests.fakes.collector import Collector

CURRENT = "genai-v0.1.0"
OLDER = "v1.41"
TOKEN = "collector-token-0123456789"  # noqa: S105
SERVED = {"glm": Served(provider="openai", address="gateway.example.com", port=443)}


def describing(version: str = CURRENT) -> Describing:
    return Describing(NAMES[version], SERVED, EvidenceHasher(KEY))


def exporter(
    collector: Collector | str,
    version: str = CURRENT,
    timeout_seconds: float = 10.0,
    ca_file: str | None = None,
) -> OtlpExporter:
    place = Place(
        endpoint=collector if isinstance(collector, str) else collector.url,
        headers={"Authorization": f"Bearer {TOKEN}", "X-Scope": "team-a"},
        ca_file=ca_file,
        timeout_seconds=timeout_seconds,
    )
    origin = Origin(environment="prod", instance="process-1")
    return OtlpExporter(place, origin, NAMES[version])
