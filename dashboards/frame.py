"""What the dashboards share: choices, marks on the time axis, links, and how states look."""

from __future__ import annotations

from dashboards.panels import (
    BLUE,
    GREEN,
    GREY,
    HATCH,
    ORANGE,
    PURPLE,
    RED,
    YELLOW,
    Look,
    annotation,
    between,
    choice,
    link,
    named,
    outside,
    source_variable,
    to,
    values,
)
from dashboards.questions import BAD_CLASSES, of
from monitor.conventions import BUILD_INFO, LAST_RUN, TARGET_CHANGES
from monitor.model import VerdictClass
from monitor.slo.links import DASHBOARD, Links
from monitor.slo.promql import selector

OVERVIEW, TARGET, LEAK = "davylamp-overview", DASHBOARD, "davylamp-leak"
NODES, ECONOMY, MONITOR = "davylamp-nodes", "davylamp-economy", "davylamp-monitor"
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
    VerdictClass.CROSSED: PURPLE,
    VerdictClass.WRONG_INPUT: RED,
    VerdictClass.CORRUPT: RED,
    VerdictClass.CONTRACT: RED,
    VerdictClass.UNSAFE_NODE: ORANGE,
    VerdictClass.DRIFT: YELLOW,
    VerdictClass.WRONG: ORANGE,
}

PROMETHEUS_SOURCE = source_variable("datasource", "Prometheus", "prometheus")
CLICKHOUSE_SOURCE = source_variable("clickhouse", "Store", "grafana-clickhouse-datasource")
# One at a time: targets of one name in two environments are two targets.
ENV = choice("env", "Environment", f"label_values({BUILD_INFO.name}, env)", many=False)
TARGETS = choice("target", "Target", f'label_values({LAST_RUN.name}{{env=~"$env"}}, target)')

RUNBOOKS = outside("Runbooks", Links().runbooks)
CHANGED = annotation(
    "Deploys and changes",
    f"sum by (target, kind) (increase({of(TARGET_CHANGES)}[10m])) > 0",
    BLUE,
    "{{target}}: {{kind}}",
    "A deploy somebody told of, or another version, fingerprint, model or latency.",
)


def alerted(*matchers: str) -> dict[str, object]:
    """Return marks on the time axis where an alert fires that asks somebody to act."""
    firing = selector(
        "ALERTS",
        *('alertstate="firing"', 'alertname=~"Davylamp.+"', 'severity=~"critical|warning"'),
        *matchers,
    )
    by = "alertname, target, severity, class"
    words = "{{severity}} {{class}}"
    return dict(
        annotation("Alerts", f"max by ({by}) ({firing})", RED, "{{alertname}} {{target}}", words)
    )


MARKS = (CHANGED, alerted('env=~"$env"', 'target=~"$target|"'))

# What a link takes along: the environment and the time range.
ALONG = "${env:queryparam}&${__url_time_range}"
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
    links=(link("Target detail", f"/d/{TARGET}?var-target=${{__field.labels.target}}&{ALONG}"),),
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
YES_NO = Look(
    mappings=(values({0: ("no", GREEN), 1: ("yes", RED)}),),
    palette=False,
)
AGE = Look(
    steps=((None, GREEN), (86_400, YELLOW), (7 * 86_400, RED)),
    mappings=(between(-1, -0.5, f"{HATCH} never", GREY),),
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
        named(" judged$", unit="short", decimals=0, color={"mode": "fixed", "fixedColor": GREY}),
    ),
)
TRIAL_LINK = named(
    "(owner_)?trial",
    links=[link("This trial", f"/d/{LEAK}?var-trial=${{__value.text}}&{ALONG}")],
)


def elsewhere(own: str) -> tuple[dict[str, object], ...]:
    """Return links to the other dashboards and to the runbooks."""
    return (*(dict(to(uid, title)) for uid, title in _TITLES.items() if uid != own), dict(RUNBOOKS))


def title_of(uid: str) -> str:
    """Return what a dashboard is called."""
    return f"Davylamp: {_TITLES[uid]}"
