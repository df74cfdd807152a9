"""What panels say while a target is well, only errs, or nobody reports: asked as Prometheus would.

Green only where something fresh was judged.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from monitor.grafana import dashboards_folder
from tests.dashboards.expand import promql

_OF = 'env="prod",target="glm"'
_EXCHANGES = f'davylamp_exchanges_total{{{_OF},model="m",probe="canary",shape="canary",stratum="s"'
_VERDICTS = f'davylamp_verdicts_total{{{_OF},model="m"'
_UP = {'davylamp_build_info{env="prod",version="1"}': "1x300 stale"}
_BAD = {f'{_VERDICTS},outcome="bad",class="LEAK"}}': "0x300 stale"}
_STREAMS = {
    f'davylamp_alarm_active{{{_OF},probe="canary",stratum="s",lane="hard",tier="page"}}': (
        "0x300 stale"
    ),
    f'davylamp_findings_open{{{_OF},class="LEAK",state="confirmed",severity="critical",'
    'route="direct"}': "0x300 stale",
}


def _counted(good: str, error: str) -> dict[str, str]:
    return {
        f'{_EXCHANGES},outcome="good",class="none"}}': f"{good} stale",
        f'{_EXCHANGES},outcome="error",class="none"}}': f"{error} stale",
    }


WELL = _UP | _BAD | _STREAMS | _counted("0+2x300", "0x300")
ERRS = _UP | _BAD | _STREAMS | _counted("0x300", "0+2x300")
FEW = _UP | _BAD | _STREAMS | _counted("0x290 0+1x10", "0x300")
_LONG = f'{{{_OF},probe="canary",stratum="long/c1"}}'


def _judged_at(second: int) -> dict[str, str]:
    return {
        f"davylamp_probe_last_run_timestamp_seconds{_LONG}": "1x300",
        f"davylamp_probe_last_success_timestamp_seconds{_LONG}": f"{second}x300",
    }


_ADVERTISED = {f'davylamp_context_advertised_tokens{{{_OF},source="config"}}': "4096x300"}


def _verified_at(second: int) -> dict[str, str]:
    return _ADVERTISED | {
        f"davylamp_context_verified_tokens{{{_OF}}}": "2048x300",
        f"davylamp_context_verified_timestamp_seconds{{{_OF}}}": f"{second}x300",
    }


_MONITOR_AT, _STOPPED_AT = "5h", "5h3m"
_WORST, _GOOD = ("overview", "Worst class of the last hour"), ("overview", "Good answers of a day")
_ALARMS, _OWN_ALARMS = ("overview", "Alarms of streams"), ("target", "Alarms")
_AGE = ("overview", "Age of the last long verdict")
_VERIFIED = ("overview", "Context verified of what is advertised")
_LEAKS, _UNJUDGED = ("leak", "Open leaks"), ("economy", "Share that could not be judged")


def _asked(dashboard: str, title: str) -> str:
    """Return a panel's first question as Grafana would send it for this target."""
    page = json.loads((dashboards_folder() / f"{dashboard}.json").read_text("utf-8"))
    [panel] = [each for each in page["panels"] if each["title"] == title]
    expr: str = panel["targets"][0]["expr"]
    return promql(expr, {"env": "prod", "target": "glm"})


@pytest.mark.parametrize(
    ("series", "at", "panel", "value"),
    [
        (WELL, _MONITOR_AT, _WORST, 0),
        (ERRS, _MONITOR_AT, _WORST, -1),
        (WELL, _STOPPED_AT, _WORST, None),
        (WELL, _MONITOR_AT, _GOOD, 1),
        (ERRS, _MONITOR_AT, _GOOD, None),
        (FEW, _MONITOR_AT, _GOOD, None),
        (WELL, _STOPPED_AT, _GOOD, None),
        (WELL, _MONITOR_AT, _ALARMS, 0),
        (ERRS, _MONITOR_AT, _ALARMS, -1),
        (WELL, _STOPPED_AT, _ALARMS, None),
        (WELL, _MONITOR_AT, _OWN_ALARMS, 0),
        (ERRS, _MONITOR_AT, _OWN_ALARMS, -1),
        (WELL, _MONITOR_AT, _LEAKS, 0),
        (ERRS, _MONITOR_AT, _LEAKS, -1),
        (WELL, _MONITOR_AT, _UNJUDGED, 0),
        (ERRS, _MONITOR_AT, _UNJUDGED, 1),
        (_judged_at(17_400), _MONITOR_AT, _AGE, 600),
        # A clock that is a second ahead is not the number that stands for never.
        (_judged_at(18_001), _MONITOR_AT, _AGE, 0),
        (_judged_at(0), _MONITOR_AT, _AGE, -1),
        # A week before the moment at which it is asked is long before 1970.
        (_verified_at(-586_799), _MONITOR_AT, _VERIFIED, 0.5),
        (_verified_at(-586_800), _MONITOR_AT, _VERIFIED, -2),
        (_ADVERTISED, _MONITOR_AT, _VERIFIED, -1),
    ],
    ids=lambda each: (
        each[1] if isinstance(each, tuple) else None if isinstance(each, dict) else str(each)
    ),
)
def test_green_is_only_what_was_judged_lately(
    series: dict[str, str], at: str, panel: tuple[str, str], value: float | None, tmp_path: Path
) -> None:
    # Summed, so that labels need not be told again.
    asked = f"sum ({_asked(*panel)})"
    samples = [] if value is None else [{"labels": "{}", "value": value}]
    test = {
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [{"series": k, "values": v} for k, v in series.items()],
                "promql_expr_test": [{"expr": asked, "eval_time": at, "exp_samples": samples}],
            }
        ],
    }
    file = tmp_path / "states.test.yml"
    file.write_text(yaml.safe_dump(test), encoding="utf-8")
    ran = subprocess.run(
        ["promtool", "test", "rules", file], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
