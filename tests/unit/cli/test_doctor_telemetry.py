"""The doctor tries the OpenTelemetry collector, and tells what fails from what is not known."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.cli.doctor_line import Health, Line, Surroundings
from monitor.cli.doctor_telemetry import check_telemetry
from tests.fakes.collector import collecting
from tests.unit.cli.certificate import self_signed
from tests.unit.config.known import GOOD, load_text
from tests.unit.daemon.installed import ManualClock

TOKEN = "collector-token-0123456789"  # noqa: S105
KINDS = ["telemetry spans", "telemetry events", "telemetry metrics"]


def lines(
    folder: Path,
    url: str,
    otlp: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    **more: Any,
) -> list[Line]:
    section = {"telemetry": {"otlp": {"endpoint": url} | dict(otlp or {})} | more}
    config = load_text(folder, GOOD + (yaml.safe_dump(section) if url else ""))
    around = Surroundings(
        config=config, clock=ManualClock(), environ=environ or {}, timeout_seconds=1.0
    )

    async def all_lines() -> list[Line]:
        return [line async for line in check_telemetry(around)]

    return asyncio.run(all_lines())


def test_without_the_section_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert lines(tmp_path, "") == []


def test_each_kind_is_tried_with_the_credential_and_nothing_is_told(tmp_path: Path) -> None:
    with collecting() as collector:
        found = lines(tmp_path, collector.url, {"token_env": "OTLP_TOKEN"}, {"OTLP_TOKEN": TOKEN})
    assert [(line.what, line.health) for line in found] == [(kind, Health.OK) for kind in KINDS]
    assert collector.paths == ["/v1/traces", "/v1/logs", "/v1/metrics"]
    assert {each["authorization"] for each in collector.headers} == {f"Bearer {TOKEN}"}
    assert collector.bodies == [b"", b"", b""]
    assert TOKEN not in "".join(map(str, found))


def test_only_what_is_switched_on_is_tried(tmp_path: Path) -> None:
    with collecting() as collector:
        found = lines(tmp_path, collector.url, traces=False, events=False)
    assert [line.what for line in found] == ["telemetry metrics"]
    assert collector.paths == ["/v1/metrics"]


@pytest.mark.parametrize(
    ("status", "health", "remedy"),
    [
        (401, Health.FAIL, "token_env or token_file"),
        (403, Health.FAIL, "token_env or token_file"),
        (404, Health.FAIL, "port 4318"),
        (405, Health.FAIL, "port 4318"),
        (400, Health.UNKNOWN, "log of the collector"),
        (500, Health.UNKNOWN, "log of the collector"),
    ],
)
def test_what_it_answers_tells_what_to_do(
    tmp_path: Path, status: int, health: Health, remedy: str
) -> None:
    with collecting() as collector:
        collector.status = status
        found = lines(tmp_path, collector.url)
    assert [line.health for line in found] == [health] * 3
    assert all(f"HTTP {status}" in line.said and remedy in line.remedy for line in found)


def test_a_collector_that_is_not_there_fails(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, and nobody listens
        found = lines(tmp_path, f"http://127.0.0.1:{taken.getsockname()[1]}", metrics=False)
    assert [line.health for line in found] == [Health.FAIL] * 2
    assert all("gives no answer" in line.said for line in found)
    assert all("telemetry.otlp.endpoint" in line.remedy for line in found)


def test_a_certificate_of_no_authority_we_trust_fails(tmp_path: Path) -> None:
    certified = self_signed(tmp_path, timedelta(days=9))
    with collecting(certified) as collector:
        found = lines(tmp_path, collector.url, traces=False, events=False)
        trusted = lines(
            tmp_path, collector.url, {"ca_file": str(certified[0])}, traces=False, events=False
        )
    assert [line.health for line in (*found, *trusted)] == [Health.FAIL, Health.OK]


def test_a_credential_that_is_missing_is_named(tmp_path: Path) -> None:
    [line] = lines(tmp_path, "http://127.0.0.1:9", {"token_env": "NO_SUCH_TOKEN"})
    assert (line.health, "NO_SUCH_TOKEN" in line.said) == (Health.FAIL, True)


def test_an_sdk_that_is_switched_off_is_told(tmp_path: Path) -> None:
    [line] = lines(tmp_path, "http://127.0.0.1:9", environ={"OTEL_SDK_DISABLED": "true"})
    assert (line.health, "nothing would be told" in line.said) == (Health.FAIL, True)
