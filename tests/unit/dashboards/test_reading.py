"""What a Grafana makes of the committed dashboards: its matchers, units, links and variables.

Each rule is one of Grafana's own that its schema does not tell: it draws what breaks one without a
word, but otherwise than it was meant.
"""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import pytest

from dashboards.__main__ import GENERATED
from monitor.grafana import dashboards_in
from monitor.model import Outcome, VerdictClass
from monitor.slo import Links
from monitor.store.audit import OURSELVES
from tests.architecture.source import ROOT
from tests.dashboards.expand import VARIABLE

DASHBOARDS = dashboards_in(GENERATED)
DRAWN = [
    pytest.param(dashboard.data, panel, id=f"{dashboard.file.stem}-{panel['id']}")
    for dashboard in DASHBOARDS
    for panel in dashboard.data["panels"]
    if panel["type"] not in ("row", "text")
]
TABLES = [each for each in DRAWN if each.values[1]["type"] == "table"]
OF_PROMETHEUS = [each for each in DRAWN if "expr" in each.values[1]["targets"][0]]
OF_THE_STORE = [each for each in DRAWN if "rawSql" in each.values[1]["targets"][0]]
# What some labels can be called.
WORDS = {
    "code": ("200", "302", "404", "503", "none"),
    "outcome": tuple(Outcome),
    "class": tuple(each.label for each in VerdictClass),
}


def matches(pattern: str, name: str) -> bool:
    """Tell whether a pattern fits a name: the whole of it, unless it stands between slashes."""
    if pattern.startswith("/"):
        return re.search(pattern.strip("/"), name) is not None
    return re.fullmatch(pattern, name) is not None


def names(panel: dict[str, Any]) -> set[str]:
    """Return what series and columns of a panel can be called."""
    found = set()
    for target in panel["targets"]:
        if panel["type"] == "table":
            found |= set(re.findall(r"\w+", target.get("rawSql", target.get("expr", ""))))
        legend = target.get("legendFormat", "")
        labels = re.findall(r"\{\{(\w+)\}\}", legend)
        for words in itertools.product(*(WORDS.get(label, ("x",)) for label in labels)):
            found.add(re.sub(r"\{\{\w+\}\}", "{}", legend).format(*words))
    return found


@pytest.mark.parametrize(("dashboard", "panel"), DRAWN)
def test_what_is_drawn_otherwise_is_there(dashboard: Any, panel: Any) -> None:
    for override in panel["fieldConfig"]["overrides"]:
        matcher = override["matcher"]
        if matcher["id"] == "byFrameRefID":
            assert matcher["options"] in {target["refId"] for target in panel["targets"]}
        elif matcher["id"] == "byRegexp":
            assert any(matches(matcher["options"], name) for name in names(panel)), matcher
        else:
            assert matcher["id"] == "byType"


@pytest.mark.parametrize(("dashboard", "panel"), TABLES)
def test_a_table_keeps_words_as_they_are_and_says_little_of_an_empty_cell(
    dashboard: Any, panel: Any
) -> None:
    # A unit is put on words that look like numbers too, and the reason why there is no row into
    # every empty cell.
    first, second = panel["fieldConfig"]["overrides"][:2]
    assert first["matcher"] == {"id": "byRegexp", "options": ".*"}
    assert first["properties"] == [{"id": "noValue", "value": "-"}]
    assert second["matcher"] == {"id": "byType", "options": "string"}
    assert second["properties"] == [{"id": "unit", "value": "string"}]
    assert len(panel["fieldConfig"]["defaults"]["noValue"]) > 10


@pytest.mark.parametrize(("dashboard", "panel"), [e for e in TABLES if e in OF_PROMETHEUS])
def test_a_column_of_numbers_says_of_what_or_is_not_there(dashboard: Any, panel: Any) -> None:
    [organized] = [each for each in panel["transformations"] if each["id"] == "organize"]
    options = organized["options"]
    constant = panel["targets"][0]["expr"].endswith("== 1")
    assert (
        options["excludeByName"].get("Value", False) is constant
        or "Value" in (options["renameByName"])
    )


@pytest.mark.parametrize(("dashboard", "panel"), DRAWN)
def test_why_a_panel_is_empty_stands_in_its_words_too(dashboard: Any, panel: Any) -> None:
    # A strip of states says "No data in response" in most versions, whatever it was told to say.
    assert panel["description"].endswith(panel["fieldConfig"]["defaults"]["noValue"])


@pytest.mark.parametrize(("dashboard", "panel"), OF_PROMETHEUS)
def test_a_name_is_chosen_and_not_a_pattern(dashboard: Any, panel: Any) -> None:
    # A variable of one value is put in as it is: "eu.prod" as a pattern would be "eu-prod" too.
    for target in panel["targets"]:
        expr = target["expr"]
        assert not re.search(r'=~"[^"]*\$', expr), expr
        assert set(VARIABLE.findall(expr)) <= {("", "", "env"), ("target", "regex", "")}, expr
        assert set(re.findall(r"(\W+)\$\{target:regex\}", expr)) <= {"=~`"}


@pytest.mark.parametrize(("dashboard", "panel"), OF_THE_STORE)
def test_what_somebody_types_cannot_end_a_statement(dashboard: Any, panel: Any) -> None:
    # Of all the ways to write a value only this one leaves neither quotes nor backslashes.
    for target in panel["targets"]:
        used = {found for found in VARIABLE.findall(target["rawSql"]) if not found[2]}
        assert {form for _, form, _ in used} <= {"percentencode"}
        assert {name for *_, name in VARIABLE.findall(target["rawSql"])} <= {
            *("", "__fromTime", "__toTime", "__timeFilter"),
        }


@pytest.mark.parametrize(("dashboard", "panel"), OF_THE_STORE)
def test_a_question_to_the_store_is_one_of_the_plugin_s_fourth_version(
    dashboard: Any, panel: Any
) -> None:
    for target in panel["targets"]:
        assert target["pluginVersion"].startswith("4.")
        assert target["editorType"] == "sql"
        drawn = ("timeseries", 0) if panel["type"] == "timeseries" else ("table", 1)
        assert (target["queryType"], target["format"]) == drawn


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=[each.uid for each in DASHBOARDS])
def test_no_link_leads_to_all_targets_where_one_is_shown(dashboard: Any) -> None:
    # A choice is taken along as it is, also one that is none there: the page would be empty.
    single = {
        each.uid
        for each in DASHBOARDS
        for variable in each.data["templating"]["list"]
        if variable["name"] == "target" and not variable["includeAll"]
    }
    assert single == {"davylamp-target"}
    for link in dashboard.data["links"]:
        if link["url"].startswith("/d/davylamp-target"):
            assert link["includeVars"] is False
            assert "${env:queryparam}" in link["url"]
            assert "var-target" not in link["url"]


def links_of(panel: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the links of a panel's values."""
    config = panel["fieldConfig"]
    found = list(config["defaults"]["links"])
    for override in config["overrides"]:
        for each in override["properties"]:
            found += each["value"] if each["id"] == "links" else []
    return found


def test_a_link_takes_the_sources_along_and_writes_values_for_a_url() -> None:
    found = [link for each in DRAWN for link in links_of(each.values[1])]
    assert len(found) > 8
    for link in found:
        values = re.findall(r"\$\{__(?:value|field)[^}]*\}", link["url"])
        assert all(value.endswith(":percentencode}") for value in values), link
        if link["url"].startswith("/d/"):
            for name in ("env", "datasource", "clickhouse"):
                assert f"${{{name}:queryparam}}" in link["url"]
            assert "${__url_time_range}" in link["url"]


def test_alerts_lead_to_their_runbooks() -> None:
    alerts = [
        panel
        for each in DASHBOARDS
        for panel in each.data["panels"]
        if "ALERTS" in json.dumps(panel.get("targets", ()))
    ]
    assert {panel["title"] for panel in alerts} == {"Alerts of Davylamp", "Alerts of this target"}
    for panel in alerts:
        [link] = links_of(panel)
        assert link["url"] == Links().runbook("${__field.labels.alertname:percentencode}")
    assert (ROOT / "alerts" / "runbooks" / "DavylampWatchdog.md").is_file()


@pytest.mark.parametrize(("dashboard", "panel"), OF_PROMETHEUS)
def test_two_series_of_a_panel_have_two_names(dashboard: Any, panel: Any) -> None:
    if panel["type"] == "table":
        return
    for target in panel["targets"]:
        grouped = re.search(r"\bby \(([^)]*)\)", target["expr"])
        if grouped is None:
            continue
        labels = set(grouped[1].split(", ")) - {"le", "env", "sha256"}
        labels -= {"target"} if dashboard["uid"] == "davylamp-target" else set()
        told = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
        assert labels <= told, target["expr"]


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=[each.uid for each in DASHBOARDS])
def test_words_do_not_hand_a_command_what_a_link_brought(dashboard: Any) -> None:
    # Whoever reads "davylamp explain …" pastes it into a shell.
    for panel in dashboard.data["panels"]:
        if panel["type"] == "text":
            assert "$" not in panel["options"]["content"]


def test_a_budget_that_is_far_overspent_stays_in_sight() -> None:
    [panel] = [e.values[1] for e in DRAWN if e.values[1]["title"] == "Error budget left"]
    low = panel["fieldConfig"]["defaults"]["min"]
    assert panel["targets"][0]["expr"].startswith("clamp_min(")
    assert panel["targets"][0]["expr"].endswith(f", {low})")


def test_what_people_decided_is_not_lost_among_the_monitor_s_own_links() -> None:
    # Every marker is a link of the chain: hundreds an hour.
    [statement] = [
        target["rawSql"]
        for each in OF_THE_STORE
        for target in each.values[1]["targets"]
        if "FROM audit_log" in target["rawSql"]
    ]
    assert f"actor != '{OURSELVES}'" in statement


def test_without_a_trial_nothing_is_shown_as_one_s() -> None:
    # Most signals have no owner, and some verdicts no trial: "" is theirs.
    chosen = "${trial:percentencode}"
    statements = [target["rawSql"] for e in OF_THE_STORE for target in e.values[1]["targets"]]
    asking = [each for each in statements if chosen in each]
    assert len(asking) == 5
    for each in asking:
        never_empty = f"nullIf(trimBoth(decodeURLComponent('{chosen}')), '')"
        assert each.count(never_empty) == each.count(chosen)


def test_what_the_store_knows_of_a_finding_does_not_depend_on_when_it_began() -> None:
    # One that is open since before the time range is open all the same.
    statements = [
        target["rawSql"]
        for each in OF_THE_STORE
        for target in each.values[1]["targets"]
        if "FROM findings" in target["rawSql"]
    ]
    assert len(statements) == 2
    for statement in statements:
        assert "$__timeFilter(first_seen)" not in statement
        assert "state NOT IN ('resolved', 'dismissed')" in statement
