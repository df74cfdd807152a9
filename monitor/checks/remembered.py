"""What of an exchange is remembered for the checks of later ones. No check.

The text is not: only counts, times and keyed hashes.
"""

from __future__ import annotations

from dataclasses import replace

from monitor.canaries import PartialEvidence
from monitor.checks.cached import beyond
from monitor.checks.dup import telling
from monitor.checks.finger import finger_of
from monitor.checks.timing import fresh_bytes, waited_seconds
from monitor.history import History, Observation, OwnerKey, observe
from monitor.model import Exchange, Trial


def remembered(
    trial: Trial,
    exchange: Exchange,
    history: History,
    *,
    stale_from: str | None = None,
    parts: tuple[tuple[OwnerKey, PartialEvidence], ...] = (),
) -> Observation:
    """Return what to remember of an exchange, given the history it was judged with."""
    told = telling(exchange, history)
    fresh = fresh_bytes(trial, exchange, history.registry)
    return replace(
        observe(trial, exchange, stale_from=stale_from, parts=parts),
        answer=told.answer if told else None,
        task=told.task if told else None,
        beyond_tokens=beyond(trial, exchange, history.registry),
        fresh_bytes=fresh,
        waited_seconds=waited_seconds(exchange) if fresh else None,
        finger=finger_of(exchange, history),
    )
