"""What was asked, what came back in numbers, and what was judged.

Rows that are ``held`` are evidence of a finding and outlive their time until it is closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


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
    held: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeRow:
    """One exchange in numbers, codes and keyed hashes; never a body.

    ``response_hash`` is of the answer's text. What the target may write freely (ids, its model's
    name) is kept only where it looks like an identifier, else as a keyed hash. ``golden_version``
    is a digest of all that the golden prompt asks and expects; empty if none was asked, or of
    before versions were kept.
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
    held: bool = False
    golden_version: str = ""


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
    held: bool = False
    rescores: str = ""
    markers: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeVerdictRow:
    """The judgement of one exchange, with its quiet signals: one of each array for each."""

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
    held: bool = False
    source: str
    quiet_positions: tuple[int, ...] = ()
    quiet_codes: tuple[str, ...] = ()
    quiet_statuses: tuple[str, ...] = ()
    quiet_explanations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalRow:
    """One signal that is not quiet.

    ``span_hashes`` are keyed hashes of the places in what the target wrote.
    """

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
    held: bool = False
    source: str
