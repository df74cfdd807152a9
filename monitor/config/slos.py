"""Objectives and mappings of production metrics: in ``davylamp.yaml``, or in a folder of files."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from monitor.config.known import ProbeName
from monitor.config.problems import wrong
from monitor.config.section import Section
from monitor.config.values import Duration, FileName, Flag, Label, Percent
from monitor.conventions import DURATION, FIRST_TOKEN

SliName = Literal[
    "semantic", "availability", "latency", "first_token", "nodes", "coverage", "production"
]
TierName = Literal["fast", "medium", "slow", "trickle"]
MetricName = Annotated[str, Field(pattern=r"^[a-zA-Z_:][a-zA-Z0-9_:]{0,199}$")]
LabelName = Annotated[str, Field(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]{0,99}$")]
Pattern = Annotated[str, Field(min_length=1, max_length=200)]
Events = Annotated[int, Field(strict=True, ge=1, le=100_000_000_000)]

_HOUR = 3_600
_LONGEST_DAYS = 90
_BUCKETS = {"latency": DURATION.buckets, "first_token": FIRST_TOKEN.buckets}


class Slo(Section):
    """One objective: which share of which events must be good, over how long."""

    name: Label = Field(
        description="Unique; the label `slo` of its series.", examples=["glm-semantic"]
    )
    sli: SliName = Field(default="semantic", description="What is counted; see docs/slos.md.")
    target: Label | None = Field(
        default=None, description="Left out: every target, each for itself."
    )
    probes: tuple[ProbeName, ...] = Field(
        (), description="Only these probes.", examples=["[boundary, tenant]"]
    )
    by_probe: Flag = Field(default=False, description="Each probe of a target for itself.")
    objective: Percent = Field(description="Share that must be good.", examples=[99.9])
    window_seconds: Duration = Field(
        default=30.0 * 86_400, alias="window", description="Over how long; whole hours."
    )
    within_seconds: Duration | None = Field(
        default=None,
        alias="within",
        description="Of `latency` and `first_token`: how long is still good.",
    )
    volume: Events | None = Field(
        default=None,
        description=(
            "Valid events a day. Left out, what the plan of the target asks; burn rates that so "
            "few events cannot show get no rule."
        ),
    )
    tiers: tuple[TierName, ...] = Field(
        ("fast", "medium", "slow", "trickle"), description="The burn rates that may alert."
    )
    source: Label | None = Field(
        default=None, description="Of `production`: the source of a mapping."
    )
    model: Label | None = Field(
        default=None, description="Of `production`: the model as the source names it."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._check_within()
        if self.window_seconds % _HOUR or not 0 < self.window_seconds <= _LONGEST_DAYS * 24 * _HOUR:
            raise wrong("window is not made of whole hours", "write 7d, 28d or 30d; at most 90d")
        production = self.sli == "production"
        if production and not (self.source and self.target and self.volume):
            raise wrong(
                "an objective over production needs source, target and volume",
                "add what is missing",
            )
        if production and (self.probes or self.by_probe):
            raise wrong("production has no probes", "remove probes and by_probe")
        if not production and (self.source or self.model):
            raise wrong("source and model are for sli: production", "remove them, or set sli")
        return self

    def _check_within(self) -> None:
        buckets = _BUCKETS.get(self.sli)
        if buckets is None:
            if self.within_seconds is not None:
                raise wrong("within is for latency and first_token", "remove it")
        elif self.within_seconds not in buckets:
            whole = ", ".join(f"{bound:g}s" for bound in buckets if float(bound).is_integer())
            raise wrong("within must be a bound that is measured", f"use one of: {whole}")


class ProductionSeries(Section):
    """One metric of a server or gateway, and where its labels say model and code."""

    metric: MetricName = Field(
        description="Its name; of a histogram without `_bucket`.",
        examples=["vllm:e2e_request_latency_seconds"],
    )
    code: LabelName | None = Field(
        default=None, description="The label that holds the status code."
    )
    model: LabelName | None = Field(default=None, description="The label that holds the model.")
    match: dict[LabelName, Pattern] = Field(
        default_factory=dict, description="Only series whose labels fit these patterns."
    )
    unit: Literal["seconds", "milliseconds"] = Field(
        default="seconds", description="Of a histogram: what it counts in."
    )


class ProductionSource(Section):
    """One kind of server or gateway of production."""

    source: Label = Field(description="The label `source` of what is recorded.", examples=["vllm"])
    requests: ProductionSeries | None = Field(
        default=None, description="Counter of requests by status code."
    )
    duration: ProductionSeries | None = Field(
        default=None, description="Histogram of how long a request took."
    )
    first_token: ProductionSeries | None = Field(
        default=None, description="Histogram of the time to the first token."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not (self.requests or self.duration or self.first_token):
            raise wrong("maps nothing", "add requests, duration or first_token")
        if self.requests and not self.requests.code:
            raise wrong("requests has no code", "name the label that holds the status code")
        return self


class SloFile(Section):
    """One file of objectives and mappings."""

    version: Literal[1] = Field(
        description="The version of this format, and the first key.", examples=[1]
    )
    slos: tuple[Slo, ...] = Field((), description="Objectives.")
    production: tuple[ProductionSource, ...] = Field((), description="Mappings of metrics.")


def _shape(value: object) -> str:
    return "<list>" if isinstance(value, list | tuple) else "<folder>"


Slos = Annotated[
    Annotated[FileName, Tag("<folder>")] | Annotated[tuple[Slo, ...], Tag("<list>")],
    Discriminator(_shape),
]
