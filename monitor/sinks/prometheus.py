"""The sink behind /metrics: counts verdicts in a registry it is given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

import monitor
from monitor import conventions as names
from monitor.conventions import (
    BodyState,
    ChangeKind,
    Direction,
    NotProbed,
    SkipReason,
    SqlResult,
    code_label,
)
from monitor.conventions.metric import Metric
from monitor.model import CalibrationState, Exchange, Lane, Outcome, Status, Trial, Verdict
from monitor.sinks.table import Table

_SCORES = [(Outcome.GOOD.value,), (Outcome.BAD.value,)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """What is going to be probed, so that its series exist, at 0, before anything happens."""

    target: str
    model: str
    probe: str
    shape: str
    stratum: str


class PrometheusSink:
    """Counts what it is told. ``env`` is a label of every series."""

    def __init__(self, registry: CollectorRegistry, env: str) -> None:
        self._env = env
        outcomes = [(o.value, c.label) for o, c in names.OUTCOME_CLASSES]
        self._exchanges = Table(names.EXCHANGES, registry, outcomes)
        self._verdicts = Table(names.VERDICTS, registry, outcomes)
        self._signals = Table(names.SIGNALS, registry, [(status.value,) for status in Status])
        self._scores = Table(names.STREAM_SCORES, registry, _SCORES)
        self._judged = _counter(names.JUDGE_AGREEMENT, registry)
        self._trusted = _gauge(names.JUDGE_TRUSTED, registry)
        self._responses = _counter(names.HTTP_RESPONSES, registry)
        self._tokens = Table(names.TOKENS, registry, [(each.value,) for each in Direction])
        self._cost = _counter(names.COST, registry)
        self._duration = _histogram(names.DURATION, registry)
        self._first_token = _histogram(names.FIRST_TOKEN, registry)
        self._last_run = Table(names.LAST_RUN, registry)
        self._last_success = Table(names.LAST_SUCCESS, registry)
        self._not_probed = _gauge(names.NOT_PROBED, registry)
        self._lag = _gauge(names.SCHEDULE_LAG, registry)
        self._interval = _gauge(names.SCHEDULE_INTERVAL, registry)
        self._missed = _counter(names.MISSED_RUNS, registry)
        self._skipped = _counter(names.SKIPPED_RUNS, registry)
        self._changes = _counter(names.TARGET_CHANGES, registry)
        self._context = _gauge(names.CONTEXT_ADVERTISED, registry)
        self._verified = _gauge(names.CONTEXT_VERIFIED, registry)
        self._verified_at = _gauge(names.CONTEXT_VERIFIED_TIME, registry)
        self._calibration = _gauge(names.CALIBRATION, registry)
        self._quarantined = _gauge(names.GOLDEN_QUARANTINED, registry)
        self._bodies = _counter(names.BODIES, registry)
        for state in BodyState:
            self._bodies.labels(env, state.value)
        self._statements = Table(names.SQL_QUERIES, registry, [(each.value,) for each in SqlResult])
        self._statements.initialise((env,))
        self._started = _gauge(names.START_TIME, registry)
        self._config_hash = _gauge(names.CONFIG_HASH_INFO, registry)
        _gauge(names.BUILD_INFO, registry).labels(env, monitor.__version__).set(1)

    def initialise(self, streams: Iterable[Stream], signals: Iterable[str] = ()) -> None:
        """Make the series of these streams, and of these signal codes, at 0."""
        codes = tuple(signals)
        for stream in streams:
            target = (self._env, stream.target)
            cell = (*target, stream.probe, stream.stratum)
            shape = (stream.model, stream.probe, stream.shape, stream.stratum)
            self._exchanges.initialise((*target, *shape))
            self._verdicts.initialise((*target, stream.model))
            self._last_run.initialise(cell)
            self._last_success.initialise(cell)
            self._duration.labels(*target, stream.probe, stream.shape)
            self._tokens.initialise((*target, stream.probe))
            for code in codes:
                self._signals.initialise((*target, code))

    def count_score(self, target: str, probe: str, lane: Lane, *, bad: bool) -> None:
        """Count a score of a stream."""
        outcome = Outcome.BAD if bad else Outcome.GOOD
        self._scores.add((self._env, target, probe, lane.value), (outcome.value,))

    def count_judged(self, target: str, truth: str, said: str) -> None:
        """Count what a judge said of one of its own items."""
        self._judged.labels(self._env, target, truth, said).inc()

    def set_judge_trusted(self, target: str, *, trusted: bool) -> None:
        """Say whether a judge's word counts."""
        self._trusted.labels(self._env, target).set(trusted)

    def deliver(self, trial: Trial, verdict: Verdict) -> None:
        """Count a verdict, its exchanges (scheduled ones only) and its signals."""
        target = (self._env, verdict.target)
        came_to = (verdict.outcome.value, verdict.verdict_class.label)
        self._verdicts.add((*target, verdict.model), came_to)
        for signal in verdict.signals:
            self._signals.add((*target, signal.code), (signal.status.value,))
        if verdict.scheduled:
            self._count_scheduled(verdict)
        for exchange in trial.exchanges:
            self._observe(trial, exchange)
        if verdict.trial:
            self._stamp(verdict)

    def _count_scheduled(self, verdict: Verdict) -> None:
        stream = (verdict.model, verdict.probe, verdict.shape, verdict.stratum)
        for judged in verdict.exchanges:
            if not judged.counted:
                continue
            came_to = (judged.outcome.value, judged.verdict_class.label)
            self._exchanges.add((self._env, verdict.target, *stream), came_to)

    def _observe(self, trial: Trial, exchange: Exchange) -> None:
        target = (self._env, trial.target)
        code = code_label(exchange.http_status)
        self._responses.labels(*target, trial.probe, exchange.part.value, code).inc()
        shape = (*target, trial.probe, trial.shape)
        self._duration.labels(*shape).observe(exchange.timing.total_seconds)
        if exchange.request.stream and exchange.timing.first_token_seconds is not None:
            self._first_token.labels(*shape).observe(exchange.timing.first_token_seconds)
        for direction, tokens in _tokens(exchange):
            self._tokens.add((*target, trial.probe), (direction.value,), tokens)

    def _stamp(self, verdict: Verdict) -> None:
        cell = (self._env, verdict.target, verdict.probe, verdict.stratum)
        at = verdict.decided_at.astimezone(UTC).timestamp()
        self._last_run.set(cell, at)
        if verdict.outcome in (Outcome.GOOD, Outcome.BAD):
            self._last_success.set(cell, at)

    def set_not_probed(self, target: str, gaps: Iterable[tuple[str, str, NotProbed]]) -> None:
        """Replace the (probe, stratum, reason) of a target that nobody looks at."""
        self._not_probed.remove_by_labels({"env": self._env, "target": target})
        for probe, stratum, reason in gaps:
            self._not_probed.labels(self._env, target, probe, stratum, reason.value).set(1)

    def set_schedule_lag(self, target: str, seconds: float) -> None:
        """Say how late the last trial of a target began."""
        self._lag.labels(self._env, target).set(max(seconds, 0.0))

    def initialise_schedule(self, target: str, probes: Iterable[str]) -> None:
        """Make the series of a target's schedule at 0."""
        for probe in probes:
            self._missed.labels(self._env, target, probe)
        for reason in SkipReason:
            self._skipped.labels(self._env, target, reason.value)
        for kind in ChangeKind:
            self._changes.labels(self._env, target, kind.value)

    def set_schedule_interval(self, target: str, probe: str, seconds: float) -> None:
        """Say how often a probe asks."""
        self._interval.labels(self._env, target, probe).set(seconds)

    def forget_schedule_interval(self, target: str, probe: str) -> None:
        """Say that a probe does not ask any more."""
        self._interval.remove_by_labels({"env": self._env, "target": target, "probe": probe})

    def count_missed_runs(self, target: str, probe: str, runs: int) -> None:
        """Count runs that did not happen."""
        self._missed.labels(self._env, target, probe).inc(runs)

    def count_skipped_run(self, target: str, reason: SkipReason) -> None:
        """Count a run that was left out to do no harm."""
        self._skipped.labels(self._env, target, reason.value).inc()

    def count_change(self, target: str, kind: ChangeKind) -> None:
        """Count a change of a target."""
        self._changes.labels(self._env, target, kind.value).inc()

    def set_context(self, target: str, source: str, tokens: int) -> None:
        """Say which context limit somebody states."""
        self._context.labels(self._env, target, source).set(tokens)

    def set_verified(self, target: str, tokens: int, at: datetime) -> None:
        """Say up to which prompt size content is verified, and when that was measured."""
        self._verified.labels(self._env, target).set(tokens)
        self._verified_at.labels(self._env, target).set(at.timestamp())

    def set_calibration(self, target: str, state: CalibrationState, quarantined: int) -> None:
        """Say how a target's calibration stands, and how many golden prompts it sets aside."""
        for each in CalibrationState:
            self._calibration.labels(self._env, target, each.value).set(each is state)
        self._quarantined.labels(self._env, target).set(quarantined)

    def set_started(self, at: datetime) -> None:
        """Say since when this process is at work."""
        self._started.labels(self._env).set(at.timestamp())

    def set_config_hash(self, sha256: str) -> None:
        """Say which configuration is in force, instead of the one before."""
        self._config_hash.clear()
        self._config_hash.labels(self._env, sha256).set(1)

    def count_bodies(self, state: BodyState, number: int) -> None:
        """Count exchanges whose texts were to be kept."""
        self._bodies.labels(self._env, state.value).inc(number)

    def count_statement(self, result: SqlResult) -> None:
        """Count a statement that a reader of the embedded store sent."""
        self._statements.add((self._env,), (result.value,))

    def add_cost(self, target: str, usd: float) -> None:
        """Count dollars charged to the budget."""
        self._cost.labels(self._env, target).inc(max(usd, 0.0))

    def close(self) -> None:
        """Nothing to finish: the registry belongs to whoever made it."""


def _tokens(exchange: Exchange) -> list[tuple[Direction, int]]:
    if exchange.response is None:
        return []
    usage = exchange.response.usage
    reported = (
        (Direction.INPUT, usage.input_tokens),
        (Direction.OUTPUT, usage.output_tokens),
        (Direction.CACHED, usage.cached_tokens),
        (Direction.REASONING, usage.reasoning_tokens),
    )
    return [(direction, tokens) for direction, tokens in reported if tokens and tokens > 0]


def _counter(metric: Metric, registry: CollectorRegistry) -> Counter:
    return Counter(metric.name, metric.help, metric.labels, registry=registry)


def _gauge(metric: Metric, registry: CollectorRegistry) -> Gauge:
    return Gauge(metric.name, metric.help, metric.labels, registry=registry)


def _histogram(metric: Metric, registry: CollectorRegistry) -> Histogram:
    return Histogram(
        metric.name, metric.help, metric.labels, buckets=metric.buckets, registry=registry
    )
