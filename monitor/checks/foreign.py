"""FOREIGN: a marker in the answer that belongs to another exchange. The proof of a leak."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from monitor.canaries import LEAK_BITS, Match, scan_answer
from monitor.checks.base import Check, Needs, failed, passed
from monitor.history import History, stratum_key
from monitor.model import Exchange, Owner, Signal, Trial

CODE = "FOREIGN"
OTHER_TENANT = "other_tenant"
SAME_TENANT = "same_tenant"


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Return one signal for each foreign owner, strongest evidence first."""
    if exchange.response is None:
        return []
    scan = scan_answer(exchange.response.said(), exchange.request.text(), history.registry)
    signals = [_signal(match, trial, exchange, history) for match in scan.matches]
    return signals or [passed(CODE, exchange, "no marker of anybody else")]


def _signal(match: Match, trial: Trial, exchange: Exchange, history: History) -> Signal:
    variant = _variant(match, trial, exchange, history)
    explanation = f"{match.parts} of 4 groups ({match.kind.value}), {match.net_bits:.1f} bits net"
    return replace(
        failed(CODE, exchange, variant, explanation),
        evidence_bits=round(match.net_bits, 2),
        owner=match.owner,
        marker_id=match.marker_id,
        spans=match.spans,
    )


def _variant(match: Match, trial: Trial, exchange: Exchange, history: History) -> str:
    if match.owner is None:
        return "unregistered"
    if match.net_bits < LEAK_BITS:
        return "partial"
    if _is_stale_own(match.owner, trial, exchange):
        return "stale_own_repeated" if _seen_before(match.owner, trial, history) else "stale_own"
    if (match.owner.target, match.owner.tenant) == (trial.target, exchange.tenant):
        return SAME_TENANT
    return OTHER_TENANT


def _is_stale_own(owner: Owner, trial: Trial, exchange: Exchange) -> bool:
    """True for a marker of an earlier trial of the same prompt stratum and the same tenant."""
    return (
        owner.target == trial.target
        and owner.tenant == exchange.tenant
        and owner.trial != trial.id
        and owner.stratum_key == _stratum_key(trial, exchange)
    )


def _stratum_key(trial: Trial, exchange: Exchange) -> str:
    part, golden = exchange.part.value, exchange.expectation.golden
    return stratum_key(trial.probe, trial.stratum, part, golden)


def _seen_before(owner: Owner, trial: Trial, history: History) -> bool:
    return any(seen.stale_from == owner.stratum_key for seen in history.earlier)


CHECK = Check(code=CODE, judge=judge, needs=Needs.SOME_TEXT)
