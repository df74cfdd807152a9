"""Every panel of every dashboard, asked of a full history: nothing fails, none is empty."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import pytest

from tests.dashboards.asking import (
    GENERATED,
    Shown,
    asked,
    legend,
    numbers,
    panels,
    statement_of,
    store_of,
)
from tests.dashboards.backfilled import backfilled
from tests.dashboards.expand import ALL, promql, sql
from tests.dashboards.history import PROD, STAGING, History, make
from tests.integration.alerting import Prometheus

_REAL = (int, float)
# What a link to a dashboard may bring as a name.
HOSTILE = {
    "nothing": "",
    "quote": "'",
    "backslash": "\\",
    "end_of_string": "') OR 1=1 -- ",
    "escaped_end": "\\') OR 1=1 -- ",
    "macro": "$__toTime",
    "html": "<img src=x onerror=alert(1)>",
    "bidi": "\u202edorp-mlg",
    "pattern": "glm-pro.",
    "percent": "%27 OR 1=1",
}
DASHBOARDS = sorted(file.stem for file in GENERATED.glob("*.json"))


def dashboard_of(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((GENERATED / f"{name}.json").read_text("utf-8"))
    return data


def named(shown: list[Shown]) -> Any:
    return pytest.mark.parametrize("shown", shown, ids=[each.name for each in shown])


@pytest.fixture(scope="session")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    return make(tmp_path_factory.mktemp("history"))


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, history: History) -> Iterator[Prometheus]:
    with backfilled(tmp_path_factory.mktemp("prometheus"), history) as running:
        yield running


@pytest.fixture(scope="session")
def store(history: History) -> Iterator[Any]:
    with store_of(history) as client:
        yield client


def mapped(panel: Mapping[str, Any], value: float) -> bool:
    """Tell whether a value of a timeline has a word and a colour."""
    for mapping in panel["fieldConfig"]["defaults"]["mappings"]:
        options = mapping["options"]
        if mapping["type"] == "value" and f"{value:g}" in options:
            return True
    return False


@named(panels("prometheus"))
def test_a_panel_of_prometheus_shows_something_of_the_shape_it_draws(
    shown: Shown, served: Prometheus, history: History
) -> None:
    panel, found = shown.panel, asked(shown, served, history)
    for target, result in zip(panel["targets"], found, strict=True):
        assert result, f"empty: {target['expr']}"
        if panel["type"] != "table":
            legends = [legend(target, series) for series in result]
            assert len(set(legends)) == len(legends), legends
            assert all(each.strip() for each in legends), legends
        drawn = [value for series in result for value in numbers(series)]
        assert any(math.isfinite(value) for value in drawn), target["expr"]
        assert not any(math.isinf(value) for value in drawn), target["expr"]
    if panel["type"] == "timeseries":
        assert all(max(len(each["values"]) for each in result) >= 2 for result in found)
    if panel["type"] == "state-timeline":
        states = {value for result in found for series in result for value in numbers(series)}
        assert all(mapped(panel, value) for value in states), states
    if panel["type"] == "stat":
        assert all(len(series["values"]) == 1 for result in found for series in result)


@named(panels("grafana-clickhouse-datasource"))
def test_a_panel_of_the_store_shows_something_of_the_shape_it_draws(
    shown: Shown, store: Any, history: History
) -> None:
    statement = statement_of(shown, history)
    result = store.query(statement)
    assert result.row_count > 0, statement
    if shown.panel["type"] == "timeseries":
        assert result.column_names[0] == "time"
        assert all(isinstance(row[0], datetime) for row in result.result_rows)
        assert any(isinstance(value, _REAL) for value in result.result_rows[0][1:])


@named([e for e in panels("prometheus") if e.panel["fieldConfig"]["overrides"]])
def test_what_is_drawn_otherwise_is_found(
    shown: Shown, served: Prometheus, history: History
) -> None:
    panel, found = shown.panel, asked(shown, served, history)
    names = {
        legend(target, series)
        for target, result in zip(panel["targets"], found, strict=True)
        for series in result
    }
    if panel["type"] == "table":
        names = {label for result in found for series in result for label in series["metric"]}
    painted, otherwise = set(), set()
    for override in panel["fieldConfig"]["overrides"]:
        if override["matcher"]["id"] == "byRegexp":
            only_colour = {each["id"] for each in override["properties"]} == {"color"}
            (painted if only_colour else otherwise).add(override["matcher"]["options"])
    for pattern in otherwise:
        assert any(re.fullmatch(pattern, name) for name in names), (pattern, names)
    # Not every outcome, code or class is there in some hours; those that are have their colour.
    for name in names if painted else ():
        assert any(re.fullmatch(pattern, name) for pattern in painted), (name, painted)


@named([e for e in panels("grafana-clickhouse-datasource") if e.dashboard != "monitor"])
@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE.keys())
def test_the_store_is_asked_for_a_name_whatever_it_is(
    shown: Shown, value: str, store: Any, history: History
) -> None:
    (target,) = shown.panel["targets"]
    chosen = {"target": value, "trial": value}
    statement = sql(target["rawSql"], chosen, history.began, history.ended)
    assert store.query(statement).row_count == 0, statement


def test_the_store_is_asked_for_one_target_for_some_and_for_all(
    store: Any, history: History
) -> None:
    [shown] = [
        each
        for each in panels("grafana-clickhouse-datasource")
        if each.panel["title"] == "What budgets spent a day"
    ]
    (target,) = shown.panel["targets"]

    def asked_of(value: str) -> set[str]:
        statement = sql(target["rawSql"], {"target": value}, history.began, history.ended)
        result = store.query(statement)
        return {row[result.column_names.index("target")] for row in result.result_rows}

    assert asked_of(ALL) == {PROD, STAGING}
    assert asked_of(f"{{{PROD},{STAGING}}}") == {PROD, STAGING}
    assert asked_of(STAGING) == {STAGING}


def test_the_incident_is_seen_on_the_right_and_not_on_the_left(
    served: Prometheus, history: History
) -> None:
    by_title = {
        each.panel["title"]: each for each in panels("prometheus") if each.dashboard == "overview"
    }
    codes = asked(by_title["Users: status codes"], served, history)[0]
    served_well = next(s for s in codes if s["metric"]["code"].startswith("2"))
    assert min(numbers(served_well)) > 0.9 * max(numbers(served_well))
    good, judged = asked(by_title["Answers good, and of how many"], served, history)
    prod = next(s for s in good if s["metric"]["target"] == PROD)
    assert min(numbers(prod)) < 0.9
    assert all(max(numbers(each)) > 0 for each in judged)


def test_nothing_wrong_looks_different_from_nothing_asked(
    served: Prometheus, history: History
) -> None:
    worst = next(
        each
        for each in panels("prometheus")
        if each.dashboard == "overview" and each.panel["title"].startswith("Worst class")
    )
    (result,) = asked(worst, served, history)
    states = {s["metric"]["target"]: set(numbers(s)) for s in result}
    words = worst.panel["fieldConfig"]["defaults"]["mappings"][0]["options"]
    assert {0, -1} <= states["glm-staging"]
    assert words["0"]["color"] == "green"
    assert words["-1"]["color"].startswith("#")
    assert "▨" in words["-1"]["text"]
    assert max(states[PROD]) >= 5


@pytest.mark.parametrize("dashboard", DASHBOARDS)
def test_marks_on_the_time_axis_are_found(
    dashboard: str, served: Prometheus, history: History
) -> None:
    for mark in dashboard_of(dashboard)["annotations"]["list"]:
        shown = Shown(
            dashboard=dashboard, panel={"targets": [{**mark["target"], "instant": False}]}
        )
        (result,) = asked(shown, served, history)
        assert result, mark["name"]
        words = set(re.findall(r"\{\{(\w+)\}\}", mark["titleFormat"] + mark["textFormat"]))
        assert words <= {label for series in result for label in series["metric"]}


@pytest.mark.parametrize("dashboard", DASHBOARDS)
def test_what_can_be_chosen_is_known(dashboard: str, served: Prometheus, history: History) -> None:
    for variable in dashboard_of(dashboard)["templating"]["list"]:
        if variable["type"] != "query":
            continue
        asked_for = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"])
        assert asked_for, variable["query"]
        matching = promql(asked_for[1], {"env": "testing"})
        said = served.get(
            f"/api/v1/label/{asked_for[2]}/values",
            **{"match[]": matching, "start": f"{history.began.timestamp():.0f}"},
        )
        assert set(said["data"]) <= {"testing", PROD, STAGING}
        assert said["data"]
