"""Where the events of an indicator come from: PromQL for how many were bad, valid and asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from monitor.conventions import DURATION, EXCHANGES, FIRST_TOKEN, LAST_RUN
from monitor.conventions.metric import Metric
from monitor.conventions.nodes import NODE_CONFORMITY, NODE_CONFORMS, NODE_UP
from monitor.model import Outcome
from monitor.slo.objective import Objective, Sli
from monitor.slo.promql import equals, fits, one_of, selector, summed

PRODUCTION_REQUESTS = "davylamp:production_requests:rate5m"
_SERVER_FAULT = "5..|5xx"
_CLIENT_FAULT = "4..|4xx"
_RATE_STEP = "1m"
_RATE_STEP_SECONDS = 60

Count = Callable[[str], str]
Outcomes = tuple[Outcome, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """PromQL by window: bad events, valid ones, and all that were asked; and who should have any.

    ``expected`` has a series for each that the objective is about, whether it has events or not.
    """

    bad: Count
    valid: Count
    asked: Count
    expected: str


def by_labels(objective: Objective) -> tuple[str, ...]:
    """Return the labels that tell the series of an objective apart."""
    if objective.sli is Sli.PRODUCTION:
        return ()
    return ("env", "target", "probe") if objective.by_probe else ("env", "target")


def events(objective: Objective) -> Events:
    """Return the events of an objective that counts any. Raises ``KeyError`` for coverage."""
    return _EVENTS[objective.sli](objective)


def _narrowed(objective: Objective) -> str:
    named = [equals("env", objective.env)] if objective.env else []
    named += [equals("target", objective.target)] if objective.target else []
    named += [one_of("probe", objective.probes)] if objective.probes else []
    return ",".join(named)


def _expected(objective: Objective) -> str:
    labels = ", ".join(by_labels(objective))
    return f"group by ({labels}) ({selector(LAST_RUN.name, _narrowed(objective))})"


def _exchanges(objective: Objective, bad: Outcomes, valid: Outcomes) -> Events:
    def count(outcomes: Outcomes) -> Count:
        matcher = one_of("outcome", outcomes) if outcomes else ""
        chosen = selector(EXCHANGES.name, matcher, _narrowed(objective))
        return lambda window: summed(f"increase({chosen}[{window}])", by_labels(objective))

    return Events(
        bad=count(bad), valid=count(valid), asked=count(()), expected=_expected(objective)
    )


def _semantic(objective: Objective) -> Events:
    return _exchanges(objective, (Outcome.BAD,), (Outcome.GOOD, Outcome.BAD))


def _availability(objective: Objective) -> Events:
    return _exchanges(objective, (Outcome.ERROR,), (Outcome.GOOD, Outcome.BAD, Outcome.ERROR))


def _histogram(metric: Metric) -> Callable[[Objective], Events]:
    def made(objective: Objective) -> Events:
        bound = str(float(objective.within_seconds or 0.0))
        narrowed, by = _narrowed(objective), by_labels(objective)
        quick = selector(f"{metric.name}_bucket", equals("le", bound), narrowed)
        every = selector(f"{metric.name}_count", narrowed)

        def valid(window: str) -> str:
            return summed(f"increase({every}[{window}])", by)

        def bad(window: str) -> str:
            return f"{valid(window)} - {summed(f'increase({quick}[{window}])', by)}"

        return Events(bad=bad, valid=valid, asked=valid, expected=_expected(objective))

    return made


def _nodes(objective: Objective) -> Events:
    narrowed, by = _narrowed(objective), by_labels(objective)
    chosen = selector(NODE_CONFORMS.name, narrowed)
    # Of each reading one of the states is 1, so each of them has a sample.
    every = selector(NODE_CONFORMITY.name, equals("state", "unknown"), narrowed)
    there = f"group by ({', '.join(by)}) ({selector(NODE_UP.name, narrowed)})"

    def valid(window: str) -> str:
        return summed(f"count_over_time({chosen}[{window}])", by)

    def bad(window: str) -> str:
        return f"{valid(window)} - {summed(f'sum_over_time({chosen}[{window}])', by)}"

    def asked(window: str) -> str:
        return summed(f"count_over_time({every}[{window}])", by)

    return Events(bad=bad, valid=valid, asked=asked, expected=there)


def _production(objective: Objective) -> Events:
    named = [equals("source", objective.source)]
    named += [equals("model", objective.model)] if objective.model else []

    def count(*matchers: str) -> Count:
        chosen = selector(PRODUCTION_REQUESTS, *named, *matchers)
        return lambda window: (
            f"sum(sum_over_time({chosen}[{window}:{_RATE_STEP}])) * {_RATE_STEP_SECONDS}"
        )

    everything = count()
    # A sum over nothing is nothing: a source without a single fault still has none.
    faults = count(fits("code", _SERVER_FAULT))
    return Events(
        bad=lambda window: f"{faults(window)} or on () 0 * {everything(window)}",
        valid=count(f'code!~"{_CLIENT_FAULT}"'),
        asked=everything,
        expected="vector(1)",
    )


_EVENTS: dict[Sli, Callable[[Objective], Events]] = {
    Sli.SEMANTIC: _semantic,
    Sli.AVAILABILITY: _availability,
    Sli.LATENCY: _histogram(DURATION),
    Sli.FIRST_TOKEN: _histogram(FIRST_TOKEN),
    Sli.NODES: _nodes,
    Sli.PRODUCTION: _production,
}
