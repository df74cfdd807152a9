"""The example for Alertmanager is valid, holds no key, and sends each alert to one receiver."""

from __future__ import annotations

import re
import subprocess

import pytest
import yaml

from tests.architecture.source import ROOT
from tests.rules.__main__ import ALERTS
from tests.rules.scenarios import Scenario

FILE = ROOT / "alerts" / "alertmanager" / "alertmanager.example.yml"
SCENARIOS = [scenario for scenarios in ALERTS.values() for scenario in scenarios]
EXAMPLE = yaml.safe_load(FILE.read_text("utf-8"))


def amtool(*arguments: str) -> str:
    done = subprocess.run(["amtool", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def wanted(scenario: Scenario) -> str:
    if scenario.alert == "DavylampWatchdog":
        return "davylamp-dead-man"
    if scenario.labels.get("route") == "direct":
        return "davylamp-nobody"
    by_severity = {"critical": "davylamp-pages", "warning": "davylamp-tickets"}
    return by_severity[scenario.labels["severity"]]


def test_amtool_reads_it() -> None:
    assert "SUCCESS" in amtool("check-config", str(FILE))


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: "-".join(each.rule))
def test_each_alert_goes_to_exactly_one_receiver(scenario: Scenario) -> None:
    labels = [f"{key}={value}" for key, value in scenario.labels.items()]
    asked = ["config", "routes", "test", f"--config.file={FILE}", f"alertname={scenario.alert}"]
    assert amtool(*asked, *labels).split() == [wanted(scenario)]


def test_no_key_stands_in_it() -> None:
    text = FILE.read_text("utf-8")
    assert not re.search(r"\b(routing_key|service_key|password|api_key):", text)
    assert not re.search(r"\b[0-9a-fA-F]{32}\b", text)


def test_details_are_ours_alone() -> None:
    """Alertmanager fills in whatever of its four details is not set: a dump of every label."""
    for receiver in EXAMPLE["receivers"]:
        for pager in receiver.get("pagerduty_configs", ()):
            details = pager["details"]
            assert set(details) == {"firing", "resolved", "num_firing", "num_resolved"}
            assert not re.search(r"Labels|toJson|template", " ".join(details.values()))


def test_what_is_equal_for_one_incident_and_what_silences_what() -> None:
    assert EXAMPLE["route"]["group_by"] == ["alertname", "env", "target", "class"]
    leak = {
        "source_matchers": ['class="LEAK"'],
        "target_matchers": ['class=~"WRONG|DRIFT"'],
        "equal": ["env", "target"],
    }
    assert leak in EXAMPLE["inhibit_rules"]
    tiers = [rule for rule in EXAMPLE["inhibit_rules"] if "burn_tier" in str(rule)]
    assert all(rule["equal"] == ["env", "target", "slo", "class"] for rule in tiers)
    assert len(tiers) == 3
