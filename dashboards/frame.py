"""What the dashboards share: choices, marks on the time axis, links, and how states look."""

from __future__ import annotations

from dashboards.panels import (
    BLUE,
    GREEN,
    GREY,
    HATCH,
    ORANGE,
    PROMETHEUS,
    PURPLE,
    RED,
    YELLOW,
    Look,
    choice,
    link,
    named,
    of_query,
    outside,
    painted,
    source_variable,
    to,
    values,
)
from dashboards.questions import BAD_CLASSES, PATTERN, of
from monitor.conventions import BUILD_INFO, LAST_RUN, TARGET_CHANGES
from monitor.model import VerdictClass
from monitor.slo.links import DASHBOARD, MONITOR_DASHBOARD, NODES_DASHBOARD, Links
from monitor.slo.promql import selector

OVERVIEW, TARGET, LEAK = "davylamp-overview", DASHBOARD, "davylamp-leak"
NODES, ECONOMY, MONITOR = NODES_DASHBOARD, "davylamp-economy", MONITOR_DASHBOARD
_TITLES = {
    OVERVIEW: "Semantic SLO overview",
    TARGET: "Target detail",
    LEAK: "Leak investigation",
    NODES: "Nodes and KV pools",
    ECONOMY: "Probe economy",
    MONITOR: "The monitor itself",
}

_COLOURS = {
    VerdictClass.LEAK: PURPLE,
    VerdictClass.CROSSED: "light-purple",
    VerdictClass.WRONG_INPUT: "dark-red",
    VerdictClass.CORRUPT: RED,
    VerdictClass.CONTRACT: "light-red",
    VerdictClass.UNSAFE_NODE: "dark-orange",
    VerdictClass.DRIFT: YELLOW,
    VerdictClass.WRONG: ORANGE,
    VerdictClass.SUSPECT: BLUE,
}
# Grafana gives out its palette in the order of names, and begins with green: to what is bad.
BY_CLASS = painted({each.label: colour for each, colour in _COLOURS.items()})
BY_OUTCOME = painted({"good": GREEN, "bad": RED, "error": YELLOW, "invalid": GREY})
BY_CODE = painted({"2..": GREEN, "3..": BLUE, "4..": YELLOW, "5..": RED, "none": GREY})

PROMETHEUS_SOURCE = source_variable("datasource", "Prometheus", "prometheus")
CLICKHOUSE_SOURCE = source_variable("clickhouse", "Store", "grafana-clickhouse-datasource")
# One at a time: targets of one name in two environments are two targets.
ENV = choice("env", "Environment", f"label_values({BUILD_INFO.name}, env)", many=False)
TARGETS = choice("target", "Target", f'label_values({LAST_RUN.name}{{env="$env"}}, target)')


def annotation(name: str, expr: str, colour: str, title: str, words: str) -> dict[str, object]:
    """Return marks on the time axis wherever an expression has a value."""
    return {
        "name": name,
        "datasource": PROMETHEUS,
        "enable": True,
        "iconColor": colour,
        "target": {"expr": expr, "refId": "Anno", "interval": "60s"},
        "titleFormat": title,
        "textFormat": words,
    }


RUNBOOKS = outside("Runbooks", Links().runbooks)
CHANGED = annotation(
    "Deploys and changes",
    f"sum by (target, kind) (increase({of(TARGET_CHANGES)}[10m])) > 0",
    BLUE,
    "{{target}}: {{kind}}",
    "A deploy somebody told of, or another version, fingerprint, model or latency.",
)


def firing(*matchers: str) -> str:
    """Return Davylamp's alerts that fire, in Prometheus."""
    return selector("ALERTS", 'alertname=~"Davylamp.+"', 'alertstate="firing"', *matchers)


def alerted(expr: str) -> dict[str, object]:
    """Return marks on the time axis where alerts fire."""
    by = "alertname, target, severity, class"
    words = "{{severity}} {{class}}"
    return annotation("Alerts", f"max by ({by}) ({expr})", RED, "{{alertname}} {{target}}", words)


_ACT = 'severity=~"critical|warning"'
HERE, NOWHERE = 'env="$env"', 'env=""'
# Some alerts are of the environment and not of a target, and of one that is gone even that is not
# known.
MARKS = (CHANGED, alerted(firing(_ACT, HERE, f"target=~`{PATTERN}|`")))
OWN_MARKS = (alerted(f"{firing(_ACT, HERE)} or {firing(_ACT, NOWHERE)}"),)

# What a link takes along: the environment, where the data is, and the time range.
CHOICES = "${env:queryparam}&${datasource:queryparam}&${clickhouse:queryparam}"
ALONG = f"{CHOICES}&${{__url_time_range}}"
TO_TARGET = f"/d/{TARGET}?var-target=${{__value.raw:percentencode}}&{ALONG}"
FIRING = Look(
    mappings=(values({1: ("fires", RED), 2: ("fires, as it always must", GREEN)}),),
    palette=False,
    links=(link("Runbook", Links().runbook("${__field.labels.alertname:percentencode}")),),
)
CLASSES = Look(
    mappings=(
        values(
            {
                -1: (f"{HATCH} not asked", GREY),
                0: ("nothing wrong", GREEN),
                **{n: (each.label, _COLOURS[each]) for n, each in enumerate(BAD_CLASSES, 1)},
            }
        ),
    ),
    palette=False,
    links=(
        link(
            "Target detail",
            f"/d/{TARGET}?var-target=${{__field.labels.target:percentencode}}&{ALONG}",
        ),
    ),
)
COVERED = Look(
    mappings=(
        values(
            {
                -1: (f"{HATCH}{HATCH} left out", GREY),
                0: (f"{HATCH} never judged", GREY),
                1: ("judged over a day ago", YELLOW),
                2: ("judged within a day", GREEN),
            }
        ),
    ),
    palette=False,
)
AGE = Look(
    steps=((None, GREEN), (86_400, YELLOW), (7 * 86_400, RED)),
    mappings=(values({-1: (f"{HATCH} never", GREY)}),),
)
ALARMED = Look(
    mappings=(
        values({-1: (f"{HATCH} nothing judged", GREY), 0: ("quiet", GREEN), 1: ("alarm", RED)}),
    ),
    palette=False,
)
GOOD_RATIO = Look(
    steps=((None, RED), (0.99, YELLOW), (0.999, GREEN)),
    low=0,
    high=1,
    decimals=2,
    overrides=(
        of_query("B", unit="short", decimals=0, color={"mode": "fixed", "fixedColor": GREY}),
    ),
)
TRIAL_LINK = named(
    "(owner_)?trial",
    links=[link("This trial", f"/d/{LEAK}?var-trial=${{__value.raw:percentencode}}&{ALONG}")],
)


def elsewhere(own: str) -> tuple[dict[str, object], ...]:
    """Return links to the other dashboards and to the runbooks.

    Target detail shows one target: what others chose may be all of them, which is none there.
    """
    others = (uid for uid in _TITLES if uid != own)
    links = (to(uid, _TITLES[uid], choices=CHOICES if uid == TARGET else "") for uid in others)
    return (*(dict(each) for each in links), dict(RUNBOOKS))


def title_of(uid: str) -> str:
    """Return what a dashboard is called."""
    return f"Davylamp: {_TITLES[uid]}"
