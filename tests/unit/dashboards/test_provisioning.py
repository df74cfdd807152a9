"""Files that Grafana provisions: they fit the dashboards and the alerts."""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from dashboards.__main__ import GENERATED, RULES
from tests.architecture.source import ROOT

FOLDER = ROOT / "deploy" / "grafana" / "provisioning"


def read(name: str) -> dict[str, Any]:
    text = (FOLDER / name / "davylamp.yaml").read_text("utf-8")
    made: dict[str, Any] = yaml.safe_load(text)
    return made


def test_each_kind_of_source_that_a_dashboard_asks_is_provisioned() -> None:
    provisioned = {each["type"]: each for each in read("datasources")["datasources"]}
    asked = {
        variable["query"]
        for file in GENERATED.glob("*.json")
        for variable in json.loads(file.read_text("utf-8"))["templating"]["list"]
        if variable["type"] == "datasource"
    }
    assert asked == provisioned.keys()
    rules = yaml.safe_load((GENERATED / RULES).read_text("utf-8"))
    used = {
        query["datasourceUid"]
        for group in rules["groups"]
        for rule in group["rules"]
        for query in rule["data"]
    }
    assert used - {"__expr__"} == {provisioned["prometheus"]["uid"]}


def test_the_store_is_asked_as_it_is_served() -> None:
    (store,) = (e for e in read("datasources")["datasources"] if "clickhouse" in e["type"])
    assert store["jsonData"]["protocol"] == "http"
    assert store["jsonData"]["port"] == 9465
    assert store["jsonData"]["username"] == "davylamp"
    assert store["secureJsonData"]["password"].startswith("${")


def test_it_leaves_the_default_source_of_a_grafana_alone() -> None:
    # With two in its files that say they are the default, Grafana does not start.
    assert not [each["name"] for each in read("datasources")["datasources"] if "isDefault" in each]


def test_what_its_environment_must_have_is_written_beside_it() -> None:
    files = "".join(file.read_text("utf-8") for file in FOLDER.rglob("*.yaml"))
    asked = set(re.findall(r"\$\{(\w+)\}", files))
    said = (FOLDER.parent / "README.md").read_text("utf-8")
    assert {name for name in asked if f"`{name}`" not in said} == set()
    assert len(asked) == 3


def test_dashboards_and_alerts_go_into_one_folder() -> None:
    (provider,) = read("dashboards")["providers"]
    rules = yaml.safe_load((GENERATED / RULES).read_text("utf-8"))
    assert {group["folder"] for group in rules["groups"]} == {provider["folder"]}
    assert provider["allowUiUpdates"] is False
