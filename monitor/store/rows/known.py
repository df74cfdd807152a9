"""What the installation knows: targets, markers, calibrations, findings, and who did what."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRow:
    """A target as it was configured at ``seen_at``; never a credential."""

    name: str
    seen_at: datetime
    model: str
    engine: str
    origin: str
    tenants: tuple[str, ...]
    limit_tokens: int | None
    limit_source: str
    config_hash: str


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
    changed_at: datetime
    urgent: bool
    signals: tuple[str, ...]
    suppressed_until: datetime | None
    suppressed: int
    out_of_rotation_at: datetime | None = None
    back_in_rotation_at: datetime | None = None
    rotation_by: str = ""
    rotation_why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingChangeRow:
    """One version of a finding, kept for ever; of its strata and trials only how many."""

    finding: str
    version: int
    changed_at: datetime
    target: str
    shape: str
    stratum: str
    verdict_class: str
    state: str
    last_seen: datetime
    count: int
    confirmations: int
    reproduced: int
    child_count: int
    trial_count: int
    who: str
    why: str
    urgent: bool
    suppressed_until: datetime | None
    suppressed: int
    out_of_rotation_at: datetime | None = None
    back_in_rotation_at: datetime | None = None
    rotation_by: str = ""
    rotation_why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """One link of the audit chain: ``hash`` is of everything before it and of ``previous``."""

    seq: int
    at: datetime
    actor: str
    action: str
    object: str
    details: str
    previous: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyRow:
    """What was said in one exchange, sealed to the public key ``key_id``: unreadable here."""

    trial: str
    exchange: int
    target: str
    tenant: str
    stored_at: datetime
    key_id: str
    sealed: str
    held: bool = False
