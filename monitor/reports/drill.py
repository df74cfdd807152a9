"""The result of ``davylamp drill``: a documented, versioned contract (docs/drill-json.md).

It holds codes, numbers, names of faults and our own words; never prompt or answer text.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

DRILL_SCHEMA_VERSION = "1.0"


class Record(BaseModel):
    """Base of the contract's records."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class ClaimReport(Record):
    """One verdict LEAK or CROSSED, compared with what the lab knows of that answer."""

    verdict_class: str = Field(alias="class")
    probe: str
    stratum: str
    tenant: str
    owner_tenant: str | None
    writers: list[str]
    foreign: bool
    right_owner: bool | None


class FirstReport(Record):
    """Where a fault was first detected, and what it took to get there."""

    verdict_class: str = Field(alias="class")
    hard: bool
    probe: str
    stratum: str
    words: str
    seconds: float
    exchanges: int
    tokens: int


class BaselineReport(Record):
    """What status codes and latency alone would have said of a run."""

    codes: dict[str, int]
    failed: int
    p95_seconds: float | None
    alarm: bool


class SpentReport(Record):
    """What a run was planned to cost and what it cost, in tokens."""

    planned: int
    charged: int
    reported: int
    ordinary: int
    boundary: int
    total: int


class RunReport(Record):
    """One run: one fault or null, one seed, one fresh lab, one pass."""

    fault: str
    seed: int
    null: bool
    told: bool
    reason: str = ""
    whole: bool = False
    params: dict[str, Any] = Field(default_factory=dict)
    rate: float = 0.0
    exposed: int = 0
    struck: int = 0
    first: FirstReport | None = None
    worst: str = "none"
    signs: dict[str, int] = Field(default_factory=dict)
    claims: list[ClaimReport] = Field(default_factory=list)
    findings: int = 0
    confirmations: int = 0
    exchanges: int = 0
    valid: int = 0
    wrong: int = 0
    tolerance: float = 0.0
    unaffordable: int = 0
    baseline: BaselineReport | None = None
    spent: SpentReport | None = None
    seconds: float = 0.0

    @property
    def detected(self) -> bool:
        """True if something bad was said beyond the tolerance."""
        return self.first is not None

    @property
    def silent(self) -> bool:
        """True if no bad verdict beyond tolerance, no finding and no confirmation came."""
        return self.first is None and not self.findings and not self.confirmations


class FaultReport(Record):
    """All runs of one fault."""

    fault: str
    sentence: str
    deterministic: bool
    runs: int
    told: int
    detected: int
    share_low: float
    share_high: float
    missed_seeds: list[int]
    classes: dict[str, int]
    claims: int
    right_owners: int
    wrong_owners: int
    false_claims: int
    seconds: float | None
    exchanges: float | None
    tokens: float | None
    hard: bool
    exposed: float | None
    allowed: float
    fewer_probability: float
    kept: bool
    baseline: int


class NullReport(Record):
    """All runs of one null: peculiar, but not wrong."""

    null: str
    sentence: str
    runs: int
    told: int
    alarms: int
    alarm_seeds: list[int]
    share_high: float
    classes: dict[str, int]
    false_claims: int
    tolerated: int
    valid: int
    baseline: int


class PromiseReport(Record):
    """One promise of the drill, and whether it was kept."""

    promise: str
    kept: bool
    words: str


class PriceReport(Record):
    """Plans against spending, over the trials of null runs in which nothing was refused."""

    runs: int
    planned: int
    charged: int
    reported: int
    planned_to_charged: float | None
    planned_to_reported: float | None


class DrillReport(Record):
    """The whole drill."""

    schema_version: str = DRILL_SCHEMA_VERSION
    davylamp_version: str
    checks_version: str
    profile: str
    context_tokens: int
    first_seed: int
    seeds: int
    started_at: datetime
    finished_at: datetime
    exit_code: int
    promises: list[PromiseReport]
    faults: list[FaultReport]
    nulls: list[NullReport]
    price: PriceReport
    runs: list[RunReport]
