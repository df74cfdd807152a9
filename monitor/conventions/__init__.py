"""Every metric and label name in one place, so that rules, dashboards and docs cannot disagree.

Cardinality is bounded by configuration, never by what a target answers. Per target: at most
``MAX_STRATA_PER_TARGET`` strata; each stratum has at most ``len(OUTCOME_CLASSES)`` series of
``exchanges_total``, so 256 x 14 = 3584, and two lanes with eight series of ``streams`` each, 4096;
everything else of a target stays below 2,000 together (16 probes with 2 histograms of 16 buckets,
the signals, the HTTP codes really seen). One hundred targets with full plans are a million series
at most; a standard plan has some 40 strata and about 1,700 series.
Ids, texts and tenant names are never labels.
"""

from __future__ import annotations

from enum import StrEnum
from http import HTTPStatus

from monitor.conventions import gpu as _gpu
from monitor.conventions import nodes as _nodes
from monitor.conventions import pages as _pages
from monitor.conventions import reports as _reports
from monitor.conventions import streams as _streams
from monitor.conventions import telemetry as _telemetry
from monitor.conventions.metric import STRATUM as _STREAM
from monitor.conventions.metric import TARGET as _TARGET
from monitor.conventions.metric import L as _L
from monitor.conventions.metric import Metric as _Metric
from monitor.conventions.metric import counter as _counter
from monitor.conventions.metric import gauge as _gauge
from monitor.conventions.metric import histogram as _histogram
from monitor.model import Outcome, VerdictClass

MAX_STRATA_PER_PROBE = 64
MAX_STRATA_PER_TARGET = 256


class Direction(StrEnum):
    """Which tokens are counted, as the target reports them."""

    INPUT = "input"
    OUTPUT = "output"
    CACHED = "cached"
    REASONING = "reasoning"


class NotProbed(StrEnum):
    """Why a stratum is not looked at: an alert of its own, never green."""

    BUDGET = "budget"
    IMPOSSIBLE = "impossible"
    NO_ANSWER = "no_answer"
    FROZEN = "frozen"
    NOT_GENTLE = "not_gentle"
    BACKING_OFF = "backing_off"
    QUARANTINED = "quarantined"


class ChangeKind(StrEnum):
    """What changed about a target; each raises its rates for a day."""

    DEPLOY = "deploy"
    VERSION = "version"
    FINGERPRINT = "fingerprint"
    MODEL = "model"
    LATENCY = "latency"


class SkipReason(StrEnum):
    """Why a run that was due was left out, to do no harm."""

    RATE_LIMITED = "rate_limited"
    SLOW = "slow"
    PRESSURE = "pressure"


class DropReason(StrEnum):
    """Why the writer gave up a row: no room for it, or nobody can write or read it."""

    SHED = "shed"
    UNWRITABLE = "unwritable"
    UNREADABLE = "unreadable"


class BodyState(StrEnum):
    """What became of the text of an exchange that was to be kept."""

    KEPT = "kept"
    SHED = "shed"
    TOO_LARGE = "too_large"
    HOLDS_KEY = "holds_key"


class SqlResult(StrEnum):
    """What became of a statement that a reader sent."""

    OK = "ok"
    REFUSED = "refused"
    FAILED = "failed"


# The pairs a verdict or exchange can have: contracts table, without those that cannot occur.
OUTCOME_CLASSES: tuple[tuple[Outcome, VerdictClass], ...] = (
    (Outcome.GOOD, VerdictClass.NONE),
    (Outcome.GOOD, VerdictClass.SUSPECT),
    *((Outcome.BAD, each) for each in VerdictClass if each > VerdictClass.SUSPECT),
    (Outcome.ERROR, VerdictClass.NONE),
    (Outcome.ERROR, VerdictClass.SUSPECT),
    (Outcome.INVALID, VerdictClass.NONE),
    (Outcome.INVALID, VerdictClass.SUSPECT),
)
DURATION_BUCKETS = (0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300, 600)
FIRST_TOKEN_BUCKETS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 3, 6, 12, 30, 60, 120, 300)

EXCHANGES = _counter(
    "exchanges_total",
    "Scheduled exchanges by what they came to; the source of every service level indicator.",
    *(_L.ENV, _L.TARGET, _L.MODEL, _L.PROBE, _L.SHAPE, _L.STRATUM, _L.OUTCOME, _L.CLASS),
)
VERDICTS = _counter(
    "verdicts_total",
    "Verdicts of every source, scheduled or not, by outcome and class.",
    *(_L.ENV, _L.TARGET, _L.MODEL, _L.OUTCOME, _L.CLASS),
)
SIGNALS = _counter(
    "signals_total",
    "What each check said, by status; one that only ever skips looks at nothing.",
    *(*_TARGET, _L.SIGNAL, _L.STATUS),
)
STREAM_SCORES = _counter(
    "stream_scores_total",
    "Scores of streams, one a lane for each valid scheduled exchange the lane is about.",
    *(*_TARGET, _L.PROBE, _L.LANE, _L.OUTCOME),
)
JUDGE_AGREEMENT = _counter(
    "judge_agreement_total",
    "What a target that judges said of its own labelled items, by what is true of them.",
    *(*_TARGET, _L.TRUTH, _L.SAID),
)
JUDGE_TRUSTED = _gauge(
    "judge_trusted",
    "1 if the judge agrees with enough of its labelled items that its word counts.",
    *_TARGET,
)
HTTP_RESPONSES = _counter(
    "probe_http_responses_total",
    "HTTP status codes of exchanges; 'none' where no status line arrived.",
    *(*_TARGET, _L.PROBE, _L.PART, _L.CODE),
)
DURATION = _histogram(
    "probe_duration_seconds",
    "Seconds from sending the request of an exchange to the end of its answer or failure.",
    DURATION_BUCKETS,
    *(*_TARGET, _L.PROBE, _L.SHAPE),
)
FIRST_TOKEN = _histogram(
    "probe_time_to_first_token_seconds",
    "Seconds from sending the request to the first token; streamed exchanges only.",
    FIRST_TOKEN_BUCKETS,
    *(*_TARGET, _L.PROBE, _L.SHAPE),
)
TOKENS = _counter(
    "probe_tokens_total",
    "Tokens of exchanges as the target reports them; nothing where it reports nothing.",
    *(*_TARGET, _L.PROBE, _L.DIRECTION),
)
COST = _counter(
    "probe_cost_usd_total",
    "US dollars charged to the budget since the start; only where a price is configured.",
    *_TARGET,
)
LAST_RUN = _gauge(
    "probe_last_run_timestamp_seconds",
    "When a stratum last had a verdict of any outcome; 0 before the first.",
    *_STREAM,
)
LAST_SUCCESS = _gauge(
    "probe_last_success_timestamp_seconds",
    "When a stratum last had a verdict that could be judged (good or bad); 0 before the first.",
    *_STREAM,
)
NOT_PROBED = _gauge(
    "not_probed",
    "1 while a stratum is not looked at, and why.",
    *(*_STREAM, _L.REASON),
)
BUDGET_REMAINING = _gauge(
    "probe_budget_remaining_ratio",
    "The part of today's budget (UTC) that is neither spent nor reserved, 0 to 1.",
    *(*_TARGET, _L.BUDGET),
)
BUDGET_EXHAUSTED = _gauge(
    "probe_budget_exhausted",
    "1 from a trial that today's budget (UTC) could not pay until the day ends.",
    *(*_TARGET, _L.BUDGET),
)
FINDINGS_OPEN = _gauge(
    "findings_open",
    "Findings that are neither resolved nor dismissed, by worst class, what they ask for and who "
    "tells people of them.",
    *(*_TARGET, _L.CLASS, _L.STATE, _L.SEVERITY, _L.ROUTE),
)
AUDIT_LINKS = _gauge(
    "audit_links",
    "Links of the audit chain; if it ever falls, the end of the chain was cut off.",
    _L.ENV,
)
CHECK_BLIND = _gauge(
    "check_blind",
    "1 while a check misjudges what it was given with the right answer known: trust it no more.",
    *(_L.ENV, _L.SIGNAL),
)
SELF_TEST_TIME = _gauge(
    "self_test_timestamp_seconds",
    "When every check was last tried, in seconds since 1970; 0 before the first time.",
    _L.ENV,
)
SCHEDULE_LAG = _gauge(
    "schedule_lag_seconds",
    "How much later than planned the last trial of a target began.",
    *_TARGET,
)
SCHEDULE_INTERVAL = _gauge(
    "schedule_interval_seconds",
    "The time between two trials of a probe, as its interval and the day's budget allow.",
    *(*_TARGET, _L.PROBE),
)
MISSED_RUNS = _counter(
    "schedule_missed_runs_total",
    "Runs that did not happen: too late, still busy with the one before, or lost in a stall.",
    *(*_TARGET, _L.PROBE),
)
SKIPPED_RUNS = _counter(
    "schedule_skipped_runs_total",
    "Runs left out to do no harm: the target asked for it, or is far slower than usual.",
    *(*_TARGET, _L.REASON),
)
TARGET_CHANGES = _counter(
    "target_changes_total",
    "Changes of a target, told or noticed; each raises its rates for 24 hours.",
    *(*_TARGET, _L.KIND),
)
CONTEXT_ADVERTISED = _gauge(
    "context_advertised_tokens",
    "The context limit a target states, by who states it.",
    *(*_TARGET, _L.SOURCE),
)
CONTEXT_VERIFIED = _gauge(
    "context_verified_tokens",
    "The largest prompt size up to which content was verified by the last `context verify` that "
    "could tell.",
    *_TARGET,
)
CONTEXT_VERIFIED_TIME = _gauge(
    "context_verified_timestamp_seconds",
    "When the last `context verify` that could tell was begun, in seconds since 1970.",
    *_TARGET,
)
CALIBRATION = _gauge(
    "calibration",
    "1 for how the calibration of a target stands; only a valid one is used.",
    *(*_TARGET, _L.STATE),
)
GOLDEN_QUARANTINED = _gauge(
    "golden_prompts_quarantined",
    "Golden prompts a healthy target missed when it was calibrated: not asked for judgement.",
    *_TARGET,
)
WRITER_QUEUE = _gauge("writer_queue_rows", "Rows that wait in the spool.", _L.ENV)
SPOOL_BYTES = _gauge("writer_spool_bytes", "What the spool holds on disk.", _L.ENV)
SPOOL_LIMIT = _gauge("writer_spool_limit_bytes", "The most the spool may hold.", _L.ENV)
SPOOL_AGE = _gauge(
    "writer_spool_age_seconds", "For how long the oldest row has waited; 0 if none waits.", _L.ENV
)
WRITER_WRITTEN = _counter("writer_rows_total", "Rows handed to the store.", _L.ENV)
WRITER_DROPPED = _counter(
    "writer_dropped_rows_total",
    "Rows given up; never those of a verdict because the spool is full.",
    *(_L.ENV, _L.REASON),
)
BODIES = _counter(
    "bodies_total",
    "Exchanges whose texts were to be kept sealed, by what became of them.",
    *(_L.ENV, _L.STATE),
)
WRITER_FAILURES = _counter(
    "writer_failed_inserts_total", "Inserts the store refused, tried again afterwards.", _L.ENV
)
SQL_QUERIES = _counter(
    "sql_queries_total",
    "Statements that readers of the embedded store sent, and what became of them.",
    *(_L.ENV, _L.RESULT),
)
BUILD_INFO = _gauge("build_info", "Always 1; says which version runs.", _L.ENV, _L.VERSION)
START_TIME = _gauge(
    "start_timestamp_seconds", "When this process began, in seconds since 1970.", _L.ENV
)
CONFIG_HASH_INFO = _gauge(
    "config_hash_info", "Always 1; the digest of the configuration in force.", _L.ENV, _L.SHA256
)

# Every metric that is defined above, in that order, and those of each noun.
METRICS: tuple[_Metric, ...] = tuple(
    each
    for named in (
        globals(),
        vars(_streams),
        vars(_pages),
        vars(_reports),
        vars(_telemetry),
        vars(_nodes),
        vars(_gpu),
    )
    for each in tuple(named.values())
    if isinstance(each, _Metric)
)

_KNOWN_CODES = frozenset(int(status) for status in HTTPStatus)


def code_label(http_status: int | None) -> str:
    """Return the ``code`` of a status: only codes that exist, so a target cannot make series."""
    if http_status is None:
        return "none"
    return str(http_status) if http_status in _KNOWN_CODES else "other"
