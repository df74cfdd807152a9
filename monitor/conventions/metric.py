"""What a metric is: its name, kind, promise and labels."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

PREFIX = "davylamp_"


class Label(StrEnum):
    """The label names; their values come from configuration or from a fixed list."""

    ENV = "env"
    TARGET = "target"
    MODEL = "model"
    PROBE = "probe"
    SHAPE = "shape"
    STRATUM = "stratum"
    SIGNAL = "signal"
    STATUS = "status"
    CLASS = "class"
    OUTCOME = "outcome"
    PART = "part"
    CODE = "code"
    NODE = "node"
    DIRECTION = "direction"
    REASON = "reason"
    BUDGET = "budget"
    STATE = "state"
    SOURCE = "source"
    KIND = "kind"
    VERSION = "version"
    SHA256 = "sha256"
    LANE = "lane"
    TRUTH = "truth"
    SAID = "said"
    RESULT = "result"
    TIER = "tier"
    SEVERITY = "severity"
    ROUTE = "route"
    ACTION = "action"
    ENGINE = "engine"
    ROLE = "role"
    RULE = "rule"
    GPU = "gpu"
    UUID = "uuid"
    NAME = "name"
    DRIVER = "driver"
    PROCESS = "process"
    MIG = "mig"
    PROFILE = "profile"


class MetricKind(StrEnum):
    """The Prometheus types in use."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric: its full name, what it promises, and its labels in order."""

    name: str
    kind: MetricKind
    help: str
    labels: tuple[Label, ...]
    buckets: tuple[float, ...] = ()


L = Label
TARGET = (L.ENV, L.TARGET)
STRATUM = (L.ENV, L.TARGET, L.PROBE, L.STRATUM)


def counter(name: str, text: str, *labels: Label) -> Metric:
    """Return a counter; ``name`` is without the prefix."""
    return Metric(name=f"{PREFIX}{name}", kind=MetricKind.COUNTER, help=text, labels=labels)


def gauge(name: str, text: str, *labels: Label) -> Metric:
    """Return a gauge; ``name`` is without the prefix."""
    return Metric(name=f"{PREFIX}{name}", kind=MetricKind.GAUGE, help=text, labels=labels)


def histogram(name: str, text: str, buckets: tuple[float, ...], *labels: Label) -> Metric:
    """Return a histogram; ``name`` is without the prefix."""
    return Metric(
        name=f"{PREFIX}{name}",
        kind=MetricKind.HISTOGRAM,
        help=text,
        labels=labels,
        buckets=buckets,
    )
