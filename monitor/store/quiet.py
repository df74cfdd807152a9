"""Signals that passed or skipped and say nothing but why: they need no row of their own.

A verdict has dozens of them. They stand as arrays beside the judgement of their exchange, each with
its place among all signals of the verdict. What says more is a row of ``signals``; once all were.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from monitor.model import Signal, Status, Verdict
from monitor.store.rows import ExchangeVerdictRow

_QUIET = frozenset({Status.PASS, Status.SKIP})
Placed = tuple[int, Signal]


@dataclass(slots=True, kw_only=True)
class Split:
    """The signals of a verdict with their places: quiet ones by exchange, and all others."""

    quiet: dict[int, list[Placed]]
    loud: list[Placed] = field(default_factory=list)


def split(verdict: Verdict) -> Split:
    """Tell the quiet signals from the others; one of an exchange that was not judged is none."""
    found = Split(quiet={each.exchange: [] for each in verdict.exchanges})
    for placed in enumerate(verdict.signals):
        signal = placed[1]
        beside = found.quiet.get(signal.exchange) if _is_quiet(signal) else None
        (found.loud if beside is None else beside).append(placed)
    return found


def quiet_signals(judged: Sequence[ExchangeVerdictRow]) -> Iterator[Placed]:
    """Yield the quiet signals that stand beside these judgements, with their places."""
    for row in judged:
        for position, code, status, explanation in zip(
            row.quiet_positions,
            row.quiet_codes,
            row.quiet_statuses,
            row.quiet_explanations,
            strict=True,
        ):
            yield (
                position,
                Signal(
                    code=code,
                    status=Status(status),
                    exchange=row.exchange,
                    explanation=explanation,
                ),
            )


def _is_quiet(signal: Signal) -> bool:
    """Say whether code, status, exchange and explanation are all of it that is kept."""
    return (
        signal.status in _QUIET
        and not signal.variant
        and signal.evidence_bits is None
        and signal.score is None
        and signal.owner is None
        and not signal.marker_id
        and not signal.spans
    )
