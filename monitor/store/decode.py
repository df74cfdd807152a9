"""Rows back to records: a verdict read is equal to the verdict written."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from monitor.model import (
    ExchangeVerdict,
    Outcome,
    Owner,
    Signal,
    Status,
    Verdict,
    VerdictClass,
)
from monitor.store.quiet import quiet_signals
from monitor.store.rows import ExchangeVerdictRow, SignalRow, VerdictRow

_CLASSES = {each.label: each for each in VerdictClass}


def class_of(label: str) -> VerdictClass:
    """Return the class of a label as it stands in tables."""
    return _CLASSES[label]


def verdict_of(
    row: VerdictRow, judged: Sequence[ExchangeVerdictRow], signals: Sequence[SignalRow]
) -> Verdict:
    """Put a verdict together again."""
    return Verdict(
        id=row.id,
        source=row.source,
        trial=row.trial,
        target=row.target,
        model=row.model,
        probe=row.probe,
        shape=row.shape,
        stratum=row.stratum,
        decided_at=row.decided_at,
        outcome=Outcome(row.outcome),
        verdict_class=class_of(row.verdict_class),
        reason=row.reason,
        signals=_signals_of(judged, signals),
        exchanges=tuple(_judged_of(each) for each in sorted(judged, key=lambda e: e.exchange)),
        checks_version=row.checks_version,
        scheduled=row.scheduled,
        finding=row.finding or None,
        rescores=row.rescores,
        markers=row.markers,
    )


def _signals_of(
    judged: Sequence[ExchangeVerdictRow], rows: Sequence[SignalRow]
) -> tuple[Signal, ...]:
    """Return quiet signals and those with a row in the order in which they were given."""
    placed = [*quiet_signals(judged), *((row.position, _signal_of(row)) for row in rows)]
    return tuple(signal for _, signal in sorted(placed, key=itemgetter(0)))


def _judged_of(row: ExchangeVerdictRow) -> ExchangeVerdict:
    return ExchangeVerdict(
        exchange=row.exchange,
        outcome=Outcome(row.outcome),
        verdict_class=class_of(row.verdict_class),
        reason=row.reason,
        hard=row.hard,
        tolerated=row.tolerated,
        counted=row.counted,
    )


def _signal_of(row: SignalRow) -> Signal:
    return Signal(
        code=row.code,
        status=Status(row.status),
        exchange=row.exchange,
        variant=row.variant,
        explanation=row.explanation,
        evidence_bits=row.evidence_bits,
        score=row.score,
        owner=_owner_of(row),
        marker_id=row.marker or None,
        spans=tuple(zip(row.span_starts, row.span_ends, strict=True)),
    )


def _owner_of(row: SignalRow) -> Owner | None:
    if not row.owned:
        return None
    return Owner(
        target=row.owner_target,
        tenant=row.owner_tenant,
        isolation=row.owner_isolation,
        trial=row.owner_trial,
        exchange=row.owner_exchange,
        epoch=row.owner_epoch,
        stratum_key=row.owner_stratum_key,
    )
