"""``config show`` prints a file that loads to the same configuration; docs are fresh."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.config import reference
from monitor.config.show import _value, render_effective
from monitor.errors import ConfigError
from tests.unit.config.known import GOOD, load_text

DOCS = Path(__file__).parents[3] / "docs"

RICH = (
    GOOD
    + """\
    context_tokens: 1_048_576
    nodes: [{url: "http://n:1", role: prefill, token_env: NODE_TOKEN}]
    labels: {region: eu, tier: "1"}
    headers_env: {X-Team: TEAM}
    overflow: {truncate: {owner: "a: team", reason: 'it "is" #so', expires: 2027-01-31}}
    reasoning: {effort: none}
    price: {input_usd_per_million: 0.6, output_usd_per_million: 2}
    daily_budget: {usd: 3}
    probes:
      - {name: burst, interval: 10m, params: {members: 3, sizes: [1, 2], mode: "yes"}}
      - {name: golden, disabled: true}
schedule: {jitter: 0s, spread: false}
storage: {url: "clickhouse://me@db:8123/x", password_env: DB_PASSWORD}
"""
)


SLOS = """\
slos:
  - {name: a, target: glm-prod, objective: 99.9, window: 7d, tiers: [fast], probes: [burst]}
  - {name: b, sli: latency, within: 30s, objective: 95, by_probe: true, volume: 2_400}
"""


@pytest.mark.parametrize("text", [GOOD, RICH, GOOD + SLOS, GOOD + "slos: ./objectives\n"])
def test_what_is_shown_loads_to_the_same(tmp_path: Path, text: str) -> None:
    (tmp_path / "objectives").mkdir()
    (tmp_path / "objectives" / "ours.yaml").write_text("version: 1\n", "utf-8")
    config = load_text(tmp_path, text)
    again = load_text(tmp_path, render_effective(config))
    assert again.hash == config.hash
    assert again.for_target(again.targets[0]) == config.for_target(config.targets[0])


PLAIN = st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
PARAMS = st.recursive(
    PLAIN | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(TEXTS, PARAMS, min_size=1, max_size=3))
@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_plug_parameters_survive_being_shown(tmp_path: Path, params: dict[str, object]) -> None:
    given_text = f"    probes: [{{name: burst, params: {_value('', params)}}}]\n"
    try:
        config = load_text(tmp_path, GOOD + given_text)
    except ConfigError:
        return
    again = load_text(tmp_path, render_effective(config))
    assert again.hash == config.hash


def test_defaults_are_marked(tmp_path: Path) -> None:
    shown = render_effective(load_text(tmp_path, GOOD + "    timeout: 2m\n"))
    assert "environment: prod\n" in shown
    assert "  level: info  # default\n" in shown
    assert "    timeout: 2m\n" in shown
    assert "    interval: 5m  # from defaults\n" in shown


def test_the_page_is_fresh() -> None:
    remedy = "run: python -m monitor.config.reference docs"
    assert (DOCS / reference.PAGE).read_text(encoding="utf-8") == reference.page(), remedy
    assert (DOCS / reference.SCHEMA).read_text(encoding="utf-8") == reference.schema(), remedy


def test_the_json_schema_allows_no_null_and_no_unknown_key() -> None:
    made = reference.schema()
    assert '"null"' not in made
    definitions = json.loads(made)["$defs"].values()
    assert all(definition["additionalProperties"] is False for definition in definitions)


def test_every_key_is_described() -> None:
    made = json.loads(reference.schema())
    for definition in [made, *made["$defs"].values()]:
        for key, value in definition["properties"].items():
            assert value.get("description") or "$ref" in value, key
