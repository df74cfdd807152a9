"""What a weekly report says: tables of frozen rows, from which every file of it is written.

Rates and shares are ratios from 0 to 1, instants are UTC, durations are seconds. A field that ends
in ``_ratio``, ``_at_least`` or ``_at_most`` is such a ratio. ``None`` is "not known", never zero.
The contract is docs/report-json.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Final

from monitor.weekly.running_record import (
    AcceptedRow,
    ChangeRow,
    CheckRow,
    ContextRow,
    CostRow,
    DecisionRow,
    DriftRow,
    DrillRow,
    HttpRow,
    MethodRow,
    NodeRow,
    RescoredRow,
    StreamRow,
    UnjudgedRow,
    WithoutFindingRow,
)
from monitor.weekly.text import OURS

REPORT_SCHEMA_VERSION: Final = "1.3"


class Judgement(StrEnum):
    """What a week shows of a target, worst first. Not enough to tell is never good."""

    BAD = "bad"
    UNSURE = "could_not_tell"
    GOOD = "good"


class Trend(StrEnum):
    """What the week shows against the week before."""

    WORSE = "worse"
    BETTER = "better"
    NO_CHANGE_SHOWN = "no_change_shown"
    UNKNOWN = "unknown"


class CellState(StrEnum):
    """What is known of a cell of the coverage map, worst first.

    ``PARTLY`` is grey: of a planned stratum in it no answer was judged, or less than half of what
    was asked there.
    """

    FAILING = "failing"
    NEVER_PROBED = "never_probed"
    NOT_PLANNED = "not_planned"
    NOT_ANSWERED = "not_answered"
    PARTLY = "partly"
    FEW = "few"
    CLEAN = "clean"


class Attainment(StrEnum):
    """Whether an objective was met. ``UNKNOWN`` is grey: too few events, or too few valid."""

    MISSED = "missed"
    UNKNOWN = "unknown"
    NOT_SHOWN = "not_shown"
    MET = "met"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnseenRow:
    """Something that nobody looked at, and why. Tokens are what one look would cost, if known."""

    target: str
    what: str
    where: str = field(metadata=OURS)
    why: str = field(metadata=OURS)
    tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRow:
    """One target: what the week shows, and of how many answers.

    Counts are scheduled exchanges: of the daemon's schedule, and of passes of ``davylamp check``.
    """

    target: str
    model: str
    judgement: Judgement
    why: str = field(metadata=OURS)
    trend: Trend
    good: int
    bad: int
    errors: int
    invalid: int
    bad_ratio: float | None
    bad_at_least: float
    bad_at_most: float
    cells: int
    cells_clean: int
    cells_failing: int
    cells_unknown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendRow:
    """One of the last weeks of a target."""

    target: str
    week: str
    good: int
    bad: int
    errors: int
    invalid: int
    bad_ratio: float | None
    bad_at_least: float
    bad_at_most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DayRow:
    """One day of a target. A day without a count stands here too, with zeros."""

    target: str
    day: date
    good: int
    bad: int
    errors: int
    invalid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectiveRow:
    """An objective of a target, or of one probe of it, over its window up to the week's end.

    ``attained_ratio`` and the budget left are ``None`` unless known; the bounds always hold.
    ``counted`` says what its events are, and where that is not just what Prometheus counts.
    """

    target: str
    probe: str
    objective: str
    sli: str
    objective_ratio: float
    since: datetime
    bad: int
    valid: int
    asked: int
    least_valid: int
    attainment: Attainment
    attained_ratio: float | None
    attained_at_least: float
    attained_at_most: float
    budget_left: float | None
    budget_left_low: float
    budget_left_high: float
    counted: str = field(metadata=OURS)


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRow:
    """A finding that was open in the week, as it stood at the week's end.

    Onset is the first bad verdict, detection when it was proven, a page when a receiver took it.
    Its target was last taken out of rotation at ``out_of_rotation_at`` and put back after that at
    ``back_in_rotation_at``; ``None`` if nobody told so. ``seconds_to_rotation`` is up to the first
    time that it was taken out. ``seconds_exposed`` is from onset until it was closed, or the week's
    end, less all that it was out; ``None`` if dismissed. ``acknowledged_at`` is the first act of a
    person, whatever it was, but telling that it was taken out; ``closed_at`` is ``None`` of one
    that was closed and ``reopened``. ``seconds_held`` is for how much of the week it held its shape
    back.
    """

    finding: str
    target: str
    finding_class: str
    shape: str
    stratum: str
    further_strata: int
    state: str
    verdicts: int
    reproduced: int
    reopened: int
    onset_at: datetime
    detected_at: datetime | None
    ticketed_at: datetime | None
    paged_at: datetime | None
    page_route: str
    acknowledged_at: datetime | None
    acknowledged_by: str
    out_of_rotation_at: datetime | None
    back_in_rotation_at: datetime | None
    rotation_by: str
    closed_at: datetime | None
    closed_by: str
    seconds_to_detect: float | None
    seconds_to_page: float | None
    seconds_to_rotation: float | None
    seconds_to_close: float | None
    seconds_exposed: float | None
    seconds_held: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakRow:
    """Whose planted text was in whose answers. Tenants are synthetic ones; no text is named.

    A sighting is a signal: one answer may hold several texts, and confirmations are asked again.
    """

    target: str
    finding: str
    verdict_class: str
    kind: str
    owner_target: str
    owner_tenant: str
    victim_tenant: str
    sightings: int
    answers: int
    markers: int
    evidence_bits: float | None
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRow:
    """A cell of the coverage map: shape by length by concurrency.

    ``bad_at_most`` is the exact one-sided 95 % bound of the rate of bad answers there; 1 where no
    answer could be judged: nothing is known there.
    """

    target: str
    shape: str
    length: str
    concurrency: str
    state: CellState
    good: int
    bad: int
    errors: int
    invalid: int
    bad_at_most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StratumRow:
    """A stratum of a probe: what the week leaves possible there, and what it would have shown.

    A fault that strikes at ``shown_at_least`` of its exchanges would have shown in the week with 95
    %; ``None`` if nothing would have.
    """

    target: str
    probe: str
    shape: str
    stratum: str
    planned: bool
    good: int
    bad: int
    errors: int
    invalid: int
    bad_at_most: float
    shown_at_least: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainHead:
    """The last link of the audit chain of before the week's end."""

    seq: int
    hash: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WeeklyReport:
    """The whole report. What was not looked at comes first among its tables."""

    schema_version: str = REPORT_SCHEMA_VERSION
    davylamp_version: str
    environment: str
    week: str
    since: datetime
    until: datetime
    has_data: bool
    judgement: Judgement
    chain: ChainHead | None
    not_looked_at: tuple[UnseenRow, ...] = ()
    targets: tuple[TargetRow, ...] = ()
    trend: tuple[TrendRow, ...] = ()
    days: tuple[DayRow, ...] = ()
    findings: tuple[FindingRow, ...] = ()
    leaks: tuple[LeakRow, ...] = ()
    rescored: tuple[RescoredRow, ...] = ()
    without_finding: tuple[WithoutFindingRow, ...] = ()
    objectives: tuple[ObjectiveRow, ...] = ()
    coverage: tuple[CellRow, ...] = ()
    strata: tuple[StratumRow, ...] = ()
    streams: tuple[StreamRow, ...] = ()
    drift: tuple[DriftRow, ...] = ()
    context: tuple[ContextRow, ...] = ()
    nodes: tuple[NodeRow, ...] = ()
    drill: tuple[DrillRow, ...] = ()
    http: tuple[HttpRow, ...] = ()
    unjudged: tuple[UnjudgedRow, ...] = ()
    noisiest_checks: tuple[CheckRow, ...] = ()
    costs: tuple[CostRow, ...] = ()
    accepted: tuple[AcceptedRow, ...] = ()
    changes: tuple[ChangeRow, ...] = ()
    decisions: tuple[DecisionRow, ...] = ()
    methods: tuple[MethodRow, ...] = ()
