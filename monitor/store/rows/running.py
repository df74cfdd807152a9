"""How the monitor itself runs: budgets, schedule, ladders, nodes, detectors and pages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetRow:
    """A reservation (version 0) or what it came to (version 1)."""

    reservation: str
    version: int
    day: date
    target: str
    budget: str
    tokens: int
    usd: float
    changed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleEventRow:
    """Runs missed (``count`` of them), or a change of a target that raises its rates for a day."""

    id: str
    at: datetime
    target: str
    probe: str
    kind: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderRow:
    """One run of ``context verify``: up to which size content was verified."""

    id: str
    target: str
    model: str
    started_at: datetime
    finished_at: datetime
    verified_tokens: int
    verified_error_tokens: int
    failed_tokens: int | None
    enforced_tokens: int
    advertised_tokens: int
    advertised_source: str
    exit_code: int
    reason: str
    spent_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RungRow:
    """One size that a ladder tried, and how the prompt was read."""

    ladder: str
    position: int
    target: str
    started_at: datetime
    asked_tokens: int
    size_tokens: int
    size_error_tokens: int
    cold: bool
    outcome: str
    verdict_class: str
    trial: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSnapshotRow:
    """What one serving node said of its KV pool and settings; ``settings`` is redacted JSON."""

    id: str
    at: datetime
    node: str
    target: str
    engine: str
    engine_version: str
    role: str
    conformity: str
    capacity_tokens: int | None
    used_tokens: int | None
    enforced_tokens: int | None
    advertised_tokens: int | None
    failed_rules: tuple[str, ...]
    warned_rules: tuple[str, ...]
    unknown_rules: tuple[str, ...]
    settings: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectorStateRow:
    """Where the evidence of one stream stood at ``version``; ``state`` is JSON, without text."""

    detector: str
    target: str
    probe: str
    stratum: str
    version: int
    changed_at: datetime
    evidence: float
    threshold: float
    alarmed_at: datetime | None
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow:
    """One attempt to deliver one event of a page."""

    id: str
    attempt: int
    at: datetime
    finding: str
    target: str
    dedup_key: str
    route: str
    action: str
    severity: str
    outcome: str
    http_status: int | None
