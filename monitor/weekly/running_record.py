"""Further rows of a weekly report: detectors, context, nodes, and how monitoring itself went.

As in ``record``: ratios from 0 to 1, UTC, seconds; ``None`` is "not known", never zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime

from monitor.weekly.text import OURS


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRow:
    """A stream of scores with its detector, as the store last has it.

    A failure rate of ``alarms_at_least`` surely raises its alarm within the week's scores with 95
    %; ``None`` if none does, or if it is not told by rate.
    """

    target: str
    lane: str
    probe: str
    stratum: str
    tolerated_ratio: float
    threshold: float | None
    evidence: float
    scored: int
    scored_in_week: int
    alarms_at_least: float | None
    alarmed_at: datetime | None
    onset_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RescoredRow:
    """Kept answers that were found bad when judged again in the week, or worse than they were.

    They open no finding and count in no rate. ``before`` is what the first judgement said: the
    class of a bad answer, else ``good``, ``error`` or ``invalid``; ``not_kept`` if it has expired.
    """

    target: str
    verdict_class: str
    before: str
    answers: int
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WithoutFindingRow:
    """Bad verdicts of the week that no finding tells of.

    Scheduled ones, those of passes of ``davylamp check`` among them, are in the rates too; what
    confirms, measures, calibrates or looks at a finding is in no rate. Mistakes of scheduled trials
    (WRONG), which open no finding, are not in here.
    """

    target: str
    verdict_class: str
    source: str
    scheduled: bool
    verdicts: int
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftRow:
    """A verdict of a detector: outputs moved."""

    target: str
    lane: str
    probe: str
    stratum: str
    at: datetime
    finding: str
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRow:
    """Up to which size a target was seen to read its prompts whole, against what it says."""

    target: str
    measured_at: datetime | None
    in_week: bool
    verified_tokens: int | None
    verified_error_tokens: int | None
    failed_tokens: int | None
    enforced_tokens: int | None
    advertised_tokens: int | None
    advertised_source: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRow:
    """A serving node as it was read in the week. Readings that could not tell are neither.

    ``unknown_ratio`` is their share, ``hours_unknown`` says in how many of the week's 168 hours no
    reading could tell, and ``longest_unknown_hours`` for how long at a stretch none could: of one
    that is listed in the configuration in the whole week, but not before the first reading ever of
    a node of its target; of one that was found between its first and its last reading.
    ``failing_since`` is the first of the readings that failed without a passing one in between,
    ``days_failing`` counts from it to the last of these. The oldest fault by which it failed last
    was public since ``public_since``, ``days_exposed`` before that reading.
    """

    target: str
    node: str
    engine: str
    engine_version: str
    role: str
    conformity: str
    readings: int
    conforming: int
    failing: int
    unknown: int
    unknown_ratio: float
    hours_unknown: int
    longest_unknown_hours: float
    failing_since: datetime | None
    days_failing: float | None
    public_since: date | None
    days_exposed: float | None
    failed_rules: tuple[str, ...]
    warned_rules: tuple[str, ...]
    unknown_rules: tuple[str, ...]
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DrillRow:
    """What the last drill measured of a kind of fault, in the lab: not of these targets."""

    fault: str
    runs: int
    told: int
    detected: int
    detected_at_least: float
    detected_at_most: float
    median_seconds: float | None
    median_exchanges: float | None
    promise_kept: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRow:
    """What a budget of a target spent on a day."""

    target: str
    budget: str
    day: date
    tokens: int
    usd: float
    settled: int
    unsettled: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRow:
    """What HTTP said of the exchanges. Status 0 is none."""

    target: str
    http_status: int
    failure: str
    exchanges: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRow:
    """A check, in one of its ways to fail, and how often it judged."""

    target: str
    code: str
    variant: str
    failed: int
    judged: int
    failed_ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class UnjudgedRow:
    """Verdicts that say nothing of the answers: invalid ones are ours, errors the target's."""

    target: str
    verdicts: int
    invalid: int
    errors: int
    invalid_ratio: float | None
    error_ratio: float | None
    missed_runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedRow:
    """A deviation that somebody accepted, as configured when the report was built."""

    target: str
    node: str
    deviation: str
    owner: str
    reason: str
    expires: date
    expired: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRow:
    """Something that is new in the week: it was not so in the week before."""

    at: datetime
    target: str
    what: str
    now: str
    who: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRow:
    """How often the audit chain tells of an action in the week, and by whom."""

    action: str
    actor: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodRow:
    """How something was worked out, and what that does not say."""

    subject: str = field(metadata=OURS)
    method: str = field(metadata=OURS)
