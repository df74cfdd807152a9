"""The rows of each table as flat records: their fields are its columns, in order.

A test compares them with the schema. Only ``encode`` and ``decode`` turn records into rows.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import Any

from monitor.store.client import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRow:
    """One trial, without its exchanges."""

    id: str
    target: str
    model: str
    probe: str
    shape: str
    stratum: str
    started_at: datetime
    purpose: str
    scheduled: bool
    broken: str
    confirms: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeRow:
    """One exchange in numbers, codes and keyed hashes; never a body.

    ``response_hash`` is of the answer's text. What the target may write freely (ids, its model's
    name) is kept only where it looks like an identifier, else as a keyed hash.
    """

    trial: str
    exchange: int
    target: str
    probe: str
    stratum: str
    part: str
    tenant: str
    isolation: str
    started_at: datetime
    total_seconds: float
    first_token_seconds: float | None
    streamed: bool
    request_characters: int
    request_hash: str
    response_characters: int
    response_hash: str
    reasoning_characters: int
    tool_calls: int
    finish_reason: str
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    reasoning_tokens: int | None
    reported_model: str
    response_id: str
    request_id: str
    system_fingerprint: str
    protocol_faults: tuple[str, ...]
    http_status: int | None
    failure: str
    failure_detail: str
    failure_code: int | None
    refused_limit_tokens: int | None
    refused_prompt_tokens: int | None
    golden: str
    boundary: str
    limit_tokens: int | None
    limit_source: str
    size_tokens: int | None
    size_error_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRow:
    """One verdict, without its signals and exchanges."""

    id: str
    source: str
    trial: str
    target: str
    model: str
    probe: str
    shape: str
    stratum: str
    decided_at: datetime
    outcome: str
    verdict_class: str
    reason: str
    checks_version: str
    scheduled: bool
    finding: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeVerdictRow:
    """The judgement of one exchange."""

    verdict: str
    trial: str
    target: str
    model: str
    probe: str
    shape: str
    stratum: str
    decided_at: datetime
    exchange: int
    outcome: str
    verdict_class: str
    reason: str
    hard: bool
    tolerated: bool
    scheduled: bool
    counted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalRow:
    """One signal; ``span_hashes`` are keyed hashes of the places in what the target wrote."""

    verdict: str
    position: int
    trial: str
    target: str
    decided_at: datetime
    exchange: int
    code: str
    variant: str
    status: str
    explanation: str
    evidence_bits: float | None
    score: float | None
    marker: str
    owned: bool
    owner_target: str
    owner_tenant: str
    owner_isolation: str
    owner_trial: str
    owner_exchange: int
    owner_epoch: str
    owner_stratum_key: str
    span_starts: tuple[int, ...]
    span_ends: tuple[int, ...]
    span_hashes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRow:
    """A finding as it stood at ``version``."""

    id: str
    version: int
    target: str
    shape: str
    stratum: str
    verdict_class: str
    opened_class: str
    state: str
    first_seen: datetime
    last_seen: datetime
    count: int
    confirmations: int
    children: tuple[str, ...]
    trials: tuple[str, ...]
    who: str
    why: str
    reproduced: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkerRow:
    """A marker; ``sealed`` is its encrypted text, empty once it has expired."""

    id: str
    kind: str
    target: str
    tenant: str
    isolation: str
    trial: str
    exchange: int
    epoch: str
    stratum_key: str
    minted_at: datetime
    expires_at: datetime
    part_hashes: tuple[int, ...]
    sealed: str


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
class CalibrationRow:
    """What a healthy target was seen to do; ``sealed`` is the encrypted record, base64."""

    id: str
    target: str
    model: str
    made_at: datetime
    made_by: str
    reason: str
    subject: str
    checks_version: str
    tolerance: float
    quarantined: tuple[str, ...]
    sealed: str
    signature: str


AnyRow = (
    TrialRow
    | ExchangeRow
    | VerdictRow
    | ExchangeVerdictRow
    | SignalRow
    | FindingRow
    | MarkerRow
    | BudgetRow
    | ScheduleEventRow
    | LadderRow
    | RungRow
    | CalibrationRow
)
TABLES: dict[type[AnyRow], str] = {
    TrialRow: "trials",
    ExchangeRow: "exchanges",
    VerdictRow: "verdicts",
    ExchangeVerdictRow: "exchange_verdicts",
    SignalRow: "signals",
    FindingRow: "findings",
    MarkerRow: "markers",
    BudgetRow: "budget_spent",
    ScheduleEventRow: "schedule_events",
    LadderRow: "context_ladders",
    RungRow: "context_rungs",
    CalibrationRow: "calibrations",
}
# ``class`` is a Python keyword.
_COLUMN_OF_FIELD = {"verdict_class": "class"}


def columns(kind: type[AnyRow]) -> tuple[str, ...]:
    """Return the columns of a kind of row, in order."""
    return tuple(_COLUMN_OF_FIELD.get(field.name, field.name) for field in fields(kind))


def values(row: AnyRow) -> Row:
    """Return the row as the client takes it; text is made valid UTF-8."""
    return tuple(_value(getattr(row, field.name)) for field in fields(row))


def _value(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, tuple):
        return [_value(item) for item in value]
    return value
