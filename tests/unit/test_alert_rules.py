"""Alert rules name only metrics and labels that exist, and each has a page on what to do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.conventions import METRICS, NotProbed
from tests.architecture.source import ROOT

LABELS = {metric.name: {label.value for label in metric.labels} for metric in METRICS}
RULES: list[dict[str, Any]] = [
    rule
    for file in sorted((ROOT / "alerts" / "rules").glob("*.yml"))
    for group in yaml.safe_load(file.read_text("utf-8"))["groups"]
    for rule in group["rules"]
]
PAGE = (ROOT / "docs" / "alerts.md").read_text("utf-8")
TESTS = "".join(
    file.read_text("utf-8") for file in sorted(Path(ROOT / "alerts" / "tests").glob("*.yml"))
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_a_rule_asks_for_what_is_exported(rule: dict[str, Any]) -> None:
    names = re.findall(r"\bdavylamp_\w+", rule["expr"])
    assert names
    assert not set(names) - set(LABELS)
    used = set(re.findall(r"(\w+)=[~\"]", rule["expr"]))
    used |= set(re.findall(r"labels\.(\w+)", rule["annotations"]["summary"]))
    assert used <= set.union(*(LABELS[name] for name in names))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_a_rule_is_complete_tested_and_has_a_page(rule: dict[str, Any]) -> None:
    name, annotations = rule["alert"], rule["annotations"]
    assert rule["labels"]["severity"] in ("critical", "warning")
    assert len(annotations["summary"]) <= 120
    assert annotations["description"]
    assert annotations["runbook"] == f"docs/alerts.md#{name.lower()}"
    assert f"\n## {name}\n" in PAGE
    assert f"alertname: {name}\n" in TESTS


def test_reasons_that_a_rule_names_exist() -> None:
    named = [n for rule in RULES for n in re.findall(r'reason=~"([^"]+)"', rule["expr"])]
    assert named
    assert {each for group in named for each in group.split("|")} <= {n.value for n in NotProbed}
