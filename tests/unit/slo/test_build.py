"""What is built of objectives: files that promtool reads, whatever the names in them."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from monitor.slo import Links, differences, own_rules
from monitor.slo.objective import Objective, Sli
from monitor.slo.production import Production, ProductionMetric
from monitor.slo.promql import equals, fits, one_of, quoted
from monitor.slo.windows import DAY

USERS = Objective(
    name="glm-users",
    sli=Sli.PRODUCTION,
    ratio=0.999,
    window_seconds=28 * DAY,
    volume_a_day=1e6,
    volume_from="as stated",
    env="prod",
    target="glm-prod",
    source="litellm",
    model="glm-5.3",
)
LINKS = Links(runbooks="https://wiki.example.com/davylamp/", dashboards="https://grafana.example")


def promtool(folder: Path, verb: str, name: str) -> None:
    done = subprocess.run(
        ["promtool", *verb.split(), str(folder / name)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def written(folder: Path, *objectives: Objective) -> dict[str, str]:
    files = own_rules(objectives, (), LINKS).files
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return files


@pytest.mark.parametrize("sli", [each for each in Sli if each is not Sli.PRODUCTION])
def test_promtool_reads_every_indicator(sli: Sli, tmp_path: Path) -> None:
    narrowed = replace(USERS, sli=sli, source="", model="", probes=("a", "b"), within_seconds=30.0)
    written(tmp_path, narrowed, replace(narrowed, name="other", by_probe=True, target=""))
    promtool(tmp_path, "check rules", "own-slos.rules.yml")


def test_names_cannot_end_a_selector(tmp_path: Path) -> None:
    odd = replace(USERS, model='a"} or vector(1) or x{b="\\', source="s\n")
    written(tmp_path, odd)
    promtool(tmp_path, "check rules", "own-slos.rules.yml")
    assert quoted('a"\\\n') == '"a\\"\\\\\\n"'
    assert fits("a", 'x"y') == 'a=~"x\\"y"'
    assert one_of("a", ["x.y", "z-1"]) == 'a=~"x\\\\.y|z-1"'
    assert one_of("a", ["x.y"]) == equals("a", "x.y") == 'a="x.y"'


def test_links_are_those_that_were_given() -> None:
    text = own_rules((USERS,), (), LINKS).files["own-slos.rules.yml"]
    groups = yaml.safe_load(text)["groups"]
    [*alerts] = [rule for group in groups for rule in group["rules"] if "alert" in rule]
    assert len(alerts) == 4
    for alert in alerts:
        notes = alert["annotations"]
        assert (
            notes["runbook_url"] == "https://wiki.example.com/davylamp/DavylampErrorBudgetBurn.md"
        )
        assert notes["dashboard_url"].startswith("https://grafana.example/d/davylamp-target?")
        assert "graphLink" in notes["evidence_url"]


def test_an_objective_of_users_burns_in_every_tier(tmp_path: Path) -> None:
    """694 requests a minute. 20 % fail for an hour and a half; 4xx are no events."""
    written(tmp_path, USERS)
    rate = "davylamp:production_requests:rate5m"
    of = 'source="litellm",model="glm-5.3"'
    fired = {"env": "prod", "slo": "glm-users", "target": "glm-prod", "class": "none"}

    def firing(tier: str, severity: str) -> str:
        labels = fired | {"burn_tier": tier, "severity": severity, "alertstate": "firing"}
        labels |= {"alertname": "DavylampErrorBudgetBurn"}
        inside = ", ".join(f'{key}="{value}"' for key, value in sorted(labels.items()))
        return f"ALERTS{{{inside}}}"

    def all_firing(when: str, *tiers: tuple[str, str]) -> dict[str, object]:
        samples = [{"labels": firing(*tier), "value": 1} for tier in tiers]
        return {"expr": 'ALERTS{alertstate="firing"}', "eval_time": when, "exp_samples": samples}

    fast, medium = ("fast", "critical"), ("medium", "critical")
    slow, trickle = ("slow", "warning"), ("trickle", "warning")
    test = {
        "rule_files": ["own-slos.rules.yml"],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [
                    {"series": f'{rate}{{{of},code="200"}}', "values": "10x420 8x90 10x300"},
                    {"series": f'{rate}{{{of},code="500"}}', "values": "0x420 2x90 0x300"},
                    {"series": f'{rate}{{{of},code="429"}}', "values": "50x810"},
                    {"series": f'{rate}{{source="vllm",model="x",code="5xx"}}', "values": "9x810"},
                ],
                "promql_expr_test": [
                    all_firing("6h50m"),
                    all_firing("8h30m", fast, medium, slow, trickle),
                    # The short window of the fastest is good again, those of the others not yet.
                    all_firing("8h40m", medium, slow, trickle),
                    all_firing("9h10m", slow, trickle),
                ],
            }
        ],
    }
    (tmp_path / "burn.test.yml").write_text(yaml.safe_dump(test), encoding="utf-8")
    promtool(tmp_path, "test rules", "burn.test.yml")


def test_an_own_mapping_is_recorded(tmp_path: Path) -> None:
    mapped = Production(
        source="gateway",
        requests=ProductionMetric(
            metric="gw_requests_total", code="code", match=(("path", "/v1"),)
        ),
        duration=ProductionMetric(metric="gw_ms", model="upstream", scale=1000),
    )
    [(name, text)] = own_rules((), (mapped,), LINKS).files.items()
    assert name == "own-production.rules.yml"
    rules = yaml.safe_load(text)["groups"][0]["rules"]
    # The label is called code already: nothing to rename.
    assert rules[0]["expr"] == (
        'sum by (model, code) (\n  rate(gw_requests_total{path=~"/v1"}[5m])\n)'
    )
    assert [rule["labels"].get("quantile") for rule in rules] == [None, "0.5", "0.95", "0.99"]
    assert rules[1]["expr"].endswith("/ 1000")
    (tmp_path / name).write_text(text, encoding="utf-8")
    promtool(tmp_path, "check rules", name)


def test_differences_are_named() -> None:
    wanted = own_rules((USERS,), (), LINKS).files
    [(name, text)] = wanted.items()
    assert not list(differences(wanted, {name: text, "node.rules.yml": "groups: []\n"}))
    [missing] = differences(wanted, {})
    assert (missing.file, missing.words) == (name, "is missing")
    [other] = differences(wanted, {name: text.replace("0.0144", "0.0145")})
    line = next(n for n, row in enumerate(text.splitlines(), 1) if "0.0144" in row)
    assert other.words == f"is not what would be built, from line {line} on"
    [shorter] = differences(wanted, {name: text.splitlines()[0]})
    assert "from line 2 on" in shorter.words
    [stale] = differences({}, {name: text, "node.rules.yml": "groups: []\n"})
    assert (stale.file, stale.words) == (name, "is made by nothing any more")
