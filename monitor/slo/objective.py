"""An objective: which share of which events must be good, over how long."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from monitor.slo.windows import BURN_TIERS, DAY

_CONFIDENCE = 0.95


class Sli(StrEnum):
    """What is counted: an indicator (SLI) and where its events come from."""

    SEMANTIC = "semantic"
    AVAILABILITY = "availability"
    LATENCY = "latency"
    FIRST_TOKEN = "first_token"  # noqa: S105 - not a password
    NODES = "nodes"
    COVERAGE = "coverage"
    PRODUCTION = "production"


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """One objective. ``ratio`` is the share that must be good, 0 to 1.

    ``volume_a_day`` is how many valid events a target has in a day (a probe of a target, if
    ``by_probe``); from it follows which burn rates can be told. ``volume_from`` says who says so.
    """

    name: str
    sli: Sli
    ratio: float
    window_seconds: int
    volume_a_day: float
    volume_from: str
    env: str = ""
    target: str = ""
    probes: tuple[str, ...] = ()
    by_probe: bool = False
    within_seconds: float | None = None
    tiers: tuple[str, ...] = tuple(tier.name for tier in BURN_TIERS)
    source: str = ""
    model: str = ""

    @property
    def room(self) -> float:
        """The share that may be bad: the error budget, without the noise of floats."""
        return round(1 - self.ratio, 9)

    @property
    def least_valid(self) -> int:
        """The fewest valid events that say anything.

        With fewer not even none bad shows, at 95 %, that the objective is met.
        """
        return math.ceil(math.log(1 - _CONFIDENCE) / math.log(1 - self.room))

    def expected(self, seconds: float) -> float:
        """Return how many valid events a window of this length brings."""
        return self.volume_a_day * seconds / DAY
