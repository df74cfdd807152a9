"""Trials as records of the check report: every exchange and every signal, no text."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.model import Exchange, ExchangeVerdict, Signal, Usage
from monitor.passes import Done
from monitor.reports.check import ExchangeReport, SignalReport, TrialReport


def trial_report(done: Done) -> TrialReport:
    """Return a trial with its exchanges and their signals."""
    trial, verdict = done.trial, done.verdict
    return TrialReport(
        trial=trial.id,
        verdict=verdict.id,
        probe=trial.probe,
        shape=trial.shape,
        stratum=trial.stratum,
        purpose=trial.purpose,
        outcome=verdict.outcome.value,
        verdict_class=verdict.verdict_class.label,
        reason=verdict.reason,
        finding=verdict.finding,
        scheduled=trial.scheduled,
        confirms=trial.confirms or None,
        exchanges=[
            _exchange(exchange, judged, verdict.signals)
            for exchange, judged in zip(trial.exchanges, verdict.exchanges, strict=True)
        ],
    )


def _exchange(
    exchange: Exchange, judged: ExchangeVerdict, signals: Sequence[Signal]
) -> ExchangeReport:
    usage = exchange.response.usage if exchange.response else Usage()
    return ExchangeReport(
        index=exchange.index,
        part=exchange.part.value,
        tenant=exchange.tenant,
        golden_prompt=exchange.expectation.golden,
        golden_version=exchange.expectation.golden_version or None,
        request_id=exchange.request_id,
        http_status=exchange.http_status,
        failure=exchange.failure.kind.value if exchange.failure else None,
        refused=exchange.refused,
        total_seconds=round(exchange.timing.total_seconds, 4),
        first_token_seconds=exchange.timing.first_token_seconds,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        outcome=judged.outcome.value,
        verdict_class=judged.verdict_class.label,
        reason=judged.reason,
        counted=judged.counted,
        signals=[_signal(s) for s in signals if s.exchange == exchange.index],
    )


def _signal(signal: Signal) -> SignalReport:
    owner = signal.owner
    return SignalReport(
        code=signal.code,
        status=signal.status.value,
        variant=signal.variant,
        explanation=signal.explanation,
        evidence_bits=signal.evidence_bits,
        owner_tenant=owner.tenant if owner else None,
        owner_trial=owner.trial if owner else None,
        owner_exchange=owner.exchange if owner else None,
        marker=signal.marker_id,
    )
