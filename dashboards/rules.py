"""Davylamp's alerts as Grafana's own alert rules, for those who alert in Grafana.

They are made of the same definitions as the rules of Prometheus, and read the same series: the
recording rules of ``alerts/rules`` must be loaded in Prometheus all the same. Whoever routes alerts
by Alertmanager needs none of this file; with both, everything is said twice.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from dashboards.panels import alert_group
from monitor.slo import (
    Links,
    objectives_of,
    shipped_rules,
    sources_folder,
    sources_of,
    stated_volume,
)

FOLDER = "Davylamp"
HEAD = """\
# Made by `davylamp dashboards build`; do not edit. Davylamp's alerts as Grafana's own alert rules.
# Only for those who alert in Grafana and not by alerts/rules: with both, everything is said twice.
# The recording rules of alerts/rules are needed all the same.
"""
_APART = ("burn_tier", "severity", "slo")
_METRIC = re.compile(r"davylamp[_:][a-z0-9_:]+")
_DASHBOARD = re.compile(r"/d/([a-z-]+)")
# By dashboard and metric.
Panels = Mapping[tuple[str, str], int]


def alert_file(dashboards: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the provisioning file; each alert leads to the panel that shows what it rests on."""
    panels = _panels_of(dashboards)
    groups = [
        alert_group(group["name"], FOLDER, _rules(group["rules"], panels))
        for group in _groups()
        if any("alert" in rule for rule in group["rules"])
    ]
    made = yaml.safe_dump(
        {"apiVersion": 1, "groups": groups}, sort_keys=False, allow_unicode=True, width=10_000
    )
    return HEAD + made


def _groups() -> list[dict[str, Any]]:
    sources = sources_of(sources_folder() / "slos")
    objectives = objectives_of(sources.slos, "", stated_volume)
    built = shipped_rules(objectives, sources.production, Links())
    return [group for text in built.files.values() for group in yaml.safe_load(text)["groups"]]


def _rules(rules: list[dict[str, Any]], panels: Panels) -> Iterator[dict[str, Any]]:
    alerts = [rule for rule in rules if "alert" in rule]
    named = Counter(rule["alert"] for rule in alerts)
    for rule in alerts:
        labels = rule["labels"]
        # Titles are unique in a folder, where Prometheus tells rules of one name apart by labels.
        apart = [labels[name] for name in _APART if name in labels]
        alone = named[rule["alert"]] == 1 and "burn_tier" not in labels
        title = rule["alert"] if alone else f"{rule['alert']} ({', '.join(apart)})"
        yield {
            "uid": f"davylamp-{hashlib.sha256(title.encode()).hexdigest()[:16]}",
            "title": title,
            "expr": rule["expr"],
            "wait": rule.get("for", "0s"),
            "labels": {"alert": rule["alert"], **labels},
            "annotations": _annotations(rule, panels),
        }


def _annotations(rule: Mapping[str, Any], panels: Panels) -> dict[str, str]:
    said = dict(rule["annotations"])
    # It leads into Prometheus, by a function of its templates that Grafana's have not.
    evidence = _METRIC.search(said.pop("evidence_url"))
    said = {name: text.replace("$value", "$values.query.Value") for name, text in said.items()}
    opened = _DASHBOARD.search(said["dashboard_url"])
    if evidence is None or opened is None:
        return said
    panel = panels.get((opened[1], evidence.group()))
    if panel is None:
        return said
    return {"__dashboardUid__": opened[1], "__panelId__": str(panel), **said}


def _panels_of(dashboards: Mapping[str, Mapping[str, Any]]) -> Panels:
    """Return for each metric on a dashboard the first panel there that shows it."""
    shown: dict[tuple[str, str], int] = {}
    for dashboard in dashboards.values():
        for panel in dashboard["panels"]:
            for target in panel.get("targets", ()):
                for metric in _METRIC.findall(target.get("expr", "")):
                    shown.setdefault((dashboard["uid"], metric), panel["id"])
    return shown
