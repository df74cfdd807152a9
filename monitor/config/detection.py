"""How rarely streams may alarm for nothing, and which of them are more important than others."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from monitor.config.known import ProbeName
from monitor.config.problems import wrong
from monitor.config.section import Section
from monitor.config.values import Duration, Label

_HOUR_SECONDS = 3_600.0
_DAY_SECONDS = 86_400.0


def _not_none(seconds: float) -> float:
    if not seconds:
        raise wrong("no time at all would allow any number of them", "write a time such as 7d")
    return seconds


def _not_common(seconds: float) -> float:
    if 0 < seconds < _HOUR_SECONDS:
        raise wrong("more than one page an hour for nothing", "write 1h or longer, such as 90d")
    return _not_none(seconds)


SomeTime = Annotated[Duration, AfterValidator(_not_none)]
Weight = Annotated[float, Field(strict=True, ge=0, le=1_000_000)]


class StreamWeight(Section):
    """How important the streams of a target, of a probe, or of a probe on a target are."""

    target: Label | None = Field(default=None, description="The target. Left out, every one.")
    probe: ProbeName | None = Field(default=None, description="The probe. Left out, every one.")
    weight: Weight = Field(
        description="Relative to 1: a larger one alarms sooner, 0 never.", examples=[4]
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.target is None and self.probe is None:
            raise wrong("names neither a target nor a probe", "add target, probe or both")
        return self


class Detection(Section):
    """When streams of answers alarm. What is allowed is shared by all targets together."""

    false_page_seconds: Annotated[Duration, AfterValidator(_not_common)] = Field(
        default=90 * _DAY_SECONDS,
        alias="false_page_every",
        description="At most one page for nothing is to be expected in this time.",
    )
    false_ticket_seconds: SomeTime = Field(
        default=7 * _DAY_SECONDS,
        alias="false_ticket_every",
        description="At most one ticket for nothing is to be expected in this time.",
    )
    weights: tuple[StreamWeight, ...] = Field(
        default=(),
        description="Streams that are not as important as others; entries that fit multiply.",
        examples=["[{target: glm, weight: 4}, {probe: boundary, weight: 2}]"],
    )
