"""BOUNDARY: over a limit a prompt is refused, under it the prompt is read whole."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from monitor.canaries import Echo, echo
from monitor.checks.base import Check, Needs, failed, passed, skipped
from monitor.checks.needle import lost_places, recalls_short_prompts
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
    read = _read_as(exchange)
    if history.weak_model or not recalls_short_prompts(trial, exchange):
        # A model that forgets by itself cannot tell us what it was given.
        read = read if read is Read.WHOLE else Read.UNCLEAR
    return [_answered_over(exchange, read) if side == "over" else _answered_under(exchange, read)]


class Read(StrEnum):
    """How much of the prompt an answer shows."""

    WHOLE = "answered"
    TRUNCATED = "truncated"
    REPLACED = "replaced"
    UNCLEAR = "unclear"


def _read_as(exchange: Exchange) -> Read:
    """Say what the answer shows of the prompt.

    Nothing of it at all: the model read something else. The end known, where nonce and question
    stand, and an earlier needle lost: the front was cut. A lost end alone shows neither.
    """
    text = exchange.response.answer() if exchange.response else ""
    nonce = exchange.expectation.nonce
    knows_nonce = nonce is not None and echo(text, nonce) is not Echo.ABSENT
    lost = lost_places(exchange)
    if not lost:
        return Read.WHOLE
    if not knows_nonce and len(lost) == len(exchange.expectation.needles):
        return Read.REPLACED
    knows_end = knows_nonce or "tail" not in lost
    return Read.TRUNCATED if knows_end and lost != ["tail"] else Read.UNCLEAR


def _refused(exchange: Exchange, side: str) -> Signal:
    if side == "over":
        return passed(CODE, exchange, "refused, as it must be")
    return failed(CODE, exchange, "refused_early", f"refused below the limit {_place(exchange)}")


def _answered_over(exchange: Exchange, read: Read) -> Signal:
    expectation, where = exchange.expectation, _place(exchange)
    if expectation.truncation_accepted and read is not Read.REPLACED:
        return passed(CODE, exchange, f"{read} above the limit {where}: accepted as configured")
    if read is Read.TRUNCATED:
        return failed(CODE, exchange, "truncated", f"shortened in silence above the limit {where}")
    if read is Read.REPLACED:
        return failed(CODE, exchange, "replaced", f"answered from something else {where}")
    source = "configured" if expectation.limit_source == "config" else "advertised"
    return failed(CODE, exchange, f"answered_over_{source}", f"answered above the limit {where}")


def _answered_under(exchange: Exchange, read: Read) -> Signal:
    where = _place(exchange)
    if read is Read.WHOLE:
        return passed(CODE, exchange, f"read whole {where}")
    if read is Read.UNCLEAR:
        return skipped(CODE, exchange, f"the answer does not show what was read {where}")
    if read is Read.TRUNCATED:
        return failed(CODE, exchange, "truncated", f"shortened in silence below the limit {where}")
    return failed(CODE, exchange, "replaced", f"answered from something else {where}")


def _place(exchange: Exchange) -> str:
    expectation = exchange.expectation
    size, error = expectation.size_tokens, expectation.size_error_tokens
    return f"({size} ± {error} of {expectation.limit_tokens} tokens)"


CHECK = Check(code=CODE, judge=judge, needs=Needs.NOTHING)
