"""What ``init`` writes passes ``config check``, whatever an endpoint says of itself."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.cli.config_commands import DayEstimate, Report, config_check
from monitor.cli.init import Discover, init, init_from
from monitor.config import Config, Target
from monitor.config.known import Known
from monitor.config.proofs import config_warnings
from monitor.engines.base import DiscoveredModel, Discovery, Limit
from monitor.errors import UsageError
from tests.unit.config.known import ENGINES, NODE_ENGINES, PROBES, load

KNOWN = Known(engines=ENGINES, probes=PROBES, node_engines=NODE_ENGINES)

TODAY = date(2026, 11, 1)
URL = "https://gateway.example.com/v1"
FOUND = Discovery(
    engine="vllm",
    version="0.33.0",
    models=(
        DiscoveredModel(
            id="zai-org/GLM-5.3", limits=(Limit(tokens=131_072, source="max_model_len"),)
        ),
        DiscoveredModel(id="other/glm-5.3"),
    ),
    notes=("/server_info is not served",),
)


def says(found: Discovery) -> Discover:
    async def discover(_url: str, _key: str | None) -> Discovery:
        return found

    return discover


def make(
    path: Path, found: Discovery = FOUND, url: str = URL, key_env: str | None = None
) -> Report:
    def estimate(_config: Config, _target: Target) -> DayEstimate:
        return DayEstimate(
            refused_tokens=1_200_000, answered_tokens=2_000_000, output_tokens=90_000
        )

    return asyncio.run(
        init_from(
            url,
            path,
            discover=says(found),
            known=KNOWN,
            key_env=key_env,
            estimate=estimate,
        )
    )


def test_the_template_passes_check(tmp_path: Path) -> None:
    path = tmp_path / "davylamp.yaml"
    init(path)
    config = load(path)
    assert config_check(config, today=TODAY).exit_code == 0
    assert config_warnings(config.targets[0], TODAY) == ()


def test_every_commented_line_of_the_template_is_usable(tmp_path: Path) -> None:
    path = tmp_path / "davylamp.yaml"
    init(path)
    lines = path.read_text(encoding="utf-8").splitlines()
    keys = "context_tokens: output_tokens: nodes: labels: reasoning: price: schedule: log: pages:"
    keys += " node_sources: gateway:"
    shown = ("  - {", "  pagerduty:", "  drain:", *keys.split())
    keep = [
        line.replace("# ", "", 1) if line.strip().removeprefix("# ").startswith(shown) else line
        for line in lines
    ]
    keep = [line for line in keep if "name: burst" not in line and "name: golden" not in line]
    path.write_text("\n".join(keep), encoding="utf-8")
    config = load(path)
    target = config.targets[0]
    assert config.settings.pages.drain_command(target.name) == "gatewayctl drain {target}"
    assert (target.context_tokens, len(target.nodes)) == (131_072, 2)
    assert (len(target.node_sources), config.nodes.addresses) == (1, ("10.0.0.0/8",))
    assert target.gateway is not None
    assert target.price is not None


def test_nothing_is_overwritten_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "davylamp.yaml"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="exists already"):
        init(path)
    with pytest.raises(UsageError, match="exists already"):
        make(path)
    assert path.read_text(encoding="utf-8") == "mine"
    init(path, force=True)
    assert load(path).targets


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written: no such file or directory"):
        init(tmp_path / "none" / "davylamp.yaml")


def test_from_a_url_there_is_a_target_for_each_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY_KEY", "planted-key")
    path = tmp_path / "davylamp.yaml"
    report = make(path, key_env="GATEWAY_KEY")
    config = load(path)
    assert [(t.name, t.model) for t in config.targets] == [
        ("glm-5-3", "zai-org/GLM-5.3"),
        ("glm-5-3-2", "other/glm-5.3"),
    ]
    assert config.targets[0].tenants[0].api_key_env == "GATEWAY_KEY"
    assert "1,200,000 to 2,000,000 tokens" in report.text
    assert "limit 131,072 tokens, stated by max_model_len" in report.text
    assert "limits unknown" in report.text
    assert "will not cover: a LEAK across tenants: only one tenant" in report.text
    assert "davylamp nodes --config" in report.text
    assert "planted-key" not in report.text + path.read_text(encoding="utf-8")


def test_the_path_to_v1_is_found(tmp_path: Path) -> None:
    async def discover(url: str, _key: str | None) -> Discovery:
        return FOUND if url.endswith("/v1") else Discovery()

    path = tmp_path / "davylamp.yaml"
    work = init_from("http://h:8000/", path, discover=discover, known=KNOWN)
    asyncio.run(work)
    assert load(path).targets[0].base_url == "http://h:8000/v1"


def test_no_model_is_an_error_and_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="lists no model"):
        make(tmp_path / "davylamp.yaml", Discovery())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["", "gateway.example.com", "ftp://h/v1", "https://me:pw@h/v1"])
def test_a_url_we_would_not_go_to(tmp_path: Path, url: str) -> None:
    with pytest.raises(UsageError, match="give the root of the API"):
        make(tmp_path / "davylamp.yaml", url=url)


def test_a_key_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="environment variable NOT_SET_ANYWHERE is not set"):
        make(tmp_path / "davylamp.yaml", key_env="NOT_SET_ANYWHERE")


def test_more_models_than_anybody_wants(tmp_path: Path) -> None:
    many = Discovery(models=tuple(DiscoveredModel(id=f"m{n}") for n in range(40)))
    report = make(tmp_path / "davylamp.yaml", many)
    assert "24 of them left out" in report.text
    assert len(load(tmp_path / "davylamp.yaml").targets) == 16


NAMES = st.text(max_size=300) | st.sampled_from(
    [
        "a\nb: c",
        "${HOME}",
        "sk-0123456789abcdef",
        '"',
        "'",
        "x: y",
        "# no",
        "- z",
        "null",
        "5",
        "\u2028",
    ]
)


@given(st.lists(NAMES, min_size=1, max_size=5), st.text(max_size=60), st.integers(1, 10**10))
@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_whatever_an_endpoint_says_the_file_is_good(
    tmp_path: Path, names: list[str], source: str, tokens: int
) -> None:
    path = tmp_path / "davylamp.yaml"
    path.unlink(missing_ok=True)
    limits = (Limit(tokens=tokens, source=source),)
    found = Discovery(models=tuple(DiscoveredModel(id=name, limits=limits) for name in names))
    try:
        make(path, found)
    except UsageError:
        assert not path.exists()
    else:
        assert {target.model for target in load(path).targets} <= set(names)


@pytest.mark.parametrize(
    ("found", "nodes"),
    [
        (replace(FOUND, engine="sglang", version="0.5.22"), [("http://h:30000", "sglang", "KEY")]),
        (replace(FOUND, engine="sglang", version=None), []),
        (replace(FOUND, engine="lmdeploy", version="0.18.0"), []),
    ],
)
def test_an_endpoint_that_is_an_engine_itself_is_proposed_as_a_node(
    found: Discovery,
    nodes: list[tuple[str, str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KEY", "planted-key")
    path = tmp_path / "davylamp.yaml"
    work = init_from(
        "http://h:30000/v1",
        path,
        discover=says(found),
        known=KNOWN,
        key_env="KEY",
    )
    report = asyncio.run(work)
    for target in load(path).targets:
        assert [(each.url, each.engine, each.token_env) for each in target.nodes] == nodes
    assert ("davylamp nodes --config" in report.text) == bool(nodes)
