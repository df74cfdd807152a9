"""From a trial and its verdict to spans, an event and measurements: pure, and without text.

What a target may write freely (ids, its model's name) is let through only where it looks like an
identifier, else as a keyed hash; a finish reason only if it is a known one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

import monitor
from monitor.conventions import code_label
from monitor.model import Exchange, Failure, FailureKind, Outcome, Response, Trial, Usage, Verdict
from monitor.store import EvidenceHasher
from monitor.store.private import finish_reason
from monitor.telemetry.names import CHAT, EVALUATION, INTERNAL_SPAN, Key, Measure, Names
from monitor.telemetry.records import (
    EventRecord,
    Measurement,
    Served,
    SpanRecord,
    Told,
    Value,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SENT_BY_US = "probe"
_MICROSECOND = timedelta(microseconds=1)
_LARGEST = 2**63 - 1
# No exchange has more; a sum of what a hostile target makes up must not outgrow 64 bits.
_MOST_TOKENS = 10**9
# What a healthy target does, and what we do ourselves, is no error.
_NO_ERROR = frozenset({FailureKind.REFUSED, FailureKind.CANCELLED})


class Describing:
    """Describes trials in one version of the conventions. ``served`` says where each target is."""

    def __init__(self, names: Names, served: Mapping[str, Served], hasher: EvidenceHasher) -> None:
        self._names = names
        self._served = served
        self._hasher = hasher

    def told(self, trial: Trial, verdict: Verdict) -> Told:
        """Return all there is to tell of a trial. Its ids follow from the trial's id.

        What was not sent by us (a stream's verdict, an answer that was reported) is an event alone.
        """
        if verdict.source != _SENT_BY_US:
            return Told(events=(self._evaluation(trial, verdict, within=None),))
        return Told(
            spans=(self._trial_span(trial, verdict), *self._exchange_spans(trial, verdict)),
            events=(self._evaluation(trial, verdict, within=trial.id),),
            measurements=tuple(
                measured for each in trial.exchanges for measured in self._measured(trial, each)
            ),
        )

    def _trial_span(self, trial: Trial, verdict: Verdict) -> SpanRecord:
        ends = [_end(each) for each in trial.exchanges]
        start = _nanoseconds(trial.started_at)
        return SpanRecord(
            name=f"{INTERNAL_SPAN} {trial.probe}",
            trace_id=trace_id(trial.id),
            span_id=span_id(trial.id),
            parent=None,
            start_ns=start,
            end_ns=max([start, *ends]),
            attributes=_given(
                {
                    **_about(trial),
                    Key.CONFIRMS: trial.confirms,
                    Key.REPLAYS: trial.replays,
                    **_judged(verdict.outcome, verdict.verdict_class.label),
                }
            ),
            failed=verdict.outcome is not Outcome.GOOD,
        )

    def _exchange_spans(self, trial: Trial, verdict: Verdict) -> Iterator[SpanRecord]:
        judged = {each.exchange: each for each in verdict.exchanges}
        for exchange in trial.exchanges:
            found = judged.get(exchange.index)
            came_to = _judged(found.outcome, found.verdict_class.label) if found else {}
            attributes = {**self._client(trial), **self._asked(trial, exchange), **came_to}
            yield SpanRecord(
                name=f"{CHAT} {trial.model}",
                trace_id=trace_id(trial.id),
                span_id=span_id(trial.id, exchange.index),
                parent=span_id(trial.id),
                start_ns=_nanoseconds(exchange.timing.started_at),
                end_ns=_end(exchange),
                attributes=self._known(attributes),
                failed=error_type(exchange.failure) is not None,
            )

    def _asked(self, trial: Trial, exchange: Exchange) -> dict[Key, Value | None]:
        request, response = exchange.request, exchange.response or Response(text="")
        expected, failure = exchange.expectation, exchange.failure
        reason = finish_reason(response.finish_reason)
        return {
            **_about(trial),
            Key.EXCHANGE: exchange.index,
            Key.PART: exchange.part.value,
            Key.PROMPT_NAME: expected.golden or trial.probe,
            Key.PROMPT_VERSION: expected.golden_version or monitor.__version__,
            Key.REQUEST_STREAM: request.stream,
            Key.REQUEST_SEED: request.seed,
            Key.REQUEST_TEMPERATURE: request.temperature,
            Key.REQUEST_MAX_TOKENS: request.max_output_tokens,
            Key.REQUEST_ID: exchange.sent_request_id,
            Key.RESPONSE_MODEL: self._hasher.identifier(response.model),
            Key.RESPONSE_ID: self._hasher.identifier(response.response_id),
            Key.FINISH_REASONS: (reason,) if reason else None,
            Key.FIRST_CHUNK: exchange.timing.first_token_seconds if request.stream else None,
            **_tokens(response.usage),
            Key.FAILURE: failure.kind.value if failure else None,
            Key.ERROR_TYPE: error_type(failure),
        }

    def _evaluation(self, trial: Trial, verdict: Verdict, within: str | None) -> EventRecord:
        told = verdict.outcome in (Outcome.GOOD, Outcome.BAD)
        attributes: dict[Key, Value | None] = {
            **_about(trial),
            Key.EVALUATION_NAME: verdict.probe or verdict.source,
            Key.SCORE: float(verdict.outcome is Outcome.GOOD) if told else None,
            Key.SCORE_LABEL: verdict.verdict_class.label if told else None,
            Key.ERROR_TYPE: None if told else verdict.outcome.value,
            Key.EXPLANATION: verdict.reason,
            Key.REQUEST_MODEL: verdict.model,
            **_judged(verdict.outcome, verdict.verdict_class.label),
            Key.SOURCE: verdict.source,
            Key.VERDICT: verdict.id,
            Key.FINDING: verdict.finding,
            Key.CHECKS_VERSION: verdict.checks_version,
        }
        return EventRecord(
            name=EVALUATION,
            trace_id=None if within is None else trace_id(within),
            span_id=None if within is None else span_id(within),
            at_ns=_nanoseconds(verdict.decided_at),
            attributes=self._known(attributes),
            outcome=verdict.outcome,
        )

    def _measured(self, trial: Trial, exchange: Exchange) -> Iterator[Measurement]:
        """Yield what is measured; attributes that a target could write at will are left out."""
        usage = (exchange.response or Response(text="")).usage
        common = {**self._client(trial), Key.TARGET: trial.target}
        failed = common | {Key.ERROR_TYPE: error_type(exchange.failure)}
        yield _measurement(Measure.DURATION, exchange.timing.total_seconds, failed)
        first = exchange.timing.first_token_seconds
        if exchange.request.stream and first is not None:
            yield _measurement(Measure.FIRST_CHUNK, first, common)
        for measure, tokens in (
            (Measure.INPUT, usage.input_tokens),
            (Measure.OUTPUT, usage.output_tokens),
            (Measure.CACHED, usage.cached_tokens),
            (Measure.REASONING, usage.reasoning_tokens),
        ):
            if tokens is not None and tokens >= 0:
                yield _measurement(measure, min(tokens, _MOST_TOKENS), common)

    def _client(self, trial: Trial) -> dict[Key, Value | None]:
        served = self._served.get(trial.target)
        return {
            Key.OPERATION: CHAT,
            Key.PROVIDER: served.provider if served else None,
            Key.REQUEST_MODEL: trial.model,
            Key.SERVER_ADDRESS: served.address if served else None,
            Key.SERVER_PORT: served.port if served else None,
        }

    def _known(self, attributes: Mapping[Key, Value | None]) -> dict[str, Value]:
        lacks = self._names.lacks
        return _given({key: value for key, value in attributes.items() if key not in lacks})


def trace_id(trial: str) -> int:
    """Return the trace of a trial, 128 bits: the first half of the SHA-256 of its id."""
    return int.from_bytes(hashlib.sha256(trial.encode()).digest()[:16]) or 1


def span_id(trial: str, exchange: int | None = None) -> int:
    """Return the span of a trial or of one of its exchanges, 64 bits of a SHA-256."""
    name = f"{trial}/" if exchange is None else f"{trial}/{exchange}"
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]) or 1


def error_type(failure: Failure | None) -> str | None:
    """Return what an exchange ended with, ``None`` if that is no error: few values, all ours."""
    if failure is None or failure.kind in _NO_ERROR:
        return None
    if failure.kind is FailureKind.HTTP_STATUS:
        return code_label(failure.code)
    return failure.kind.value


def _about(trial: Trial) -> dict[Key, Value | None]:
    return {
        Key.TARGET: trial.target,
        Key.PROBE: trial.probe,
        Key.SHAPE: trial.shape,
        Key.STRATUM: trial.stratum,
        Key.TRIAL: trial.id,
        Key.SCHEDULED: trial.scheduled,
    }


def _judged(outcome: Outcome, label: str) -> dict[Key, Value | None]:
    return {Key.OUTCOME: outcome.value, Key.CLASS: label}


def _tokens(usage: Usage) -> dict[Key, Value | None]:
    return {
        Key.INPUT_TOKENS: _whole(usage.input_tokens),
        Key.OUTPUT_TOKENS: _whole(usage.output_tokens),
        Key.CACHED_TOKENS: _whole(usage.cached_tokens),
        Key.REASONING_TOKENS: _whole(usage.reasoning_tokens),
    }


def _whole(number: int | None) -> int | None:
    """Keep a number the target wrote within 64 bits."""
    return None if number is None else max(-_LARGEST, min(int(number), _LARGEST))


def _given(attributes: Mapping[Key, Value | None]) -> dict[str, Value]:
    """Leave out what is not known."""
    return {key.value: value for key, value in attributes.items() if value not in (None, "")}


def _measurement(measure: Measure, value: float, about: Mapping[Key, Value | None]) -> Measurement:
    return Measurement(measure=measure, value=value, attributes=_given(about))


def _end(exchange: Exchange) -> int:
    timing = exchange.timing
    return _nanoseconds(timing.started_at) + max(0, round(timing.total_seconds * 1e9))


def _nanoseconds(instant: datetime) -> int:
    return (instant - _EPOCH) // _MICROSECOND * 1000
