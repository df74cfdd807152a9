"""Panels, variables and dashboards as today's Grafana reads them: the only module over grafanalib.

grafanalib's last release is of January 2024 and its defaults are older. Everything is made by it
and then put right in one place, ``dashboards.current``: names of queries, data sources as
``{type, uid}``, thresholds, keys that Grafana dropped, and nulls. A schema made of Grafana's own
types holds the result (``dashboards/schema``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import Any

import attr
from grafanalib import core
from grafanalib._gen import DashboardEncoder

from dashboards.current import current, provisioned

# What Grafana 10.4 writes. Newer ones migrate it upwards when they load it; older ones ignore it.
SCHEMA_VERSION = 39
PROMETHEUS = {"type": "prometheus", "uid": "${datasource}"}
CLICKHOUSE = {"type": "grafana-clickhouse-datasource", "uid": "${clickhouse}"}
GRAFANA = {"type": "grafana", "uid": "-- Grafana --"}
TAG = "davylamp"
# What was not asked is grey, never green; hatched characters say it without colour.
GREEN, YELLOW, ORANGE, RED, PURPLE, BLUE, GREY = (
    *("green", "yellow", "orange", "red", "purple", "blue", "#6e7681"),
)
HATCH = "▨"
_COLUMNS = 24

Mapped = Mapping[str, Any]


@attr.s
class ClickHouseTarget(core.Target):  # type: ignore[misc]
    """A query for Grafana's own ClickHouse plugin, of its version 4, which grafanalib lacks."""

    sql = attr.ib(default="")
    series = attr.ib(default=False)

    def to_json_data(self) -> dict[str, Any]:
        """Return the query as the plugin keeps it."""
        return {
            "datasource": CLICKHOUSE,
            "editorType": "sql",
            "pluginVersion": "4.0.0",
            "queryType": "timeseries" if self.series else "table",
            "format": 0 if self.series else 1,
            "rawSql": self.sql,
            "refId": self.refId,
        }


def prometheus(expr: str, legend: str = "") -> core.Target:
    """Return a query over the time range; ``legend`` names its series, ``{{label}}``."""
    return core.Target(expr=expr, legendFormat=legend, datasource=PROMETHEUS)


def now(expr: str, legend: str = "") -> core.Target:
    """Return a query for the end of the time range only."""
    return core.Target(expr=expr, legendFormat=legend, datasource=PROMETHEUS, instant=True)


def rows_of(expr: str) -> core.Target:
    """Return a query for a table: a row for each series, labels as columns."""
    return core.Target(expr=expr, datasource=PROMETHEUS, instant=True, format="table")


def clickhouse(sql: str, *, series: bool = False) -> ClickHouseTarget:
    """Return a query to the store; as a table, or as series over its column ``time``."""
    return ClickHouseTarget(sql=sql, series=series)


@dataclass(frozen=True, slots=True)
class Said:
    """What a panel says of itself: its title, its unit, what it shows, and why it may be empty."""

    title: str
    unit: str
    about: str
    empty: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How values are drawn. ``steps`` are pairs of a value and a colour, the first for the rest.

    ``value`` is what a table of Prometheus calls its numbers; with "" it leaves them out.
    """

    steps: tuple[tuple[float | None, str], ...] = ((None, GREEN),)
    mappings: tuple[Mapped, ...] = ()
    overrides: tuple[Mapped, ...] = ()
    links: tuple[Mapped, ...] = ()
    low: float | None = None
    high: float | None = None
    decimals: int | None = None
    stacked: bool = False
    bars: bool = False
    logarithmic: bool = False
    stairs: bool = False
    lines: bool = False
    palette: bool = True
    value: str = "value"


PLAIN = Look()


def values(mapped: Mapping[float, tuple[str, str]]) -> Mapped:
    """Return a mapping of single values to a word and a colour."""
    options = {
        f"{value:g}": {"text": text, "color": colour, "index": index}
        for index, (value, (text, colour)) in enumerate(mapped.items())
    }
    return {"type": "value", "options": options}


def named(name: str, **properties: object) -> Mapped:
    """Return an override of the series or columns whose whole name fits the pattern ``name``."""
    return _override("byRegexp", name, properties)


def painted(colours: Mapping[str, str]) -> tuple[Mapped, ...]:
    """Return overrides that paint each series whose name has a word that fits the pattern."""
    return tuple(
        named(f"(.* )?{word}( .*)?", color={"mode": "fixed", "fixedColor": colour})
        for word, colour in colours.items()
    )


def of_query(ref: str, **properties: object) -> Mapped:
    """Return an override of what one query of a panel gave, A being the first."""
    return _override("byFrameRefID", ref, properties)


def _override(matcher: str, options: str, properties: Mapped) -> Mapped:
    return {
        "matcher": {"id": matcher, "options": options},
        "properties": [
            {"id": key.replace("__", "."), "value": value} for key, value in properties.items()
        ],
    }


def link(title: str, url: str) -> Mapped:
    """Return a link of values; ``${__field.labels.target}`` and its kin are filled in."""
    return {"title": title, "url": url}


def time_series(said: Said, targets: Sequence[core.Target], look: Look = PLAIN) -> core.Panel:
    """Return lines, or bars, over time."""
    return core.TimeSeries(
        **_common(said, targets),
        unit=said.unit,
        drawStyle="bars" if look.bars else "line",
        fillOpacity=60 if look.bars or look.stacked else 8,
        lineInterpolation="stepAfter" if look.stairs else "linear",
        stacking={"mode": "normal" if look.stacked else "none", "group": "A"},
        scaleDistributionType="log" if look.logarithmic else "linear",
        showPoints="auto",
        spanNulls=False,
        tooltipMode="multi",
        thresholdsStyleMode="line" if look.lines else "off",
        extraJson=_looks(said, look, colour="palette-classic", legend=True),
    )


def state_timeline(said: Said, targets: Sequence[core.Target], look: Look = PLAIN) -> core.Panel:
    """Return a strip for each series whose colour and word say its state."""
    return core.StateTimeline(
        **_common(said, targets),
        showValue="auto",
        tooltipMode="single",
        extraJson=_looks(said, look, colour="thresholds", legend=True),
    )


def stat(said: Said, targets: Sequence[core.Target], look: Look = PLAIN) -> core.Panel:
    """Return the last value of each series, large; its background says what it means."""
    return core.Stat(
        **_common(said, targets),
        format=said.unit,
        colorMode="background",
        graphMode="none",
        reduceCalc="lastNotNull",
        textMode="value_and_name",
        extraJson=_looks(said, look, colour="thresholds")
        | {
            "options": {
                "percentChangeColorMode": "standard",
                "showPercentChange": False,
                "wideLayout": True,
            }
        },
    )


def table(said: Said, targets: Sequence[core.Target], look: Look = PLAIN) -> core.Panel:
    """Return a table; queries of Prometheus are put side by side by their labels."""
    merged = [{"id": "merge", "options": {}}] if len(targets) > 1 else []
    columns = {
        "excludeByName": {"Time": True} if look.value else {"Time": True, "Value": True},
        "indexByName": {},
        "renameByName": {"Value": look.value} if look.value else {},
    }
    own = not any(isinstance(each, ClickHouseTarget) for each in targets)
    looks = _looks(said, look, colour="thresholds")
    looks["fieldConfig"]["defaults"]["custom"] = {"align": "auto", "cellOptions": {"type": "auto"}}
    looks["fieldConfig"]["defaults"]["custom"]["inspect"] = False
    looks["options"] = {"showHeader": True, "cellHeight": "sm", "frameIndex": 0}
    return core.Table(
        **_common(said, targets),
        unit=said.unit,
        transformations=[*merged, {"id": "organize", "options": columns}] if own else [],
        extraJson=looks,
    )


def text(title: str, about: str, markdown: str) -> core.Panel:
    """Return words for people."""
    return core.Text(title=title, description=about, content=markdown, dataSource=GRAFANA)


def _common(said: Said, targets: Sequence[core.Target]) -> dict[str, Any]:
    for name, each in zip(ascii_uppercase, targets, strict=False):
        each.refId = name
    store = any(isinstance(each, ClickHouseTarget) for each in targets)
    source = CLICKHOUSE if store else PROMETHEUS
    return {
        "title": said.title,
        # Not every panel of every version shows why it is empty.
        "description": f"{said.about}\n\nIf it is empty: {said.empty}",
        "targets": list(targets),
        "dataSource": source,
    }


def _looks(said: Said, look: Look, colour: str, *, legend: bool = False) -> dict[str, Any]:
    steps = [{"value": value, "color": each} for value, each in look.steps]
    mode = colour if look.palette else "thresholds"
    defaults = {
        "color": {"mode": mode},
        "unit": said.unit,
        "noValue": said.empty,
        "thresholds": {"mode": "absolute", "steps": steps},
        "mappings": list(look.mappings),
        "links": list(look.links),
    }
    bounds = {"min": look.low, "max": look.high, "decimals": look.decimals}
    defaults |= {name: value for name, value in bounds.items() if value is not None}
    looks: dict[str, Any] = {
        "fieldConfig": {"defaults": defaults, "overrides": list(look.overrides)}
    }
    if legend:
        looks["options"] = {
            "legend": {"showLegend": True, "calcs": []},
            "tooltip": {"sort": "desc"},
        }
    return looks


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """A row of a dashboard: a heading, and panels with width (of 24) and height."""

    title: str
    panels: tuple[tuple[int, int, core.Panel], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A dashboard: who it is, what is chosen in it, and what is on it."""

    uid: str
    title: str
    about: str
    shelves: tuple[Shelf, ...]
    variables: tuple[core.Template, ...]
    annotations: tuple[Mapped, ...] = ()
    links: tuple[Mapped, ...] = ()
    since: str = "now-24h"
    tags: tuple[str, ...] = field(default=())


def source_variable(name: str, label: str, plugin: str) -> core.Template:
    """Return a variable that chooses a data source of this plugin."""
    return core.Template(name=name, label=label, query=plugin, type="datasource", refresh=1)


def choice(name: str, label: str, query: str, *, many: bool = True) -> core.Template:
    """Return a variable whose values Prometheus knows; ``query`` is ``label_values(…)``."""
    return core.Template(
        name=name,
        label=label,
        query={"query": query, "refId": f"variable-{name}"},
        dataSource=PROMETHEUS,
        includeAll=many,
        multi=many,
        allValue=".*" if many else None,
        default="All" if many else None,
        refresh=2,
        sort=1,
    )


def typed(name: str, label: str) -> core.Template:
    """Return a variable that somebody types or a link brings along."""
    return core.Template(name=name, label=label, query="", type="textbox")


def to(uid: str, title: str, *, choices: str = "") -> Mapped:
    """Return a link from a dashboard to another, which takes the time range along.

    Of what is chosen it takes ``choices``, in the form of a query; everything if that is left out.
    """
    return core.DashboardLink(
        title=title,
        type="link",
        uri=f"/d/{uid}?{choices}" if choices else f"/d/{uid}",
        includeVars=not choices,
        keepTime=True,
        icon="dashboard",
    ).to_json_data()


def outside(title: str, url: str) -> Mapped:
    """Return a link from a dashboard to a page elsewhere."""
    return core.DashboardLink(
        title=title, type="link", uri=url, keepTime=False, targetBlank=True, icon="doc"
    ).to_json_data()


def dashboard(page: Page) -> dict[str, Any]:
    """Return the JSON of a dashboard. Ids of panels follow their order, rows of screens too."""
    made = core.Dashboard(
        uid=page.uid,
        title=page.title,
        description=page.about,
        panels=list(_laid_out(page.shelves)),
        templating=core.Templating(list=list(page.variables)),
        annotations=core.Annotations(list=list(page.annotations)),
        links=list(page.links),
        tags=[TAG, *page.tags],
        time=core.Time(page.since, "now"),
        refresh="1m",
        timezone="browser",
        graphTooltip=core.GRAPH_TOOLTIP_MODE_SHARED_CROSSHAIR,
        schemaVersion=SCHEMA_VERSION,
        editable=False,
    )
    plain = json.loads(json.dumps(made.auto_panel_ids(), cls=DashboardEncoder))
    return current(plain)


def alert_group(name: str, folder: str, rules: Iterable[Mapped]) -> dict[str, Any]:
    """Return a group of alert rules in the form of files that Grafana provisions.

    A rule has ``uid``, ``title``, ``expr``, ``wait``, ``labels`` and ``annotations``. It fires
    while its expression gives anything, whatever the number, as in Prometheus.
    """
    made = [_alert_rule(**rule) for rule in rules]
    group = core.AlertGroup(name=name, folder=folder, rules=made, evaluateInterval="1m")
    plain: dict[str, Any] = json.loads(json.dumps(group, cls=DashboardEncoder))
    plain["rules"] = [provisioned(each) for each in plain["rules"]]
    return {"orgId": 1} | plain


def _alert_rule(
    *, uid: str, title: str, expr: str, wait: str, labels: Mapped, annotations: Mapped
) -> core.AlertRulev9:
    asked = core.Target(refId="query", expr=expr, instant=True, datasource="prometheus")
    gives = "is_number($query) || is_nan($query) || is_inf($query)"
    fires = core.AlertExpression("fires", gives, expressionType=core.EXP_TYPE_MATH)
    return core.AlertRulev9(
        uid=uid,
        title=title,
        triggers=[asked, fires],
        condition="fires",
        evaluateFor=wait,
        noDataAlertState=core.ALERTRULE_STATE_DATA_OK,
        errorAlertState=core.ALERTRULE_STATE_DATA_ERROR,
        timeRangeFrom=3600,
        labels=dict(labels),
        annotations=dict(annotations),
    )


def _laid_out(shelves: Iterable[Shelf]) -> Iterable[core.Panel]:
    top = 0
    for shelf in shelves:
        yield core.RowPanel(title=shelf.title, gridPos=core.GridPos(h=1, w=_COLUMNS, x=0, y=top))
        top, left, tallest = top + 1, 0, 0
        for width, height, panel in shelf.panels:
            if left + width > _COLUMNS:
                top, left, tallest = top + tallest, 0, 0
            panel.gridPos = core.GridPos(h=height, w=width, x=left, y=top)
            left, tallest = left + width, max(tallest, height)
            yield panel
        top += tallest
