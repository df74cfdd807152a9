"""Scenarios of the alerts on objectives: history enough for the windows they look at."""

from __future__ import annotations

from collections.abc import Mapping

from tests.rules.scenarios import AT, CALM, GLM, WARNING, Scenario

# 36 samples of 5 minutes are 3 hours. 10 events in 5 minutes, of which so many are bad.
_OF = ',model="m",probe="canary",shape="canary",stratum="s"'


def _exchanges(at: str, outcome: str, values: str, verdict_class: str = "none") -> tuple[str, str]:
    name = "davylamp_exchanges_total"
    return f'{name}{at}{_OF},outcome="{outcome}",class="{verdict_class}"}}', values


def _burn(slo: str, tier: str, series: Mapping[str, str], times: tuple[str, str, str]) -> Scenario:
    silent, fires, over = times
    return Scenario(
        alert="DavylampErrorBudgetBurn",
        series=series,
        silent_at=silent,
        fires_at=fires,
        over_at=over,
        labels={**GLM, **WARNING, "slo": slo, "burn_tier": tier},
        step="5m",
    )


def _histogram(name: str, bound: str, late: str) -> dict[str, str]:
    """Ten answers in 5 minutes for six days; ``late`` is how many were quick so far."""
    of = ',probe="canary",shape="canary"'
    return {
        f"{name}_count{AT}{of}}}": "0+10x1800",
        f'{name}_bucket{AT}{of},le="{bound}"}}': late,
        f"{name}_count{CALM}{of}}}": "0+10x1800",
        f'{name}_bucket{CALM}{of},le="{bound}"}}': "0+9.9x1800",
    }


def _errors(bad: str, good: str) -> dict[str, str]:
    return dict(
        (
            _exchanges(AT, "error", bad),
            _exchanges(AT, "good", good),
            # A target that is asked too little: half of it errors, and nobody may tell.
            _exchanges(CALM, "error", "0+0.1x1800"),
            _exchanges(CALM, "good", "0+0.1x1800"),
        )
    )


_LATENCY, _FIRST = ("davylamp_probe_duration_seconds", "davylamp_probe_time_to_first_token_seconds")

# Ten a step: a good day, then bad hours, then good again. Slow looks at a day and two hours,
# trickle at three days and six hours; what is bad enough for one is kept below the other's.
BURN = (
    _burn(
        "availability",
        "slow",
        _errors("0x288 0+1x200 200x100", "0+10x288 2890+9x200 4700+10x100"),
        ("24h", "38h", "44h"),
    ),
    _burn(
        "availability",
        "trickle",
        _errors("0x288 0+0.2x900 180x100", "0+10x288 2890+9.8x900 11720+10x100"),
        ("24h", "96h", "106h"),
    ),
    _burn(
        "latency",
        "slow",
        _histogram(_LATENCY, "60.0", "0+10x288 2885+5x200 3895+10x100"),
        ("24h", "38h", "44h"),
    ),
    _burn(
        "latency",
        "trickle",
        _histogram(_LATENCY, "60.0", "0+10x288 2889+9x900 10999+10x100"),
        ("24h", "96h", "106h"),
    ),
    _burn(
        "first-token",
        "slow",
        _histogram(_FIRST, "30.0", "0+10x288 2885+5x200 3895+10x100"),
        ("24h", "38h", "44h"),
    ),
    _burn(
        "first-token",
        "trickle",
        _histogram(_FIRST, "30.0", "0+10x288 2889+9x900 10999+10x100"),
        ("24h", "96h", "106h"),
    ),
)

OBJECTIVES = (
    Scenario(
        alert="DavylampErrorBudgetSpent",
        # The series is one that is recorded; how it comes about is tried in `recorded`.
        series={
            f'davylamp:slo_error_budget_remaining:ratio{AT},slo="glm"}}': "0.5x9 -0.2x90 0.1x20",
            f'davylamp:slo_error_budget_remaining:ratio{CALM},slo="glm"}}': "0.01x120",
        },
        silent_at="60m",
        fires_at="75m",
        over_at="110m",
        labels={**GLM, **WARNING, "slo": "glm"},
    ),
    Scenario(
        alert="DavylampObjectiveUnknown",
        series={
            f'davylamp:slo_known{AT},slo="glm"}}': "0x900 1x20",
            f'davylamp:slo_known{CALM},slo="glm"}}': "0x100 1x820",
            f'davylamp:slo_known{CALM},slo="first-token"}}': "0x920",
            f'davylamp:slo_known{CALM},slo="glm-by-probe",probe="burst"}}': "0x920",
        },
        silent_at="70h",
        fires_at="74h",
        over_at="76h",
        labels={**GLM, **WARNING, "slo": "glm"},
        step="5m",
    ),
    Scenario(
        alert="DavylampCannotJudge",
        series=dict(
            (
                _exchanges(AT, "invalid", "0x10 5x100"),
                _exchanges(CALM, "invalid", "0x10 2x100"),
                _exchanges(CALM, "error", "0+1x110"),
            )
        ),
        silent_at="10m",
        fires_at="20m",
        over_at="90m",
        labels={**GLM, **WARNING},
    ),
)

_JUDGED = "davylamp_probe_last_success_timestamp_seconds"
COVERAGE = (
    Scenario(
        alert="DavylampCoverageLow",
        series={
            f'davylamp_not_probed{AT},probe="boundary",stratum="over-4096/c1",reason="budget"}}': (
                "1x330 _x40"
            ),
            f'{_JUDGED}{AT},probe="canary",stratum="short/c1"}}': ("300+300x350"),
            f'{_JUDGED}{CALM},probe="canary",stratum="short/c1"}}': "300+300x350",
        },
        silent_at="20h",
        fires_at="26h",
        over_at="29h",
        labels={**GLM, **WARNING, "slo": "coverage"},
        step="5m",
    ),
)
