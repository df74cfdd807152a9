"""BOUNDARY: over a limit a prompt is refused, under it the prompt is read whole."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.canaries import Echo, echo
from monitor.checks.base import Check, Needs, failed, passed, skipped
from monitor.checks.needle import lost_places
from monitor.history import History
from monitor.model import Exchange, Signal, Trial

CODE = "BOUNDARY"


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Say what became of a prompt at a limit: refused, answered, truncated or replaced."""
    side = exchange.expectation.boundary
    if not side:
        return [skipped(CODE, exchange, "not at a limit")]
    if exchange.refused:
        return [_refused(exchange, side)]
    if not exchange.whole:
        return [skipped(CODE, exchange, "no answer: this side of the limit is not probed")]
    if side == "over":
        return [_answered_over(exchange)]
    return [_answered_under(exchange, history)]


def _refused(exchange: Exchange, side: str) -> Signal:
    if side == "over":
        return passed(CODE, exchange, "refused, as it must be")
    return failed(CODE, exchange, "refused_early", f"refused below the limit {_place(exchange)}")


def _answered_over(exchange: Exchange) -> Signal:
    expectation, where = exchange.expectation, _place(exchange)
    what = _content(exchange)
    if expectation.truncation_accepted and what != "replaced":
        return passed(
            CODE, exchange, f"{what} above the limit {where}, as the configuration accepts"
        )
    if what == "truncated":
        return failed(CODE, exchange, "truncated", f"shortened in silence above the limit {where}")
    if what == "replaced":
        return failed(CODE, exchange, "replaced", f"answered from something else {where}")
    source = "configured" if expectation.limit_source == "config" else "advertised"
    return failed(CODE, exchange, f"answered_over_{source}", f"answered above the limit {where}")


def _answered_under(exchange: Exchange, history: History) -> Signal:
    what, where = _content(exchange), _place(exchange)
    if what == "answered":
        return passed(CODE, exchange, f"read whole {where}")
    if history.weak_model:
        return skipped(CODE, exchange, "the model is too weak to tell what it read")
    if what == "truncated":
        return failed(CODE, exchange, "truncated", f"shortened in silence below the limit {where}")
    return failed(CODE, exchange, "replaced", f"answered from something else {where}")


def _content(exchange: Exchange) -> str:
    """Return what the answer shows of the prompt: ``answered``, ``truncated`` or ``replaced``.

    Nothing of the prompt at all means the model read something else. The end of the prompt holds
    the question, so an answer that knows it but lost an earlier part was cut at the front.
    """
    text = exchange.response.answer() if exchange.response else ""
    nonce = exchange.expectation.nonce
    knows_end = nonce is not None and echo(text, nonce) is not Echo.ABSENT
    lost = lost_places(exchange)
    if not lost and knows_end:
        return "answered"
    places = len(exchange.expectation.needles)
    if not knows_end and len(lost) == places:
        return "replaced"
    return "truncated"


def _place(exchange: Exchange) -> str:
    expectation = exchange.expectation
    size, error = expectation.size_tokens, expectation.size_error_tokens
    return f"({size} ± {error} of {expectation.limit_tokens} tokens)"


CHECK = Check(code=CODE, judge=judge, needs=Needs.NOTHING)
