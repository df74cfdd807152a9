"""A real Prometheus filled with a history, and with what the shipped rules make of it."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.dashboards.history import TICK, History
from tests.integration.alerting import Prometheus, prometheus
from tests.integration.processes import ROOT

RULES = sorted((ROOT / "alerts" / "rules").glob("*.yml"))
_METRIC = re.compile(r"davylamp:[a-z0-9_:]+")
# Samples are four minutes apart: nothing is stale before the next one.
_FLAGS = ("--query.lookback-delta=5m", "--storage.tsdb.retention.time=90d")


@contextlib.contextmanager
def backfilled(folder: Path, history: History) -> Iterator[Prometheus]:
    """Run a Prometheus with the history while entered. It scrapes nobody."""
    data = folder / "data"
    _promtool("create-blocks-from", "openmetrics", str(history.openmetrics), str(data))
    for number, level in enumerate(levels(_recorded())):
        file = folder / f"level-{number}.yml"
        file.write_text(yaml.safe_dump({"groups": [{"name": "all", "rules": level}]}), "utf-8")
        with prometheus(folder, (), (), None, *_FLAGS) as running:
            _promtool(
                *("create-blocks-from", "rules", f"--url={running.url}"),
                f"--start={history.began.timestamp():.0f}",
                f"--end={history.ended.timestamp():.0f}",
                *(f"--eval-interval={TICK:.0f}s", f"--output-dir={data}", str(file)),
            )
    with prometheus(folder, (), (), None, *_FLAGS) as running:
        yield running


def levels(rules: Sequence[Mapping[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return rules in the order in which they can be made: promtool sees only what is there.

    Rules of one name stay together, and come after everything they read. Alerts come last.
    """
    names = {rule["record"] for rule in rules}
    reads = {
        name: {
            each
            for rule in rules
            if rule["record"] == name
            for each in _METRIC.findall(rule["expr"])
            if each in names and each != name
        }
        for name in names
    }
    made: list[list[dict[str, Any]]] = []
    done: set[str] = set()
    while len(done) < len(names):
        ready = {name for name in names - done if reads[name] <= done}
        assert ready, f"rules go round in circles: {sorted(names - done)}"
        made.append([dict(rule) for rule in rules if rule["record"] in ready])
        done |= ready
    return made


def _recorded() -> list[dict[str, Any]]:
    """Return the shipped rules as recording rules: an alert as the series Prometheus makes of it.

    How long an alert waits before it fires is left out.
    """
    rules = [
        rule
        for file in RULES
        for group in yaml.safe_load(file.read_text("utf-8"))["groups"]
        for rule in group["rules"]
    ]
    recorded = [rule for rule in rules if "record" in rule]
    firing = [
        {
            "record": "ALERTS",
            "expr": f"({rule['expr']}) * 0 + 1",
            "labels": {"alertname": rule["alert"], "alertstate": "firing", **rule["labels"]},
        }
        for rule in rules
        if "alert" in rule
    ]
    return [*recorded, *firing]


def _promtool(*arguments: str) -> None:
    done = subprocess.run(
        ["promtool", "tsdb", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, json.dumps([done.stdout[-2000:], done.stderr[-2000:]])
