"""Rules name only what is exported, are what would be built, and each is tried and explained."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.cli.lazy import VerbTable
from monitor.cli.main import VERBS
from monitor.cli.rule_sources import built_from
from monitor.conventions import METRICS, NotProbed
from monitor.model import SignalKind, VerdictClass
from monitor.slo import Links, differences
from monitor.verdicts import CONSEQUENCES
from tests.architecture.source import ROOT
from tests.rules import __main__ as made
from tests.rules.scenarios import rule_of

ALERTS = ROOT / "alerts"
RUNBOOKS = ALERTS / "runbooks"
HEADINGS = ["Meaning", "Impact", "Diagnosis", "Mitigation"]
# Labels that rules make themselves, or that Prometheus does.
OWN_LABELS = {"slo", "size", "source", "quantile", "le", "burn_tier"}
EXPORTED = {metric.name: {label.value for label in metric.labels} for metric in METRICS}
RULES: list[tuple[str, dict[str, Any]]] = [
    (file.name, rule)
    for file in sorted((ALERTS / "rules").glob("*.yml"))
    for group in yaml.safe_load(file.read_text("utf-8"))["groups"]
    for rule in group["rules"]
]
FIRING = [rule for _, rule in RULES if "alert" in rule]
NAMES = sorted({rule["alert"] for rule in FIRING})


def named(rule: dict[str, Any]) -> str:
    """Return a name for a test that tries one rule."""
    labels = rule["labels"]
    parts = (rule["alert"], labels["severity"], labels.get("slo"), labels.get("burn_tier"))
    return "-".join(part for part in parts if part)


def exported(name: str) -> set[str] | None:
    """Return the labels of a metric, also by the names a histogram's series have."""
    bare = re.sub(r"_(bucket|count|sum)$", "", name)
    return EXPORTED.get(name) or EXPORTED.get(bare)


def test_the_committed_rules_are_what_would_be_built() -> None:
    found = {file.name: file.read_text("utf-8") for file in (ALERTS / "rules").glob("*.yml")}
    assert not list(differences(built_from(None, Links()).files, found)), "davylamp rules build"


def test_the_committed_tests_are_what_the_scenarios_make() -> None:
    found = {file.name: file.read_text("utf-8") for file in (ALERTS / "tests").glob("*.yml")}
    assert found == made.files(), "python -m tests.rules"


def test_rules_ask_for_what_is_exported() -> None:
    recorded = {rule["record"] for _, rule in RULES if "record" in rule}
    for _, rule in RULES:
        expr = rule["expr"]
        names = set(re.findall(r"\bdavylamp_\w+", expr))
        assert all(exported(name) for name in names), rule
        assert set(re.findall(r"\bdavylamp:[\w:]+", expr)) <= recorded, rule
        if names:
            known = set.union(*(exported(name) or set() for name in names)) | OWN_LABELS
            grouped = re.findall(r"(?:by|on) \(([^)]*)\)", expr)
            used = {label.strip() for group in grouped for label in group.split(",")}
            used |= set(re.findall(r"[{,](\w+)=", expr))
            assert used <= known, rule


def test_every_alert_is_tried_and_so_is_everything_recorded() -> None:
    tried = [each.rule for scenarios in made.ALERTS.values() for each in scenarios]
    rules = [rule_of(rule["alert"], rule["labels"]) for rule in FIRING]
    assert sorted(set(tried)) == sorted(rules)
    asked = {query for tests in made.RECORDED.values() for each in tests for query in each.values}
    for file, rule in RULES:
        if "record" in rule and file in ("slos.rules.yml", "production.rules.yml"):
            labels = rule.get("labels", {})
            inside = ",".join(f'{key}="{value}"' for key, value in labels.items())
            assert (f"{rule['record']}{{{inside}}}" if inside else rule["record"]) in asked, rule


@pytest.mark.parametrize("rule", FIRING, ids=named)
def test_an_alert_has_the_labels_and_annotations_of_all(rule: dict[str, Any]) -> None:
    labels, annotations = rule["labels"], rule["annotations"]
    assert labels["severity"] in ("critical", "warning", "info")
    assert "class" in labels or re.search(r"by \([^)]*class", rule["expr"])
    assert not {"instance", "replica", "pod", "job"} & set(labels)
    assert not re.search(r"\b(instance|replica|pod|job)\b", rule["expr"])
    assert list(annotations) == [
        *("summary", "description", "runbook_url", "dashboard_url", "evidence_url")
    ]
    assert annotations["runbook_url"].endswith(f"/runbooks/{rule['alert']}.md")


def test_rendered_words_are_short_and_whole(tmp_path: Path) -> None:
    """Let promtool render every alert that fires: it says what it got where nothing is expected."""
    files = made.files()
    for name in made.ALERTS:
        data = yaml.safe_load(files[f"{name}.test.yml"])
        data["rule_files"] = [str(ALERTS / "rules" / made.rules_of(name))]
        data["tests"] = [
            {
                **{key: test[key] for key in ("name", "interval", "input_series")},
                "alert_rule_test": [
                    {"eval_time": scenario.fires_at, "alertname": scenario.alert, "exp_alerts": []}
                ],
            }
            for test, scenario in zip(data["tests"], made.ALERTS[name], strict=False)
        ]
        file = tmp_path / f"{name}.yml"
        file.write_text(yaml.safe_dump(data), encoding="utf-8")
        done = subprocess.run(
            ["promtool", "test", "rules", str(file)], capture_output=True, text=True, check=False
        )
        said = done.stdout + done.stderr
        summaries = re.findall(r'summary="([^"]*)"', said)
        assert len(summaries) >= len(made.ALERTS[name]), said
        assert "<no value>" not in said
        assert "error expanding" not in said
        assert not [each for each in summaries if each.startswith("prod")]
        if name == "answers":
            words = "glm: the model answers something else than it is sent (WRONG_INPUT); 1 open"
            assert words in summaries
        # A target whose name has twenty characters has room too.
        assert max(map(len, summaries)) + 20 - len("glm") <= 120, max(summaries, key=len)


def test_each_alert_has_a_runbook_and_each_runbook_an_alert() -> None:
    assert sorted(file.stem for file in RUNBOOKS.glob("*.md")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_runbook_is_whole_and_names_only_commands_that_exist(name: str) -> None:
    text = (RUNBOOKS / f"{name}.md").read_text("utf-8")
    assert text.startswith(f"# {name}\n")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == HEADINGS
    assert set(re.findall(r"\bDavylamp[A-Z]\w+", text)) <= set(NAMES)
    for command in re.findall(r"`davylamp ([a-z][^`]*)`", text):
        assert exists(command.split()), command


def exists(words: list[str]) -> bool:
    """Tell whether a verb, and the verb below it if there is one, is in the tables."""
    verb, *rest = words
    if verb not in VERBS:
        return False
    module = __import__(VERBS[verb][0], fromlist=["app"])
    below: VerbTable | None = getattr(module, "VERBS", None)
    commands = {c.name or c.callback.__name__ for c in module.app.registered_commands}
    known = set(below) if below is not None else commands
    single = below is None and len(known) == 1
    return single or not rest or rest[0].replace("-", "_") in {k.replace("-", "_") for k in known}


def test_reasons_that_a_rule_names_exist() -> None:
    given = [n for _, rule in RULES for n in re.findall(r'reason=~"([^"]+)"', rule["expr"])]
    assert given
    assert {each for group in given for each in group.split("|")} <= {n.value for n in NotProbed}


def test_the_hard_lane_goes_by_the_mildest_class_of_hard_failures() -> None:
    hard = [each for each in CONSEQUENCES.values() if each.kind is SignalKind.HARD]
    assert min(each.verdict_class for each in hard) is VerdictClass.CONTRACT
    [*labels] = {r["labels"]["class"] for r in FIRING if r["alert"] == "DavylampHardFailures"}
    assert labels == [VerdictClass.CONTRACT.label]
