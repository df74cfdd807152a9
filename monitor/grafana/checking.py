"""Whether a dashboard is what Grafana reads, and whether what it asks for is there to be asked.

Shapes are those of Grafana's own types. Metrics are those of the conventions and of the rules,
tables those of the store: a name that nobody exports is an empty panel, which looks like silence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from monitor.conventions import METRICS
from monitor.conventions.metric import MetricKind
from monitor.grafana.shipped import Dashboard

_METRIC = re.compile(r"\bdavylamp[_:][a-zA-Z0-9_:]+")
_TABLE = re.compile(r"\b(?:FROM|JOIN)\s+([A-Za-z_][A-Za-z0-9_]*)")
_CREATED = re.compile(r"^CREATE TABLE IF NOT EXISTS (\w+) ", re.MULTILINE)
_HISTOGRAM = ("_bucket", "_sum", "_count")
_WORDS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is wrong with a dashboard, and where in it."""

    where: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What can be asked: series of this version, what the rules record, tables of the store."""

    series: frozenset[str]
    recorded: frozenset[str]
    tables: frozenset[str]


def known_names(rules: Path) -> Known:
    """Return what there is with this version and with the rules of a folder."""
    series = {
        f"{metric.name}{suffix}"
        for metric in METRICS
        for suffix in (_HISTOGRAM if metric.kind is MetricKind.HISTOGRAM else ("",))
    }
    recorded = {
        rule["record"]
        for file in sorted(rules.glob("*.yml"))
        for group in yaml.safe_load(file.read_text("utf-8"))["groups"]
        for rule in group["rules"]
        if "record" in rule
    }
    schema = files("monitor.store").joinpath("schema", "latest.sql").read_text("utf-8")
    tables = frozenset(_CREATED.findall(schema))
    return Known(series=frozenset(series), recorded=frozenset(recorded), tables=tables)


def metrics_in(expr: str) -> frozenset[str]:
    """Return the metrics of ours that an expression names."""
    return frozenset(_METRIC.findall(expr))


def tables_in(statement: str) -> frozenset[str]:
    """Return the tables that a statement names."""
    return frozenset(_TABLE.findall(statement))


def faults_of(dashboard: Dashboard, schema: Mapping[str, Any], known: Known) -> Iterator[Fault]:
    """Yield everything that is wrong with a dashboard. What is misshapen is not looked into."""
    data = dashboard.data
    misshapen = list(_misshapen("", data, schema["dashboard"]))
    yield from misshapen
    panels = data.get("panels")
    for panel in panels if isinstance(panels, list) else ():
        if isinstance(panel, dict):
            yield from _faults_of_panel(panel, schema, known)
    if not misshapen:
        for name, expr in _marks(data):
            yield from _missing(name, {"expr": expr}, known)


def _faults_of_panel(
    panel: Mapping[str, Any], schema: Mapping[str, Any], known: Known
) -> Iterator[Fault]:
    kind, where = str(panel.get("type")), str(panel.get("title", "?"))
    misshapen = list(_misshapen(where, panel, schema["row" if kind == "row" else "panel"]))
    yield from misshapen
    if kind == "row" or misshapen:
        return
    if kind not in schema:
        yield Fault(where=where, words=f"a kind of panel nobody checked: {kind}")
        return
    of = schema[kind]["properties"]
    defaults = panel.get("fieldConfig", {}).get("defaults", {})
    yield from _misshapen(f"{where}: options", panel.get("options"), of["options"])
    if "custom" in of:
        yield from _misshapen(f"{where}: fields", defaults.get("custom", {}), of["custom"])
    for target in panel.get("targets", ()):
        yield from _missing(where, target, known)
    if kind != "text":
        yield from _unsaid(where, panel, defaults)


def _unsaid(where: str, panel: Mapping[str, Any], defaults: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what a panel does not say of itself."""
    said = {
        "description": panel.get("description"),
        "unit": defaults.get("unit"),
        "reason why it may be empty": defaults.get("noValue"),
    }
    for name, words in said.items():
        if not words:
            yield Fault(where=where, words=f"has no {name}")


def _missing(where: str, target: Mapping[str, Any], known: Known) -> Iterator[Fault]:
    for metric in sorted(metrics_in(str(target.get("expr", "")))):
        if ":" in metric:
            if metric not in known.recorded:
                yield Fault(where=where, words=f"{metric}: no rule records it")
        elif metric not in known.series:
            yield Fault(where=where, words=f"{metric}: this version exports no such metric")
    for table in sorted(tables_in(str(target.get("rawSql", ""))) - known.tables):
        yield Fault(where=where, words=f"{table}: the store has no such table")


def _marks(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    marks = data.get("annotations")
    for mark in marks.get("list", ()) if isinstance(marks, dict) else ():
        yield str(mark.get("name", "?")), str(mark.get("target", {}).get("expr", ""))


def _misshapen(where: str, value: object, shape: Mapping[str, Any]) -> Iterator[Fault]:
    from jsonschema import Draft7Validator

    for error in Draft7Validator(shape).iter_errors(value):
        path = ".".join(str(each) for each in error.absolute_path)
        place = ": ".join(each for each in (where, path) if each) or "dashboard"
        yield Fault(where=place, words=error.message[:_WORDS])
