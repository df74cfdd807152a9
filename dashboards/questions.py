"""Pieces of PromQL and SQL that dashboards share. Names come from the conventions and the store."""

from __future__ import annotations

from string import Template

from monitor.conventions import (
    BUILD_INFO,
    EXCHANGES,
    LAST_RUN,
    LAST_SUCCESS,
    NOT_PROBED,
    OUTCOME_CLASSES,
)
from monitor.conventions.metric import Label, Metric
from monitor.model import Outcome, VerdictClass
from monitor.slo.promql import selector
from monitor.store.panels import PANELS, Step

HOUR = "1h"
# The first part of a stratum is the length of its prompts; these are long ones.
LONG = "(long|pages|ladder|over-|under-).*"
# From the mildest to the worst; their places are the numbers of the timelines of classes.
BAD_CLASSES = tuple(each for outcome, each in OUTCOME_CLASSES if outcome is Outcome.BAD)
# Between backticks backslashes are kept, which the form of a pattern puts before a dot of a name.
PATTERN = "${target:regex}"
_CHOSEN = {Label.ENV: 'env="$env"', Label.TARGET: f"target=~`{PATTERN}`"}
# What was chosen or typed, whatever it is: percent-encoded, it can neither end a string nor escape.
_TARGETS = "decodeURLComponent('${target:percentencode}')"
# All of them, one, or some within braces. Names have neither braces nor commas.
_OF_TARGETS = (
    f"({_TARGETS} = '.*' "
    f"OR has(splitByChar(',', replaceRegexpAll({_TARGETS}, '[{{}}]', '')), target))"
)
# Nothing is equal to null: verdicts of no trial, and signals of no owner, have "" instead of an id.
_TRIAL = "nullIf(trimBoth(decodeURLComponent('${trial:percentencode}')), '')"
# Of the findings: in the time range, or open whenever it began.
_STOOD = (
    "first_seen <= $__toTime "
    "AND (last_seen >= $__fromTime OR state NOT IN ('resolved', 'dismissed'))"
)
_GOOD, _JUDGED = 'outcome="good"', 'outcome=~"good|bad"'
# Objectives are recorded for each target, some for each of its probes too.
NO_PROBE = 'probe=""'
_BOUND = {
    "{from:DateTime64(3, 'UTC')}": "$__fromTime",
    "{until:DateTime64(3, 'UTC')}": "$__toTime",
    "(empty({targets:Array(String)}) OR target IN {targets:Array(String)})": _OF_TARGETS,
    "{trial:String}": _TRIAL,
}


def of(metric: Metric, *matchers: str, suffix: str = "") -> str:
    """Return the series of a metric that the dashboard's choices pick."""
    chosen = [_CHOSEN[label] for label in metric.labels if label in _CHOSEN]
    return selector(f"{metric.name}{suffix}", *chosen, *matchers)


def recorded(name: str, *matchers: str) -> str:
    """Return the series of a recording rule that the dashboard's choices pick."""
    return selector(name, *_CHOSEN.values(), *matchers)


def rise(metric: Metric, *matchers: str, by: str, window: str = HOUR) -> str:
    """Return how much a counter rose in an hour, whatever the zoom: probes ask rarely."""
    return f"sum by ({by}) (increase({of(metric, *matchers)}[{window}]))"


def judged(by: str, window: str = HOUR) -> str:
    """Return how many scheduled answers could be judged, good or bad."""
    return rise(EXCHANGES, _JUDGED, by=by, window=window)


def while_reporting(expr: str) -> str:
    """Return the expression only while a monitor reports.

    A sum over an hour or a day outlives the monitor by as long, and would stay green.
    """
    return f"({expr}) and on () ({of(BUILD_INFO)})"


def good_ratio(by: str, window: str = HOUR, *, least: int = 1) -> str:
    """Return the good share of the judged answers; nothing where fewer than ``least`` were."""
    good, every = rise(EXCHANGES, _GOOD, by=by, window=window), judged(by, window)
    return while_reporting(f"{good} / ({every} >= {least})")


def alarmed(metric: Metric, by: str, *matchers: str, across: str = "") -> str:
    """Return 1 while something of the metric holds, else 0, or -1 if nothing was judged in a day.

    ``across`` are the labels by which what was judged belongs to a series.
    """
    holds = f"(max by ({by}) ({of(metric, *matchers)}) > bool 0)"
    looked = judged(across or "env", "1d")
    quiet = f"0 * {holds} and on ({across}) ({looked} > 0)"
    return f"{holds} > 0 or ({quiet}) or 0 * {holds} - 1"


def worst_class(metric: Metric, by: str = "target") -> str:
    """Return the worst class of an hour by its number, 0 for none, -1 where nothing was judged."""
    ranked = " or ".join(
        f"({rise(metric, _bad(each), by=f'{by}, class')} > bool 0) * {number}"
        for number, each in enumerate(BAD_CLASSES, 1)
    )
    worst = f"max by ({by}) ({ranked}) > 0 or on ({by}) ({judged(by)} > bool 0) - 1"
    return while_reporting(worst)


def _bad(each: VerdictClass) -> str:
    return f'outcome="bad",class="{each.label}"'


def coverage() -> str:
    """Return for each stratum: 2 judged within a day, 1 longer ago, 0 never, -1 left out."""
    by = "target, probe, stratum"
    left_out = f"-1 * max by ({by}) ({of(NOT_PROBED)})"
    last = f"max by ({by}) ({of(LAST_SUCCESS)})"
    return f"{left_out} or on ({by}) (({last} > bool 0) + ({last} > bool (time() - 86400)))"


def long_age() -> str:
    """Return for how long no long prompt was judged, by target; -1 if none ever was.

    Not below 0: the monitor's clock and that of Prometheus are two.
    """
    chosen = f'stratum=~"{LONG}"'
    last = f"max by (target) ({of(LAST_SUCCESS, chosen)} > 0)"
    every = f"max by (target) ({of(LAST_RUN)})"
    return f"clamp_min(time() - {last}, 0) or on (target) (0 * {every} - 1)"


def stated(sql: str) -> str:
    """Return a question to the store with what is chosen in place of its own words.

    ``$targets`` and ``$stood`` are conditions, the latter of findings; ``$trial`` is an id.
    """
    chosen = {"targets": _OF_TARGETS, "stood": _STOOD, "trial": _TRIAL}
    return Template(sql).safe_substitute(chosen)


def asked_by_name(name: str, *, every: Step = Step.HOUR) -> str:
    """Return one of the store's own questions, with Grafana's macros in place of parameters."""
    sql = PANELS[name].statement(every)
    for parameter, macro in _BOUND.items():
        sql = sql.replace(parameter, macro)
    return sql


def quantile(share: float, metric: Metric, by: str) -> str:
    """Return a quantile of the durations of an hour, of a histogram."""
    buckets = of(metric, suffix="_bucket")
    return f"histogram_quantile({share:g}, sum by ({by}, le) (increase({buckets}[{HOUR}])))"
