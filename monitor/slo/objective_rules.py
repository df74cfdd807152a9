"""Recording rules of an objective, and the burn-rate alerts that it can carry.

Below its least number of valid events an objective is not known: ``davylamp:slo_known`` is 0 and
neither its error ratio nor its budget has a series, so that a panel is grey and never green.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from monitor.conventions import LAST_SUCCESS, NOT_PROBED
from monitor.slo.alert import Alert
from monitor.slo.burn_rate import burn_choices, burn_words, needed
from monitor.slo.indicators import by_labels, events
from monitor.slo.links import Links
from monitor.slo.objective import Objective, Sli
from monitor.slo.promql import equals, selector
from monitor.slo.rules import AlertRule, Group, RecordingRule, Rule
from monitor.slo.windows import HOUR, BurnTier, promql_duration

LEAST_VALID_SHARE = 0.5
COVERAGE_DAYS = 7
KNOWN = "davylamp:slo_known"
ERROR = "davylamp:slo_error:ratio"
REMAINING = "davylamp:slo_error_budget_remaining:ratio"
COVERAGE = "davylamp:coverage:ratio"
_BAD, _VALID, _ASKED = ("davylamp:slo_bad", "davylamp:slo_valid", "davylamp:slo_asked")
# Longer windows are put together of hours: a month of raw samples is more than a query may read.
_LONGEST_DIRECT = 6 * HOUR
_INTERVAL = "1m"
_CLASS = {Sli.SEMANTIC: "WRONG", Sli.NODES: "UNSAFE_NODE"}
_WRONG_HOW = {
    Sli.SEMANTIC: "judged answers were wrong",
    Sli.AVAILABILITY: "questions had no proper answer",
    Sli.LATENCY: "answers took too long",
    Sli.FIRST_TOKEN: "first tokens took too long",
    Sli.NODES: "readings of nodes showed an unsafe version or setting",
    Sli.PRODUCTION: "requests of users failed",
}


def objective_group(objective: Objective, links: Links) -> Group:
    """Return the rules of one objective; the notes say which burn rates have none, and why."""
    if objective.sli is Sli.COVERAGE:
        return _coverage_group(objective, links)
    made = [choice.tier for choice in burn_choices(objective) if choice.made]
    rules: list[Rule] = [*_counts(objective, made), *_window(objective)]
    rules += [_burn_alert(objective, tier, links) for tier in made]
    return Group(
        name=f"davylamp-slo-{objective.name}",
        interval=_INTERVAL,
        rules=tuple(rules),
        notes=tuple(burn_words(objective)),
    )


def _labels(objective: Objective) -> Mapping[str, str]:
    """Return the labels that every series of an objective gets."""
    named = {"slo": objective.name}
    if objective.sli is Sli.PRODUCTION:
        named |= {"env": objective.env, "target": objective.target}
    return named


def _of(objective: Objective, metric: str) -> str:
    return selector(metric, equals("slo", objective.name))


def _counts(objective: Objective, tiers: list[BurnTier]) -> Iterator[RecordingRule]:
    """Yield what happened in each window that something is made of; always the last hour."""
    counted, labels = events(objective), _labels(objective)
    windows = {HOUR} | {w for tier in tiers for w in (tier.short_seconds, tier.long_seconds)}
    kinds = ((_BAD, counted.bad), (_VALID, counted.valid), (_ASKED, counted.asked))
    for seconds in sorted(windows):
        window = promql_duration(seconds)
        for name, count in kinds:
            if name == _ASKED and seconds != HOUR:
                continue
            direct = seconds <= _LONGEST_DIRECT
            expr = count(window) if direct else _by_hours(objective, name, window)
            yield RecordingRule(record=f"{name}:increase{window}", expr=expr, labels=labels)
        ratio = _of(objective, f"{_BAD}:increase{window}")
        ratio += f" / {_of(objective, f'{_VALID}:increase{window}')}"
        yield RecordingRule(record=f"{ERROR}{window}", expr=ratio, labels=labels)


def _by_hours(objective: Objective, name: str, window: str) -> str:
    return f"sum_over_time({_of(objective, f'{name}:increase1h')}[{window}:1h])"


def _window(objective: Objective) -> Iterator[RecordingRule]:
    """Yield how the objective stands over its own window."""
    labels, window = _labels(objective), promql_duration(objective.window_seconds)
    for name in (_BAD, _VALID, _ASKED):
        expr = _by_hours(objective, name, window)
        yield RecordingRule(record=f"{name}:count", expr=expr, labels=labels)
    valid, asked = _of(objective, f"{_VALID}:count"), _of(objective, f"{_ASKED}:count")
    share = _of(objective, "davylamp:slo_valid_share:ratio")
    yield RecordingRule(
        record="davylamp:slo_valid_share:ratio", expr=f"{valid} / {asked}", labels=labels
    )
    by = ", ".join(by_labels(objective))
    yield RecordingRule(
        record=KNOWN,
        expr=(
            f"({valid} >= bool {objective.least_valid})\n"
            f"  * ({share} >= bool {LEAST_VALID_SHARE})\n"
            f"or on ({by}) 0 * {events(objective).expected}"
        ),
        labels=labels,
    )
    yield RecordingRule(
        record="davylamp:slo_objective:ratio",
        expr=f"vector({objective.ratio:.9g})",
        labels=labels,
    )
    bad, known = _of(objective, f"{_BAD}:count"), _of(objective, KNOWN)
    ratio = f"{bad} / {valid}\nand {known} == 1"
    yield RecordingRule(record=ERROR, expr=ratio, labels=labels)
    left = f"1 - {_of(objective, ERROR)} / {objective.room:.9g}"
    yield RecordingRule(record=REMAINING, expr=left, labels=labels)


def _burn_alert(objective: Objective, tier: BurnTier, links: Links) -> AlertRule:
    bound = f"{tier.burn * objective.room:.6g}"
    long, short = promql_duration(tier.long_seconds), promql_duration(tier.short_seconds)
    least = needed(objective, tier)
    window = promql_duration(objective.window_seconds)
    gone = promql_duration(round(objective.window_seconds / tier.burn / HOUR) * HOUR)
    return Alert(
        name="DavylampErrorBudgetBurn",
        expr=(
            f"{_of(objective, ERROR + long)} > {bound}\n"
            f"and {_of(objective, ERROR + short)} > {bound}\n"
            f"and {_of(objective, f'{_VALID}:increase{short}')} >= {least}"
        ),
        severity=tier.severity,
        verdict_class=_CLASS.get(objective.sli, "none"),
        labels={"burn_tier": tier.name, "slo": objective.name},
        summary=(
            "{{ $labels.target }}: {{ $value | humanizePercentage }} of "
            f"{objective.name} bad in {long}; {_percent(objective.room)} may be"
        ),
        description=(
            f"{{{{ $value | humanizePercentage }}}} in {long}: {_WRONG_HOW[objective.sli]}. At "
            f"{tier.burn:g} times what the objective leaves room for, and on, its budget of "
            f"{window} is gone in {gone}."
        ),
        evidence=(f"{ERROR}{long}", ("env", "target", "slo")),
    ).rule(links)


def _percent(share: float) -> str:
    return f"{share * 100:.6g}%"


def _coverage_group(objective: Objective, links: Links) -> Group:
    """Return the rules on which sizes were looked at: the first axis of a stratum is its size."""
    days, by = f"{COVERAGE_DAYS}d", "env, target, size"

    def sized(expr: str) -> str:
        return f'label_replace({expr}, "size", "$1", "stratum", "([^/]+).*")'

    judged = f"max_over_time({LAST_SUCCESS.name}[{days}:1h])"
    there = f"{judged} and on (env, target, probe, stratum) {LAST_SUCCESS.name}"
    return Group(
        name=f"davylamp-slo-{objective.name}",
        interval=_INTERVAL,
        notes=(f"{objective.name}: no burn rates: it is a state, not a count of events",),
        rules=(
            RecordingRule(
                record="davylamp:size_proven",
                expr=(
                    f"time() - max by ({by}) (\n"
                    f"  {sized(there)}\n"
                    f") <= bool {COVERAGE_DAYS * 24 * HOUR}\n"
                    f"or 0 * group by ({by}) (\n"
                    f"  {sized(f'{NOT_PROBED.name} == 1')}\n"
                    ")"
                ),
            ),
            RecordingRule(record=COVERAGE, expr="avg by (env, target) (davylamp:size_proven)"),
            RecordingRule(
                record="davylamp:coverage:count",
                expr="count by (env, target) (davylamp:size_proven)",
            ),
            RecordingRule(
                record="davylamp:coverage_all:ratio", expr="avg by (env) (davylamp:size_proven)"
            ),
            RecordingRule(
                record=KNOWN,
                expr="group by (env, target) (davylamp:size_proven)",
                labels={"slo": objective.name},
            ),
            Alert(
                name="DavylampCoverageLow",
                expr=f"{COVERAGE} < {objective.ratio:.9g}",
                wait="1d",
                severity="warning",
                labels={"slo": objective.name},
                summary=(
                    "{{ $labels.target }}: only {{ $value | humanizePercentage }} of its prompt "
                    "sizes were looked at this week"
                ),
                description=(
                    f"At the other sizes no answer could be judged in {COVERAGE_DAYS} days. What "
                    "happens there is not known; it is not green."
                ),
                evidence=("davylamp:size_proven", ("env", "target")),
            ).rule(links),
        ),
    )
