"""What a user's own servers and gateways export, recorded beside under names of ours.

Status codes and latency stand beside what the answers say, whoever serves. Which metric of which
server is meant is a mapping in YAML; its labels become `source`, `model` and `code`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from monitor.slo.indicators import PRODUCTION_REQUESTS
from monitor.slo.promql import fits, selector
from monitor.slo.rules import Group, RecordingRule

QUANTILES = ("0.5", "0.95", "0.99")
_DURATION = "davylamp:production_duration_seconds:quantile5m"
_FIRST_TOKEN = "davylamp:production_time_to_first_token_seconds:quantile5m"  # noqa: S105 - a name


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductionMetric:
    """One metric: where it says the model and the code, and which of its series count.

    ``match`` are pairs of a label and a pattern; ``scale`` is what its unit is divided by to give
    seconds.
    """

    metric: str
    code: str = ""
    model: str = ""
    match: tuple[tuple[str, str], ...] = ()
    scale: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Production:
    """One kind of server: what it exports, as far as it does."""

    source: str
    requests: ProductionMetric | None = None
    duration: ProductionMetric | None = None
    first_token: ProductionMetric | None = field(default=None)


def production_group(production: Production) -> Group:
    """Return the recording rules of one source."""
    return Group(name=f"davylamp-production-{production.source}", rules=tuple(_rules(production)))


def _rules(production: Production) -> Iterator[RecordingRule]:
    labels = {"source": production.source}
    if production.requests is not None:
        rate = _renamed(production.requests, "")
        expr = f"sum by (model, code) (\n  {rate}\n)"
        yield RecordingRule(record=PRODUCTION_REQUESTS, expr=expr, labels=labels)
    for record, metric in (
        (_DURATION, production.duration),
        (_FIRST_TOKEN, production.first_token),
    ):
        if metric is None:
            continue
        scaled = f" / {metric.scale}" if metric.scale != 1 else ""
        for quantile in QUANTILES:
            buckets = f"sum by (model, le) (\n  {_renamed(metric, '_bucket')}\n)"
            yield RecordingRule(
                record=record,
                expr=f"histogram_quantile({quantile}, {buckets}){scaled}",
                labels={**labels, "quantile": quantile},
            )


def _renamed(metric: ProductionMetric, suffix: str) -> str:
    """Return its rate of 5 minutes with the labels that hold model and code under these names."""
    matchers = [fits(label, pattern) for label, pattern in metric.match]
    expr = f"rate({selector(metric.metric + suffix, *matchers)}[5m])"
    for ours, theirs in (("model", metric.model), ("code", metric.code)):
        if theirs and theirs != ours:
            expr = f'label_replace({expr}, "{ours}", "$1", "{theirs}", "(.*)")'
    return expr
