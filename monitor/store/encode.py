"""Records to rows. Bodies stay behind: what leaves here is numbers, codes and keyed hashes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from monitor.model import (
    Exchange,
    ExchangeVerdict,
    Failure,
    Owner,
    Response,
    Signal,
    Trial,
    Usage,
    Verdict,
)
from monitor.store.private import EvidenceHasher, finish_reason
from monitor.store.quiet import Placed, split
from monitor.store.rows import (
    AnyRow,
    ExchangeRow,
    ExchangeVerdictRow,
    SignalRow,
    TrialRow,
    VerdictRow,
)

_INT64_MAX = 2**63 - 1
_NO_RESPONSE = Response(text="")
_NO_OWNER = Owner(
    target="", tenant="", isolation="", trial="", exchange=0, epoch="", stratum_key=""
)


def trial_rows(trial: Trial, hasher: EvidenceHasher, *, held: bool = False) -> list[AnyRow]:
    """Return the rows of a trial and its exchanges; ``held`` ones are evidence of a finding."""
    row = TrialRow(
        id=trial.id,
        target=trial.target,
        model=trial.model,
        probe=trial.probe,
        shape=trial.shape,
        stratum=trial.stratum,
        started_at=trial.started_at,
        purpose=trial.purpose,
        scheduled=trial.scheduled,
        broken=trial.broken,
        confirms=trial.confirms,
        held=held,
    )
    return [row, *(_exchange_row(trial, each, hasher, held) for each in trial.exchanges)]


def _exchange_row(
    trial: Trial, exchange: Exchange, hasher: EvidenceHasher, held: bool
) -> ExchangeRow:
    response = exchange.response or _NO_RESPONSE
    expectation = exchange.expectation
    request_text = exchange.request.text()
    usage = _whole_numbers(response.usage)
    failure = exchange.failure
    return ExchangeRow(
        trial=trial.id,
        exchange=exchange.index,
        target=trial.target,
        probe=trial.probe,
        stratum=trial.stratum,
        part=exchange.part.value,
        tenant=exchange.tenant,
        isolation=exchange.isolation,
        started_at=exchange.timing.started_at,
        total_seconds=exchange.timing.total_seconds,
        first_token_seconds=exchange.timing.first_token_seconds,
        streamed=exchange.request.stream,
        request_characters=len(request_text),
        request_hash=hasher(request_text),
        response_characters=len(response.text),
        response_hash=hasher(response.text),
        reasoning_characters=len(response.reasoning_text),
        tool_calls=len(response.tool_calls),
        finish_reason=finish_reason(response.finish_reason),
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cached_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        reported_model=hasher.identifier(response.model),
        response_id=hasher.identifier(response.response_id),
        request_id=hasher.identifier(exchange.request_id),
        system_fingerprint=hasher.identifier(response.system_fingerprint),
        protocol_faults=response.protocol_faults,
        http_status=_whole(exchange.http_status),
        failure=failure.kind.value if failure else "",
        failure_detail=failure.detail if failure else "",
        failure_code=_whole(failure.code if failure else None),
        refused_limit_tokens=_whole(_limit(failure)),
        refused_prompt_tokens=_whole(failure.prompt_tokens if failure else None),
        golden=expectation.golden or "",
        golden_version=expectation.golden_version,
        boundary=expectation.boundary,
        limit_tokens=expectation.limit_tokens,
        limit_source=expectation.limit_source,
        size_tokens=expectation.size_tokens,
        size_error_tokens=expectation.size_error_tokens,
        held=held,
    )


def _limit(failure: Failure | None) -> int | None:
    return failure.limit_tokens if failure else None


def _whole_numbers(usage: Usage) -> Usage:
    return Usage(
        input_tokens=_whole(usage.input_tokens),
        output_tokens=_whole(usage.output_tokens),
        cached_tokens=_whole(usage.cached_tokens),
        reasoning_tokens=_whole(usage.reasoning_tokens),
    )


def _whole(number: int | None) -> int | None:
    """Keep a number the target wrote within what a column holds."""
    return None if number is None else max(-_INT64_MAX, min(int(number), _INT64_MAX))


def judgement_rows(verdict: Verdict, trial: Trial, hasher: EvidenceHasher) -> list[AnyRow]:
    """Return all rows of a verdict: its signals' that are not quiet, its own, its judgements'."""
    found = split(verdict)
    return [*_signal_rows(verdict, found.loud, trial, hasher), *_verdict_rows(verdict, found.quiet)]


def verdict_rows(verdict: Verdict) -> list[AnyRow]:
    """Return the rows of a verdict and of its exchanges' judgements, with their quiet signals."""
    return _verdict_rows(verdict, split(verdict).quiet)


def _verdict_rows(verdict: Verdict, quiet: Mapping[int, Sequence[Placed]]) -> list[AnyRow]:
    row = VerdictRow(
        id=verdict.id,
        source=verdict.source,
        trial=verdict.trial,
        target=verdict.target,
        model=verdict.model,
        probe=verdict.probe,
        shape=verdict.shape,
        stratum=verdict.stratum,
        decided_at=verdict.decided_at,
        outcome=verdict.outcome.value,
        verdict_class=verdict.verdict_class.label,
        reason=verdict.reason,
        checks_version=verdict.checks_version,
        scheduled=verdict.scheduled,
        finding=verdict.finding or "",
        held=verdict.finding is not None,
        rescores=verdict.rescores,
        markers=verdict.markers,
    )
    return [row, *(_judged_row(verdict, each, quiet[each.exchange]) for each in verdict.exchanges)]


def _judged_row(
    verdict: Verdict, each: ExchangeVerdict, quiet: Sequence[Placed]
) -> ExchangeVerdictRow:
    return ExchangeVerdictRow(
        verdict=verdict.id,
        trial=verdict.trial,
        target=verdict.target,
        model=verdict.model,
        probe=verdict.probe,
        shape=verdict.shape,
        stratum=verdict.stratum,
        decided_at=verdict.decided_at,
        exchange=each.exchange,
        outcome=each.outcome.value,
        verdict_class=each.verdict_class.label,
        reason=each.reason,
        hard=each.hard,
        tolerated=each.tolerated,
        scheduled=verdict.scheduled,
        counted=each.counted,
        held=verdict.finding is not None,
        source=verdict.source,
        quiet_positions=tuple(position for position, _ in quiet),
        quiet_codes=tuple(signal.code for _, signal in quiet),
        quiet_statuses=tuple(signal.status.value for _, signal in quiet),
        quiet_explanations=tuple(signal.explanation for _, signal in quiet),
    )


def signal_rows(verdict: Verdict, trial: Trial, hasher: EvidenceHasher) -> list[AnyRow]:
    """Return the rows of a verdict's signals that are not quiet.

    The places they point at become keyed hashes.
    """
    return _signal_rows(verdict, split(verdict).loud, trial, hasher)


def _signal_rows(
    verdict: Verdict, loud: Sequence[Placed], trial: Trial, hasher: EvidenceHasher
) -> list[AnyRow]:
    if not loud:
        return []
    texts = {
        exchange.index: exchange.response.said()
        for exchange in trial.exchanges
        if exchange.response is not None
    }
    return [
        _signal_row(verdict, position, signal, texts.get(signal.exchange, ""), hasher)
        for position, signal in loud
    ]


def _signal_row(
    verdict: Verdict, position: int, signal: Signal, text: str, hasher: EvidenceHasher
) -> SignalRow:
    owner = signal.owner or _NO_OWNER
    return SignalRow(
        verdict=verdict.id,
        position=position,
        trial=verdict.trial,
        target=verdict.target,
        decided_at=verdict.decided_at,
        exchange=signal.exchange,
        code=signal.code,
        variant=signal.variant,
        status=signal.status.value,
        explanation=signal.explanation,
        evidence_bits=signal.evidence_bits,
        score=signal.score,
        marker=signal.marker_id or "",
        owned=signal.owner is not None,
        owner_target=owner.target,
        owner_tenant=owner.tenant,
        owner_isolation=owner.isolation,
        owner_trial=owner.trial,
        owner_exchange=owner.exchange,
        owner_epoch=owner.epoch,
        owner_stratum_key=owner.stratum_key,
        span_starts=tuple(start for start, _ in signal.spans),
        span_ends=tuple(end for _, end in signal.spans),
        span_hashes=tuple(hasher(text[start:end]) for start, end in signal.spans),
        held=verdict.finding is not None,
        source=verdict.source,
    )
