"""``python -m tests.rules``: write ``alerts/tests``, what promtool tries the rules with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import yaml

from tests.architecture.source import ROOT
from tests.rules.gpu_scenarios import GPUS, GPUS_BESIDE
from tests.rules.monitor_scenarios import KEEPING, PROBING, REFUSED, REPORTS_BESIDE, SIGHT
from tests.rules.node_scenarios import NODES, SIGNALS
from tests.rules.objective_scenarios import BURN, COVERAGE, OBJECTIVES
from tests.rules.recorded import PRODUCTION, SLOS, Recorded
from tests.rules.scenarios import FINDINGS, STREAMS, Scenario

HEAD = "# Made by `python -m tests.rules` of the scenarios there; do not edit.\n"
FOLDER = ROOT / "alerts" / "tests"
_ALERTS: dict[str, tuple[Scenario, ...]] = {
    "answers": (*STREAMS, *FINDINGS, *OBJECTIVES),
    "slos": (*BURN, *COVERAGE),
    "nodes": (*SIGNALS, *NODES),
    "gpus": GPUS,
    "probing": (*PROBING, *SIGHT, *KEEPING),
}
RECORDED: dict[str, tuple[Recorded, ...]] = {
    "slos": SLOS,
    "production": PRODUCTION,
    "probing": (*REFUSED, *REPORTS_BESIDE),
    "gpus": GPUS_BESIDE,
}
# What looks at days is evaluated by the hour, or the tests take minutes. Single alerts that take
# most of a day are in files of their own, evaluated every five minutes.
EVALUATED = {"slos": "1h"}
_DAYS, _DAYS_EVALUATED, _MOST_MINUTES = "-days", "5m", 16 * 60
_UNITS = {"d": "days", "h": "hours", "m": "minutes"}


def _apart() -> Iterator[tuple[str, tuple[Scenario, ...]]]:
    """Yield the scenarios by the name of their file."""
    for name, scenarios in _ALERTS.items():
        days = [each for each in scenarios if name not in EVALUATED and _takes_days(each)]
        yield name, tuple(each for each in scenarios if each not in days)
        if days:
            yield f"{name}{_DAYS}", tuple(days)


def _takes_days(scenario: Scenario) -> bool:
    parts = re.findall(r"(\d+)([dhm])", scenario.over_at)
    takes = sum((timedelta(**{_UNITS[unit]: int(n)}) for n, unit in parts), timedelta())
    return takes > timedelta(minutes=_MOST_MINUTES)


ALERTS = dict(_apart())
EVALUATED |= {name: _DAYS_EVALUATED for name in ALERTS if name.endswith(_DAYS)}


def rules_of(name: str) -> str:
    """Return the name of the file of rules that a file of tests tries."""
    return f"{name.removesuffix(_DAYS)}.rules.yml"


def files() -> dict[str, str]:
    """Return each test file by name."""
    names = dict.fromkeys([*ALERTS, *RECORDED])
    return {f"{name}.test.yml": _file(name) for name in names}


def _file(name: str) -> str:
    data = {
        "rule_files": [f"../rules/{rules_of(name)}"],
        "evaluation_interval": EVALUATED.get(name, "1m"),
        "tests": [
            *(_alert_test(each) for each in ALERTS.get(name, ())),
            *(_recorded_test(each) for each in RECORDED.get(name, ())),
        ],
    }
    return HEAD + yaml.safe_dump(data, sort_keys=False, width=10_000)


def _alert_test(scenario: Scenario) -> dict[str, Any]:
    """Return the test: nothing fires, then exactly this, then nothing."""
    name, severity, objective = scenario.rule
    slo, _, tier = objective.partition("/")
    narrowed = f',slo="{slo}",burn_tier="{tier}"' if tier else ""
    asked = f'ALERTS{{alertname="{name}",alertstate="firing",severity="{severity}"{narrowed}}}'
    fired = {"alertname": name, "alertstate": "firing", **scenario.labels}
    inside = ", ".join(f'{key}="{value}"' for key, value in sorted(fired.items()))
    said = {
        scenario.silent_at: [],
        scenario.fires_at: [{"labels": f"ALERTS{{{inside}}}", "value": 1}],
        scenario.over_at: [],
    }
    return {
        "name": f"{name} {severity} {objective}".rstrip(),
        "interval": scenario.step,
        "input_series": _series(scenario.series),
        "promql_expr_test": [
            {"expr": asked, "eval_time": when, "exp_samples": samples}
            for when, samples in said.items()
        ],
    }


def _recorded_test(recorded: Recorded) -> dict[str, Any]:
    return {
        "name": recorded.name,
        "interval": recorded.step,
        "input_series": _series(recorded.series),
        "promql_expr_test": [
            {"expr": query, "eval_time": recorded.at, "exp_samples": list(_samples(found))}
            for query, found in recorded.values.items()
        ],
    }


def _samples(found: Sequence[tuple[str, float]]) -> Iterator[dict[str, Any]]:
    for labels, value in found:
        yield {"labels": labels, "value": value}


def _series(series: Any) -> list[dict[str, str]]:
    return [{"series": name, "values": values} for name, values in series.items()]


def write() -> None:
    """Write them all, and remove what is none of them."""
    made = files()
    for file in FOLDER.glob("*.yml"):
        if file.name not in made:
            file.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
