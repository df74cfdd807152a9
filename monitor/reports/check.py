"""The result of ``davylamp check``: a documented, versioned contract (docs/check-json.md).

Everything a terminal shows comes from this record, so a check through the daemon and one of its
own print the same. It holds codes, numbers and our own words; never prompt or answer text.
"""

from __future__ import annotations

from datetime import date, datetime

from pydantic import BaseModel, ConfigDict, Field

from monitor.model import CalibrationState, ToleranceSource

SCHEMA_VERSION = "1.2"


class Record(BaseModel):
    """Base of the contract's records."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SignalReport(Record):
    """One signal of one exchange."""

    code: str
    status: str
    variant: str = ""
    explanation: str = ""
    evidence_bits: float | None = None
    owner_tenant: str | None = None
    owner_trial: str | None = None
    owner_exchange: int | None = None
    marker: str | None = None


class ExchangeReport(Record):
    """One exchange: how it went by HTTP, and what its answer was worth."""

    index: int
    part: str
    tenant: str
    golden_prompt: str | None = None
    golden_version: str | None = None
    request_id: str | None
    http_status: int | None
    failure: str | None
    refused: bool
    total_seconds: float
    first_token_seconds: float | None
    input_tokens: int | None
    output_tokens: int | None
    outcome: str
    verdict_class: str = Field(alias="class")
    reason: str
    counted: bool = True
    signals: list[SignalReport]

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class TrialReport(Record):
    """One trial and its verdict."""

    trial: str
    verdict: str
    probe: str
    shape: str
    stratum: str
    purpose: str
    outcome: str
    verdict_class: str = Field(alias="class")
    reason: str
    finding: str | None
    scheduled: bool = True
    confirms: str | None = None
    exchanges: list[ExchangeReport]

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class HttpReport(Record):
    """What status-code and latency monitoring sees."""

    exchanges: int
    codes: dict[str, int]
    refused: int
    without_status: int
    confirming: int = 0
    p95_seconds: float | None


class ContrastReport(Record):
    """A side of the traffic that fails more than the other among like questions.

    Who asks and whether an answer is streamed makes no question harder, so no tolerance is asked:
    ``probability`` is the chance of so many failures on ``side`` if both are served alike.
    """

    side: str
    against: str
    failed: int
    answers: int
    failed_against: int
    answers_against: int
    probability: float


class AnswersReport(Record):
    """What the answers say. ``judged`` is false where the tolerance leaves nothing to judge.

    ``exceeded_probes`` name the groups (probes, tenants, lengths, batch sizes, states of the cache,
    suites, scripts, transports) whose own answers are wrong more often than tolerated.
    ``tolerance_source`` says who says it: default, configured or calibrated; ``group_tolerances``
    are those that a calibration gives each group. ``contrasts`` need no tolerance: any makes it
    ``exceeded``.
    """

    valid: int
    wrong: int
    proven: int
    tolerance: float
    tolerance_source: str = ToleranceSource.DEFAULT.value
    calibrated_at: datetime | None = None
    group_tolerances: dict[str, float] = {}
    probability: float
    exceeded: bool
    exceeded_probes: list[str] = []
    contrasts: list[ContrastReport] = []
    judged: bool


class FoundReport(Record):
    """One thing found: one class in one stratum, with the exchange that shows it best."""

    verdict_class: str = Field(alias="class")
    probe: str
    stratum: str
    words: str
    exchanges: int
    trial: str
    exchange: int
    tenant: str
    request_id: str | None
    http_status: int | None
    evidence_bits: float | None = None
    owner_tenant: str | None = None
    limit_tokens: int | None = None
    size_tokens: int | None = None
    size_error_tokens: int | None = None
    finding: str | None = None

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class UnjudgedReport(Record):
    """Exchanges that could not be told good or bad, for one reason."""

    outcome: str
    reason: str
    exchanges: int
    trial: str
    request_id: str | None


class NotProbedReport(Record):
    """A stratum that was not looked at, why, and its price."""

    probe: str
    stratum: str
    code: str
    reason: str
    refused_tokens: int | None = None
    answered_tokens: int | None = None
    price_usd: float | None = None


class UnseenReport(Record):
    """How often exchanges of a stratum could still be wrong, at 95 % confidence."""

    probe: str
    stratum: str
    valid: int
    bad: int
    upper_bound: float


class TokensReport(Record):
    """Tokens spent in this pass, and what is left of the day's budgets."""

    input: int
    output: int
    ordinary_budget: int
    ordinary_left: int
    boundary_budget: int
    boundary_left: int
    spent_usd: float | None = None


class OpenFindingReport(Record):
    """A finding that is still open on the target."""

    finding: str
    verdict_class: str = Field(alias="class")
    shape: str
    stratum: str
    first_seen: datetime
    count: int
    confirmations: int = 0
    reproduced: int = 0

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class QuarantinedReport(Record):
    """A golden prompt the target missed when it was calibrated: not asked for judgement."""

    prompt: str
    version: str
    asked: int
    missed: int


class CalibratedReport(Record):
    """How the target's calibration stands; only a ``valid`` one is used.

    ``changed`` names what changed since a stale one was made; ``broken`` are records that are not
    what was signed.
    """

    state: str = CalibrationState.NONE.value
    calibration: str | None = None
    made_at: datetime | None = None
    made_by: str | None = None
    reason: str | None = None
    changed: list[str] = []
    broken: list[str] = []
    quarantined: list[QuarantinedReport] = []


class LimitReport(Record):
    """A limit on prompt size and who states it."""

    tokens: int
    source: str


class TargetReport(Record):
    """Everything one pass says of one target."""

    target: str
    model: str
    engine: str
    engine_version: str | None = None
    verdict: str
    exit_code: int
    limits: list[LimitReport]
    http: HttpReport
    answers: AnswersReport
    calibrated: CalibratedReport = CalibratedReport()
    outcomes: dict[str, int]
    found: list[FoundReport]
    unjudged: list[UnjudgedReport]
    open_findings: list[OpenFindingReport]
    not_probed: list[NotProbedReport]
    unseen: list[UnseenReport]
    impossible: list[str]
    tokens: TokensReport
    trials: list[TrialReport]
    notes: list[str] = []


class CheckedRuleReport(Record):
    """One rule that speaks of a node; an accepted one counts for nothing."""

    rule: str
    conformity: str
    why: str
    public_since: date | None
    public_days: int | None
    accepted_until: date | None


class CheckedNodeReport(Record):
    """One serving node, held to the rules; all that is known of it is in ``davylamp nodes``.

    ``rule`` is the one that decided, ``shape`` the probe that it names; ``rules`` are all that
    speak of it, the worst first. ``finding`` is the open one of the node.
    """

    target: str
    node: str
    engine: str | None
    version: str | None
    role: str
    outcome: str
    verdict_class: str = Field(alias="class")
    reason: str
    rule: str | None
    shape: str | None
    public_since: date | None
    public_days: int | None
    rules: list[CheckedRuleReport] = []
    finding: str | None = None

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class CheckedGatewayReport(Record):
    """What a target's gateway serves and no target asks; ``unread`` says why that is not known."""

    target: str
    unprobed: list[str]
    unread: list[str]


class CheckReport(Record):
    """The whole result. ``exit_code``, see ``exit_code_of``, is that of the command.

    ``blind`` names checks that misjudged a specimen: what they did not find is not known.
    """

    schema_version: str = SCHEMA_VERSION
    davylamp_version: str
    checks_version: str
    configuration_hash: str
    environment: str
    profile: str
    started_at: datetime
    finished_at: datetime
    exit_code: int
    blind: list[str] = []
    targets: list[TargetReport]
    nodes: list[CheckedNodeReport] = []
    gateways: list[CheckedGatewayReport] = []
