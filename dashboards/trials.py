"""The shelf of checks, findings and trials of one target, from the store but for the first."""

from __future__ import annotations

from dashboards.frame import TRIAL_LINK
from dashboards.panels import (
    Look,
    Said,
    Shelf,
    clickhouse,
    link,
    named,
    prometheus,
    table,
    time_series,
)
from dashboards.questions import asked_by_name, rise, stated
from monitor.conventions import SIGNALS
from monitor.slo import Links

_STORE = "The store has no row of this target in this time range, or Grafana cannot reach it."
_checks_that_failed = time_series(
    Said(
        "Checks that failed",
        "short",
        "Signals of an hour that failed, by check.",
        "No check has said anything within an hour.",
    ),
    [prometheus(rise(SIGNALS, 'status="fail"', by="signal") + " > 0", "{{signal}}")],
    Look(bars=True, stacked=True, low=0),
)
_by_probe_and_stratum = table(
    Said(
        "By probe and stratum",
        "short",
        "Good of valid over the whole time range; hard and tolerated failures.",
        _STORE,
    ),
    [clickhouse(asked_by_name("strata_good"))],
)
_findings = table(
    Said(
        "Findings",
        "none",
        "Seen in this time range, or open since before it; a trial leads to its exchanges.",
        (
            "The store has no finding of this target that was seen in this time range or is open, "
            "or cannot be reached."
        ),
    ),
    [
        clickhouse(
            stated(
                "SELECT id AS finding, class, state, shape, stratum, first_seen, last_seen, count, "
                "reproduced, trials[1] AS trial FROM findings FINAL WHERE $stood AND $targets "
                "ORDER BY last_seen DESC LIMIT 100"
            ),
        )
    ],
    Look(
        overrides=(
            TRIAL_LINK,
            named("class", links=[link("What to do", Links().runbook("DavylampFinding"))]),
        )
    ),
)
_trials_that_were_not_good = table(
    Said(
        "Trials that were not good",
        "none",
        "The last hundred of this time range; a trial leads to its exchanges.",
        "The store has no such trial in this time range, or cannot be reached.",
    ),
    [
        clickhouse(
            stated(
                "SELECT decided_at, probe, stratum, outcome, class, trial, finding, "
                "reason FROM verdicts FINAL WHERE $__timeFilter(decided_at) AND source = "
                "'probe' AND $targets AND outcome != 'good' ORDER BY decided_at DESC LIMIT 100"
            ),
        )
    ],
    Look(overrides=(TRIAL_LINK,)),
)

TRIALS = Shelf(
    title="Checks, and what the store has",
    panels=(
        (12, 8, _checks_that_failed),
        (12, 8, _by_probe_and_stratum),
        (24, 8, _findings),
        (24, 9, _trials_that_were_not_good),
    ),
)
