"""From the configuration to a sink: what is told, with which credential, and what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.config import Config
from monitor.errors import ConfigError, UsageError
from monitor.store import EvidenceHasher
from monitor.telemetry import telemetry_sink
from monitor.telemetry.sink import TelemetrySink
from tests.builders import KEY
from tests.fakes.collector import collecting, plain
from tests.unit.config.known import GOOD, load_text
from tests.unit.daemon.installed import ManualClock
from tests.unit.store.samples import trial, verdict

TOKEN = "collector-token-0123456789"  # noqa: S105


def config_of(folder: Path, url: str, otlp: dict[str, Any] | None = None, **more: Any) -> Config:
    section = {"telemetry": {"otlp": {"endpoint": url} | (otlp or {})} | more}
    return load_text(folder, GOOD + yaml.safe_dump(section))


def opened(config: Config) -> TelemetrySink:
    telemetry = config.settings.telemetry
    assert telemetry is not None
    hasher, clock = EvidenceHasher(KEY), ManualClock()
    return telemetry_sink(config, telemetry, hasher, clock, "process-1", lambda *_: None)


def test_it_is_off_unless_it_is_configured(tmp_path: Path) -> None:
    assert load_text(tmp_path, GOOD).settings.telemetry is None


def test_a_token_from_a_file_and_a_header_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "otel.token").write_text(f"{TOKEN}\n", encoding="utf-8")
    monkeypatch.setenv("OTEL_TEAM", "team-key-1")
    otlp = {
        "token_file": "otel.token",
        "scheme": "Basic",
        "headers_env": {"X-Team": "OTEL_TEAM"},
    }
    with collecting() as collector:
        sink = opened(config_of(tmp_path, collector.url, otlp))
        sink.deliver(trial(target="glm-prod"), verdict(target="glm-prod"))
        sink.close()
    assert collector.headers[-1]["authorization"] == f"Basic {TOKEN}"
    assert collector.headers[-1]["x-team"] == "team-key-1"
    said = plain(collector.spans[1].attributes)
    assert (said["gen_ai.provider.name"], said["server.address"], said["server.port"]) == (
        "openai",
        "gateway.example.com",
        443,
    )


@pytest.mark.parametrize(
    ("kind", "path"),
    [("traces", "/v1/traces"), ("events", "/v1/logs"), ("metrics", "/v1/metrics")],
)
def test_what_is_switched_off_is_not_told(kind: str, path: str, tmp_path: Path) -> None:
    with collecting() as collector:
        sink = opened(config_of(tmp_path, collector.url, **{kind: False}))
        sink.deliver(trial(), verdict())
        sink.close()
    assert set(collector.paths) == {"/v1/traces", "/v1/logs", "/v1/metrics"} - {path}


def test_the_older_names_are_used_if_asked_for(tmp_path: Path) -> None:
    with collecting() as collector:
        sink = opened(config_of(tmp_path, collector.url, semconv="v1.41"))
        sink.deliver(trial(), verdict())
        sink.close()
    assert "gen_ai.client.operation.duration" in collector.metrics


def test_a_missing_token_is_named_with_its_place(tmp_path: Path) -> None:
    config = config_of(tmp_path, "http://127.0.0.1:1", {"token_env": "NO_SUCH_TOKEN"})
    with pytest.raises(ConfigError, match=r"davylamp\.yaml:\d+: telemetry\.otlp\.token_env: "):
        opened(config)


def test_a_missing_certificate_is_named_with_its_place(tmp_path: Path) -> None:
    config = config_of(tmp_path, "https://127.0.0.1:1", {"ca_file": "ca.pem"})
    with pytest.raises(ConfigError, match=r"telemetry\.otlp\.ca_file: there is no file ca\.pem"):
        opened(config)


def test_a_switch_of_the_environment_that_would_silence_it_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    with pytest.raises(UsageError, match="OTEL_SDK_DISABLED is set"):
        opened(config_of(tmp_path, "http://127.0.0.1:1"))
