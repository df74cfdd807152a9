"""What each alert is tried with: series under which it fires, stays silent, and is over again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Series = Mapping[str, str]
AT = '{env="prod",target="glm"'
CALM = '{env="prod",target="calm"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One alert rule, and series that make it fire once, for one label set, and end again.

    Those whose target is ``calm`` never do. ``labels`` are all it fires with; times are PromQL
    durations.
    """

    alert: str
    series: Series
    silent_at: str
    fires_at: str
    over_at: str
    labels: Mapping[str, str] = field(default_factory=dict)
    step: str = "1m"

    @property
    def rule(self) -> tuple[str, str, str]:
        """Which rule it tries: of one name there may be several."""
        return rule_of(self.alert, self.labels)


def rule_of(alert: str, labels: Mapping[str, str]) -> tuple[str, str, str]:
    """Return what tells rules of one alert apart: severity, and objective with its tier."""
    tier = labels.get("burn_tier")
    return alert, labels["severity"], f"{labels['slo']}/{tier}" if tier else ""


WARNING = {"severity": "warning", "class": "none"}
CRITICAL = {"severity": "critical", "class": "none"}
ENV = {"env": "prod"}
GLM = {"env": "prod", "target": "glm"}
SEMANTIC = {"slo": "semantic"}
PAGE = {"severity": "critical", "burn_tier": "fast"}
TICKET = {"severity": "warning", "burn_tier": "slow"}


def _alarm(alert: str, lane: str, tier: str, labels: Mapping[str, str]) -> Scenario:
    """An alarm that holds on while its monitor is silent, beside one of the other tier."""
    other = "ticket" if tier == "page" else "page"
    of = f',probe="burst",stratum="s",lane="{lane}"'
    return Scenario(
        alert=alert,
        series={
            f'davylamp_alarm_active{AT}{of},tier="{tier}"}}': "0x9 1x10 _x20 0x10",
            f'davylamp_alarm_active{CALM}{of},tier="{tier}"}}': "0x50",
            f'davylamp_alarm_active{CALM}{of},tier="{other}"}}': "0x9 1x10 0x10",
        },
        silent_at="9m",
        fires_at="38m",
        over_at="45m",
        labels={**GLM, "probe": "burst", "stratum": "s", "lane": lane, **labels},
    )


STREAMS = (
    _alarm("DavylampHardFailures", "hard", "page", {"class": "CONTRACT", **PAGE, **SEMANTIC}),
    _alarm("DavylampHardFailures", "hard", "ticket", {"class": "CONTRACT", **TICKET, **SEMANTIC}),
    _alarm("DavylampWrongAnswers", "tolerated", "page", {"class": "WRONG", **PAGE, **SEMANTIC}),
    _alarm("DavylampWrongAnswers", "tolerated", "ticket", {"class": "WRONG", **TICKET, **SEMANTIC}),
    _alarm("DavylampOutputsMoved", "facts", "ticket", {"class": "DRIFT", "severity": "warning"}),
    _alarm("DavylampJudgeDisagrees", "judge", "ticket", {"class": "WRONG", "severity": "warning"}),
)


def _finding(
    alert: str, route: str, severity: str, labels: Mapping[str, str], verdict_class: str
) -> Scenario:
    other = "alertmanager" if route == "direct" else "direct"
    of = f',class="{verdict_class}",state="confirmed",severity="{severity}"'
    return Scenario(
        alert=alert,
        series={
            f'davylamp_findings_open{AT}{of},route="{route}"}}': "0x9 1x10 _x20 0x10",
            f'davylamp_findings_open{CALM}{of},route="{other}"}}': "0x9 1x10 0x10",
            f'davylamp_findings_open{CALM},class="SUSPECT",state="needs_review",'
            f'severity="none",route="alertmanager"}}': "0x9 1x10 0x10",
        },
        silent_at="9m",
        fires_at="38m",
        over_at="45m",
        labels={**GLM, "class": verdict_class, **labels},
    )


FINDINGS = (
    _finding(
        "DavylampFinding", "alertmanager", "critical", {"severity": "critical"}, "WRONG_INPUT"
    ),
    _finding("DavylampFinding", "alertmanager", "warning", {"severity": "warning"}, "CONTRACT"),
    _finding(
        "DavylampFinding", "alertmanager", "critical", {"severity": "critical"}, "UNSAFE_NODE"
    ),
    _finding("DavylampFinding", "alertmanager", "warning", {"severity": "warning"}, "UNSAFE_NODE"),
    _finding(
        "DavylampFindingPagedDirectly",
        "direct",
        "critical",
        {"severity": "info", "route": "direct"},
        "LEAK",
    ),
)
