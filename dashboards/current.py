"""What grafanalib writes, put right for today's Grafana: keys that were dropped, and nulls."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

_DROPPED = (
    *("error", "editable", "height", "span", "minSpan", "hideTimeOverride", "timeShift"),
    *("cacheTimeout", "maxPerRow", "repeatDirection", "color", "columns", "fontSize", "mappings"),
)
_DROPPED_OF_DASHBOARDS = ("__inputs", "hideControls", "rows", "sharedCrosshair", "style", "id")
_DROPPED_OF_VARIABLES = ("tagsQuery", "tagValuesQuery", "useTags", "auto", "auto_min", "auto_count")
# Of tables. A unit is put on words that look like numbers too ("7200" would be two hours), and what
# is said of no row at all into every empty cell.
_CELLS = (
    {
        "matcher": {"id": "byRegexp", "options": ".*"},
        "properties": [{"id": "noValue", "value": "-"}],
    },
    {
        "matcher": {"id": "byType", "options": "string"},
        "properties": [{"id": "unit", "value": "string"}],
    },
)
# A panel that counts by the hour must have no longer steps: what falls between two hours that are
# asked for would be nowhere. What Grafana works out to be below 90 minutes it rounds to an hour.
_HOURLY, _POINTS, _POINTS_OF_HOURS = "[1h]", 600, 1500
_KEPT_OF_TARGETS = ("datasource", "expr", "refId", "legendFormat", "instant", "range", "format")


def current(plain: dict[str, Any]) -> dict[str, Any]:
    """Return a dashboard without what Grafana dropped, nulls included. Changes what it is given."""
    for name in _DROPPED_OF_DASHBOARDS:
        plain.pop(name, None)
    for variable in plain["templating"]["list"]:
        _put_variable_right(variable)
    for panel in plain["panels"]:
        _put_panel_right(panel)
    plain["timepicker"].pop("time_options", None)
    bare: dict[str, Any] = _without_nulls(plain)
    return bare


def _put_variable_right(variable: dict[str, Any]) -> None:
    for name in _DROPPED_OF_VARIABLES:
        variable.pop(name, None)
    variable["current"].pop("tags", None)
    if variable["includeAll"]:
        variable["current"] = {"selected": True, "text": ["All"], "value": ["$__all"]}
    else:
        variable["current"] = {"selected": False, "text": "", "value": ""}


def _put_panel_right(panel: dict[str, Any]) -> None:
    for name in _DROPPED:
        panel.pop(name, None)
    if panel["type"] in ("row", "text"):
        for name in ("fieldConfig", "targets", "interval", "maxDataPoints", "transformations"):
            panel.pop(name, None)
    if panel["type"] == "row":
        for name in ("links", "transparent", "datasource", "description"):
            panel.pop(name, None)
        return
    if panel["type"] != "text":
        _put_queries_right(panel)
    if panel["type"] == "table":
        panel["fieldConfig"]["defaults"]["custom"].pop("displayMode", None)
        panel["fieldConfig"]["defaults"]["custom"].pop("filterable", None)
        panel["options"].pop("sortBy", None)
        panel["fieldConfig"]["overrides"][:0] = deepcopy(_CELLS)
    if panel["type"] == "timeseries":
        custom = panel["fieldConfig"]["defaults"]["custom"]
        if custom["scaleDistribution"]["type"] == "linear":
            custom["scaleDistribution"].pop("log")


def _put_queries_right(panel: dict[str, Any]) -> None:
    hourly = any(_HOURLY in target.get("expr", "") for target in panel["targets"])
    panel["maxDataPoints"] = _POINTS_OF_HOURS if hourly else _POINTS
    for target in panel["targets"]:
        if "rawSql" in target:
            continue
        target["range"] = not target["instant"]
        for name in set(target) - set(_KEPT_OF_TARGETS):
            del target[name]


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        # The lowest step of thresholds has no value: there a null is what Grafana expects.
        return {
            key: _without_nulls(each)
            for key, each in value.items()
            if each is not None or (key == "value" and "color" in value)
        }
    if isinstance(value, list):
        return [_without_nulls(each) for each in value]
    return value


def provisioned(rule: dict[str, Any]) -> dict[str, Any]:
    """Return an alert rule as files of Grafana have it, from the ruler's form that grafanalib has.

    Grafana puts its environment in for ``$NAME`` in titles and labels of such files, where ``$$``
    means ``$``. Queries and annotations it takes as they stand: there ``$$`` would stay two.
    """
    said = rule["grafana_alert"]
    return {
        "uid": rule["uid"],
        "title": _escaped(said["title"]),
        "condition": said["condition"],
        "data": [_asked(each) for each in said["data"]],
        "noDataState": said["no_data_state"],
        "execErrState": said["exec_err_state"],
        "for": rule["for"],
        "labels": {name: _escaped(value) for name, value in rule["labels"].items()},
        "annotations": rule["annotations"],
    }


def _asked(query: dict[str, Any]) -> dict[str, Any]:
    model, ref = query["model"], query["refId"]
    if "conditions" in model:
        expression = {"type": "__expr__", "uid": "__expr__"}
        kept = {"type": model["type"], "expression": model["expression"]}
        return {
            "refId": ref,
            "datasourceUid": "__expr__",
            "model": {"refId": ref, "datasource": expression, **kept},
        }
    uid = query["datasourceUid"]
    return {
        "refId": ref,
        "relativeTimeRange": query["relativeTimeRange"],
        "datasourceUid": uid,
        "model": {
            "refId": ref,
            "datasource": {"type": "prometheus", "uid": uid},
            "expr": model["expr"],
            "instant": True,
            "range": False,
        },
    }


def _escaped(text: str) -> str:
    return text.replace("$", "$$")
