"""Asking what a panel asks, of a Prometheus and a store that hold a history."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import clickhouse_connect

from tests.dashboards.expand import promql, sql
from tests.dashboards.history import PROD, TICK, History
from tests.integration.alerting import Prometheus
from tests.integration.processes import COMMAND, ROOT, first_line, free_port, process

GENERATED = ROOT / "dashboards" / "generated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A panel of a dashboard."""

    dashboard: str
    panel: Mapping[str, Any]

    @property
    def name(self) -> str:
        return f"{self.dashboard}-{self.panel['id']}-{self.panel['title'].replace(' ', '_')}"


def panels_of(dashboard: str) -> list[Shown]:
    """Return the panels of one dashboard, in order."""
    data = json.loads((GENERATED / f"{dashboard}.json").read_text("utf-8"))
    return [Shown(dashboard=dashboard, panel=panel) for panel in data["panels"]]


def panels(kind: str) -> list[Shown]:
    """Return every panel that asks this kind of source."""
    return [
        shown
        for file in sorted(GENERATED.glob("*.json"))
        for shown in panels_of(file.stem)
        if shown.panel.get("datasource", {}).get("type") == kind
    ]


@contextlib.contextmanager
def store_of(history: History) -> Iterator[Any]:
    """Give an unmodified client of ClickHouse on the store's own interface."""
    installed, port = history.installed, free_port()
    installed.settings["storage"]["sql"] = {"port": port}
    installed.write()
    command = [COMMAND, "db", "serve", "--config", str(installed.config)]
    with process(command, stderr=installed.folder / "serve.log") as started:
        first_line(started)
        token = (installed.store / "sql.token").read_text("ascii")
        client = clickhouse_connect.get_client(
            host="127.0.0.1", port=port, username="davylamp", password=token
        )
        try:
            yield client
        finally:
            client.close()


def chosen(shown: Shown, history: History) -> dict[str, str]:
    """Return what a user has chosen: all targets, where that can be, and the trial of a leak."""
    target = PROD if shown.dashboard == "target" else ".*"
    return {"env": "testing", "target": target, "trial": history.leak}


def asked(shown: Shown, served: Prometheus, history: History) -> list[list[dict[str, Any]]]:
    """Return what each query of a panel gives: series with ``values``, also where asked once."""
    found = []
    for target in shown.panel["targets"]:
        query = promql(target["expr"], chosen(shown, history))
        if target["instant"]:
            at = f"{history.ended.timestamp():.0f}"
            result = served.get("/api/v1/query", query=query, time=at)["data"]["result"]
            found.append([series | {"values": [series["value"]]} for series in result])
        else:
            result = served.get(
                "/api/v1/query_range",
                query=query,
                start=f"{(history.began + timedelta(hours=1)).timestamp():.0f}",
                end=f"{history.ended.timestamp():.0f}",
                step=f"{TICK:.0f}",
            )["data"]["result"]
            found.append(result)
    return found


def statement_of(shown: Shown, history: History) -> str:
    """Return the statement of a panel as the plugin sends it."""
    (target,) = shown.panel["targets"]
    until = history.ended + timedelta(minutes=5)
    return sql(target["rawSql"], chosen(shown, history), history.began, until)


def of_the_store(shown: Shown, store: Any, history: History) -> list[list[dict[str, Any]]]:
    """Return the rows of a panel of the store as series of one value."""
    result = store.query(statement_of(shown, history))
    rows = [dict(zip(result.column_names, row, strict=True)) for row in result.result_rows]
    return [[{"metric": row, "values": [(0, "0")], "told": True} for row in rows]]


def numbers(series: Mapping[str, Any]) -> list[float]:
    """Return the values of a series."""
    return [float(value) for _, value in series["values"]]


def legend(target: Mapping[str, Any], series: Mapping[str, Any]) -> str:
    """Return the name of a series, as Grafana writes it: a label it has not is nothing."""
    return re.sub(
        r"\{\{(\w+)\}\}",
        lambda found: series["metric"].get(found[1], ""),
        target.get("legendFormat", ""),
    )
