"""Secrets: resolved by name, never shown, never repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.config import ConfigErrors, resolve_secret
from monitor.config.secrets import SecretRef, key_likeness
from monitor.config.show import render_effective
from monitor.errors import ConfigError
from tests.unit.config.known import GOOD, load_text

PLANTED = "sk-planted-0123456789abcdef"


def refs(folder: Path) -> list[SecretRef]:
    tenants = load_text(folder, GOOD).targets[0].tenants
    return [tenant.credential for tenant in tenants if tenant.credential is not None]


def test_from_the_environment(tmp_path: Path) -> None:
    assert resolve_secret(refs(tmp_path)[0], {"DONOR_A_KEY": f" {PLANTED}\n"}) == PLANTED


def test_a_missing_variable_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve_secret(refs(tmp_path)[0], {})
    assert str(caught.value) == (
        f"{tmp_path}/davylamp.yaml:9: targets[0].tenants[0].api_key_env: environment variable "
        "DONOR_A_KEY is not set (export DONOR_A_KEY before starting)"
    )


def test_from_a_file_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "victim-b.key").write_text(f"{PLANTED}\n", encoding="utf-8")
    assert resolve_secret(refs(tmp_path)[1]) == PLANTED


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty"),
        (b"two words", "does not hold one plain key"),
        (b"one\ntwo", "does not hold one plain key"),
        (b"\xff\xfe", "is not text"),
        (b"x" * 70_000, "is too large to be a secret"),
    ],
)
def test_a_bad_file_is_named_not_shown(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "victim-b.key").write_bytes(content)
    with pytest.raises(ConfigError, match=problem) as caught:
        resolve_secret(refs(tmp_path)[1])
    assert "secret file victim-b.key" in str(caught.value)
    assert "two" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"victim-b\.key cannot be read: no such file"):
        resolve_secret(refs(tmp_path)[1])


def test_planted_secrets_never_appear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DONOR_A_KEY", PLANTED)
    (tmp_path / "victim-b.key").write_text(PLANTED, encoding="utf-8")
    shown = render_effective(load_text(tmp_path, GOOD))
    assert PLANTED not in shown
    assert "api_key_env: DONOR_A_KEY" in shown


@pytest.mark.parametrize(
    "line",
    [
        f"    model: {PLANTED}",
        f"    labels: {{region: {PLANTED}}}",
        f"    {PLANTED}: x",
        f"    api_key: {PLANTED}",
        f"    headers_env: {{X-Team: {PLANTED}}}",
        f"    headers_env: {{{PLANTED}: X}}",
        f"    interval: {PLANTED}",
        f"    nodes: [{{url: 'http://a:{PLANTED}@n/'}}]",
        f"    overflow: {PLANTED}",
        f"    overflow: {{truncate: {{owner: a, reason: b, expires: {PLANTED}}}}}",
        f"    probes: [{{name: {PLANTED}}}]",
        f"    probes: {PLANTED}",
        f"    context_tokens: {PLANTED}",
        f"    probes: [{{name: burst, params: {{a: [{{b: {PLANTED}}}]}}}}]",
    ],
)
def test_a_pasted_key_is_an_error_that_does_not_repeat_it(tmp_path: Path, line: str) -> None:
    text = GOOD.replace("    model: glm-5.3\n", "") if "model:" in line else GOOD
    with pytest.raises(ConfigErrors) as caught:
        load_text(tmp_path, f"{text}{line}\n")
    assert PLANTED not in str(caught.value)
    assert "0123456789" not in str(caught.value)


@pytest.mark.parametrize(
    "harmless",
    [
        "meta-llama/Llama-3.3-70B-Instruct-fp8-dynamic",
        "https://api.cloudflare.com/client/v4/accounts",
        "DAVYLAMP_DONOR_A_KEY_PRODUCTION_EU_WEST_1",
        "/var/run/secrets/kubernetes.io/serviceaccount/token",
        "documented by the vendor",
        "risk-averse-but-pleasant",
    ],
)
def test_ordinary_text_is_not_suspected(harmless: str) -> None:
    assert key_likeness(harmless) is None
