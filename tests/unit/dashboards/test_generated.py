"""The committed dashboards: as their sources make them, and what each of them must have."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from dashboards.__main__ import GENERATED, RULES, files
from monitor.conventions import METRICS
from monitor.conventions.gpu import GPU_XIDS
from monitor.conventions.pages import PAGES
from monitor.grafana import dashboards_in, faults_of, known_names, schema_of
from monitor.grafana.checking import metrics_in
from monitor.model import VerdictClass
from monitor.slo import sources_folder
from monitor.slo.links import DASHBOARD, MONITOR_DASHBOARD, NODES_DASHBOARD
from tests.architecture.source import ROOT
from tests.architecture.test_written_commands import refused, written
from tests.dashboards.drawing import of_series

ALERTS = ROOT / "alerts" / "rules"
# Series that are on no dashboard, each with the reason. Better empty.
NOT_SHOWN: dict[str, str] = {
    "davylamp_node_conforms": "node_conformity shows the same, with the state that is unknown",
}
DASHBOARDS = dashboards_in(GENERATED)
PANELS = [
    pytest.param(dashboard.data, panel, id=f"{dashboard.file.stem}-{panel['id']}")
    for dashboard in DASHBOARDS
    for panel in dashboard.data["panels"]
]
DRAWN = [each for each in PANELS if each.values[1]["type"] not in ("row", "text")]


def shown() -> frozenset[str]:
    """Return every metric that some panel asks for."""
    return frozenset(
        metric
        for each in DRAWN
        for target in each.values[1]["targets"]
        for metric in metrics_in(target.get("expr", ""))
    )


def test_what_is_committed_is_what_the_sources_make() -> None:
    made = files()
    assert {file.name for file in GENERATED.iterdir()} == set(made)
    for name, text in made.items():
        fresh = (GENERATED / name).read_text("utf-8") == text
        assert fresh, f"{name}: run davylamp dashboards build"


@pytest.mark.parametrize(("dashboard", "panel"), DRAWN)
def test_no_hour_of_ninety_days_falls_between_two_steps(
    dashboard: dict[str, Any], panel: dict[str, Any]
) -> None:
    asked = [target.get("expr", "") for target in panel["targets"]]
    if any("[1h]" in each for each in asked):
        # Grafana asks in steps of an hour as long as a point is less than 90 minutes
        # (@grafana/data, rangeutil.roundInterval), and Prometheus gives 11,000 points at most.
        assert 90 * 24 / panel["maxDataPoints"] < 1.5
        assert panel["maxDataPoints"] < 11_000
    else:
        assert panel["maxDataPoints"] == 600


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=[each.uid for each in DASHBOARDS])
def test_a_dashboard_has_no_fault(dashboard: Any) -> None:
    faults = faults_of(dashboard, schema_of(), known_names(sources_folder() / "rules"))
    assert [f"{fault.where}: {fault.words}" for fault in faults] == []


def test_what_alerts_link_to_is_there_with_its_variables() -> None:
    (target,) = (each for each in DASHBOARDS if each.uid == DASHBOARD)
    variables = {variable["name"] for variable in target.data["templating"]["list"]}
    assert {"env", "target", "datasource", "clickhouse"} <= variables


def test_every_exported_metric_is_shown_or_has_a_reason_not_to_be() -> None:
    suffixes = ("_bucket", "_sum", "_count")
    seen = shown()
    unseen = {
        metric.name
        for metric in METRICS
        if metric.name not in seen and not seen & {metric.name + each for each in suffixes}
    }
    assert unseen == NOT_SHOWN.keys()


@pytest.mark.parametrize(("dashboard", "panel"), PANELS)
def test_a_panel_stands_where_no_other_does(dashboard: Any, panel: Any) -> None:
    def cells(each: Any) -> set[tuple[int, int]]:
        at = each["gridPos"]
        return {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }

    own = cells(panel)
    assert max(x for x, _ in own) < 24
    others = (each for each in dashboard["panels"] if each["id"] != panel["id"])
    assert not [each["title"] for each in others if own & cells(each)]


@pytest.mark.parametrize(("dashboard", "panel"), DRAWN)
def test_a_panel_says_what_it_is_and_asks_by_name(dashboard: Any, panel: Any) -> None:
    defaults = panel["fieldConfig"]["defaults"]
    assert panel["description"].endswith(".")
    assert defaults["unit"]
    assert defaults["noValue"].endswith(".")
    refs = [target["refId"] for target in panel["targets"]]
    assert refs == sorted(set(refs))
    for target in panel["targets"]:
        assert target["datasource"]["type"] in ("prometheus", "grafana-clickhouse-datasource")
        assert target["datasource"]["uid"] in ("${datasource}", "${clickhouse}")


def test_every_command_that_a_panel_tells_to_run_is_taken() -> None:
    text = "".join(file.read_text("utf-8") for file in GENERATED.glob("*.json"))
    commands = {each.replace("${trial}", "TRIAL") for each in written(text)}
    assert len(commands) > 5
    assert not {each: why for each in commands if (why := refused(each))}


def test_no_null_is_left_but_that_of_the_lowest_step() -> None:
    def nulls(value: Any, path: str) -> Iterator[str]:
        if isinstance(value, dict):
            for key, each in value.items():
                yield from nulls(each, f"{path}.{key}")
        elif isinstance(value, list):
            for each in value:
                yield from nulls(each, path)
        elif value is None:
            yield path

    found = {path for each in DASHBOARDS for path in nulls(each.data, "")}
    assert found == {".panels.fieldConfig.defaults.thresholds.steps.value"}


def test_what_was_not_asked_is_never_green() -> None:
    mappings = [
        mapping
        for each in DRAWN
        for mapping in each.values[1]["fieldConfig"]["defaults"]["mappings"]
    ]
    assert {mapping["type"] for mapping in mappings} == {"value"}
    hatched = [
        (word["text"], word["color"])
        for mapping in mappings
        for word in mapping["options"].values()
        if "▨" in word["text"]
    ]
    assert len(hatched) > 10
    assert {colour for _, colour in hatched} == {"#6e7681"}


_PAINTED = {
    "{{outcome}}": ("good", "bad", "error", "invalid"),
    "{{code}}": ("200", "404", "503", "none"),
    "{{class}}": tuple(each.label for each in VerdictClass if each is not VerdictClass.NONE),
}


# What becomes of a page is another outcome, and an Xid another code.
_OTHER = {PAGES.name, GPU_XIDS.name}


def test_lines_of_outcomes_codes_and_classes_are_not_left_to_the_palette() -> None:
    # The palette begins with green, and goes by the order of names: bad would be green.
    found = {
        (panel["title"], name): of_series(panel, query, name)["color"].get("fixedColor")
        for panel in (each.values[1] for each in DRAWN)
        if panel["type"] == "timeseries"
        for query, target in enumerate(panel["targets"])
        for label, words in _PAINTED.items()
        if label in target.get("legendFormat", "") and _OTHER.isdisjoint(metrics_in(target["expr"]))
        for name in (target["legendFormat"].replace(label, word) for word in words)
    }
    assert len({title for title, _ in found}) >= 6
    assert [each for each, colour in found.items() if colour is None] == []
    green = {name for (_, name), colour in found.items() if colour == "green"}
    assert all(re.search(r"\bgood\b|\b200\b", name) for name in green)


def test_only_one_module_knows_grafanalib() -> None:
    importers = {
        str(file.relative_to(ROOT))
        for folder in ("dashboards", "monitor", "tests", "scripts")
        for file in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [each.name for each in node.names]
        )
        if name.partition(".")[0] == "grafanalib"
    }
    assert importers == {"dashboards/panels.py"}


def provisioned() -> list[dict[str, Any]]:
    """Return the rules as Grafana has them once it has read the file.

    Labels and titles have its environment put in for ``$NAME``, and ``$`` for ``$$``. Models of
    queries, and annotations, stay as they are written:
    https://grafana.com/docs/grafana/latest/alerting/set-up/provision-alerting-resources/file-provisioning/
    """
    made = yaml.safe_load((GENERATED / RULES).read_text("utf-8"))
    rules = [rule for group in made["groups"] for rule in group["rules"]]
    for rule in rules:
        rule["title"] = in_environment(rule["title"])
        rule["labels"] = {name: in_environment(each) for name, each in rule["labels"].items()}
    return rules


def in_environment(text: str) -> str:
    """Return a text as Grafana expands it where nothing is set."""
    return "$".join(re.sub(r"\$(\w+|\{[^}]*\})", "", part) for part in text.split("$$"))


def test_every_alert_is_one_of_grafana_too_with_the_same_expression() -> None:
    written = [
        (rule["alert"], rule["expr"], rule["labels"], rule.get("for", "0s"))
        for file in ALERTS.glob("*.yml")
        for group in yaml.safe_load(file.read_text("utf-8"))["groups"]
        for rule in group["rules"]
        if "alert" in rule
    ]
    found = []
    for rule in provisioned():
        labels = dict(rule["labels"])
        expr = rule["data"][0]["model"]["expr"]
        found.append((labels.pop("alert"), expr, labels, rule["for"]))
    assert sorted(found, key=str) == sorted(written, key=str)


def test_words_of_an_alert_are_those_of_prometheus_and_its_value_that_of_the_query() -> None:
    said = {
        rule["annotations"]["description"].replace("$value", "$values.query.Value")
        for file in ALERTS.glob("*.yml")
        for group in yaml.safe_load(file.read_text("utf-8"))["groups"]
        for rule in group["rules"]
        if "alert" in rule
    }
    rules = provisioned()
    assert {rule["annotations"]["description"] for rule in rules} == said
    for rule in rules:
        names = {each["refId"] for each in rule["data"]}
        text = " ".join(rule["annotations"].values())
        assert set(re.findall(r"\$+\w+", text)) <= {"$labels", "$values"}
        assert set(re.findall(r"\$values\.(\w+)\.Value", text)) <= names
        # Newer ones put their environment in for this form in annotations too.
        assert "${" not in text


def test_rules_of_grafana_can_be_loaded_and_read_no_store() -> None:
    rules = provisioned()
    for name, longest in (("uid", 40), ("title", 190)):
        each = [rule[name] for rule in rules]
        assert len(set(each)) == len(each)
        assert max(map(len, each)) <= longest
    for rule in rules:
        text = json.dumps(rule)
        assert "clickhouse" not in text
        assert "graphLink" not in text
        assert rule["condition"] == rule["data"][-1]["refId"]
        assert {each["datasourceUid"] for each in rule["data"]} == {"prometheus", "__expr__"}


def test_a_rule_of_grafana_fires_on_its_query_and_errs_where_it_cannot_be_asked() -> None:
    for rule in provisioned():
        asked, fires = (each["model"] for each in rule["data"])
        assert asked["refId"] == "query"
        assert (asked["instant"], asked["range"]) == (True, False)
        assert fires["type"] == "math"
        # A variable of such an expression is one $ and a name: anything else is not parsed.
        assert set(re.findall(r"\$+\S+?(?=[)\s]|$)", fires["expression"])) == {"$query"}
        # As in Prometheus, nothing found is nothing wrong (that all is there is an alert of its
        # own), but a query that failed is no answer.
        assert (rule["noDataState"], rule["execErrState"]) == ("OK", "Error")


def test_an_alert_leads_to_a_panel_that_is_there() -> None:
    ids = {each.uid: {str(panel["id"]) for panel in each.data["panels"]} for each in DASHBOARDS}
    linked = [rule["annotations"] for rule in provisioned() if "__panelId__" in rule["annotations"]]
    for each in linked:
        assert each["__panelId__"] in ids[each["__dashboardUid__"]]
        assert f"/d/{each['__dashboardUid__']}" in each["dashboard_url"]
    known = {DASHBOARD, NODES_DASHBOARD, MONITOR_DASHBOARD}
    assert {each["__dashboardUid__"] for each in linked} == known


def test_an_alert_of_no_target_does_not_lead_to_some_target() -> None:
    led = {}
    for rule in provisioned():
        url = rule["annotations"]["dashboard_url"]
        led[rule["labels"]["alert"]] = (re.findall(r"/d/([a-z-]+)", url), "var-target" in url)
    for name, ([uid], targeted) in led.items():
        assert targeted or uid != DASHBOARD, name
    assert led["DavylampAbsent"] == ([MONITOR_DASHBOARD], False)
    assert led["DavylampFinding"] == ([DASHBOARD], True)


def test_every_alert_on_nodes_and_gpus_leads_to_a_panel_that_shows_it() -> None:
    groups = {"davylamp-gpus", "davylamp-node-signals", "davylamp-nodes"}
    built = [
        group
        for file in ("gpus", "nodes")
        for group in yaml.safe_load((ALERTS / f"{file}.rules.yml").read_text("utf-8"))["groups"]
    ]
    assert {group["name"] for group in built} == groups
    alerts = {rule["alert"] for group in built for rule in group["rules"]}
    led = {
        rule["labels"]["alert"]: rule["annotations"].get("__dashboardUid__")
        for rule in provisioned()
        if rule["labels"]["alert"] in alerts
    }
    assert led == dict.fromkeys(alerts, NODES_DASHBOARD)
