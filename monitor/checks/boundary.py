"""BOUNDARY: over a limit a prompt is refused, under it the prompt is read whole."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from random import Random

from monitor.checks.base import Check, Needs, Specimen, failed, passed, skipped
from monitor.checks.needle import (
    front_lost,
    lost_places,
    recalls_short_prompts,
    shows_part,
)
from monitor.checks.specimen import Scene, an_exchange
from monitor.history import History
from monitor.model import Exchange, Expectation, Failure, FailureKind, Needle, Signal, Trial

CODE = "BOUNDARY"
# A size whose error is a larger share of it was assumed, not measured.
SURE_SHARE = 0.1
# Shorter texts say too little about what was read.
FLUENT_CHARACTERS = 20
# Where an answer says, if it does, that there will be none: refusals, excuses, errors as text.
DECLINING_CHARACTERS = 200
_DECLINES = re.compile(
    r"\b(?:sorry|apolog|cannot|can't|can not|can\u2019t|unable|not able|won't|too long|too large"
    r"|error|exceed|try again|no access)|抱歉|对不起|无法|不能|过长|超出|错误",
    re.IGNORECASE,
)


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Say what became of a prompt at a limit: refused, answered, truncated or replaced."""
    side = exchange.expectation.boundary
    if not side:
        return [skipped(CODE, exchange, "not at a limit")]
    if exchange.refused:
        return [_refused(exchange, side)]
    if not exchange.whole:
        return [skipped(CODE, exchange, "no answer: this side of the limit is not probed")]
    read = read_of(trial, exchange, weak_model=history.weak_model)
    return [_answered_over(exchange, read) if side == "over" else _answered_under(exchange, read)]


class Read(StrEnum):
    """How much of the prompt an answer shows."""

    WHOLE = "answered"
    TRUNCATED = "truncated"
    REPLACED = "replaced"
    UNCLEAR = "unclear"


def read_of(trial: Trial, exchange: Exchange, *, weak_model: bool) -> Read:
    """Say how much of its prompt a whole answer of the trial shows.

    A model that forgets by itself cannot tell us what it was given.
    """
    read = _read_as(exchange)
    forgets = weak_model or not recalls_short_prompts(trial, exchange)
    return Read.UNCLEAR if forgets and read is not Read.WHOLE else read


def _read_as(exchange: Exchange) -> Read:
    """Say what the answer shows of the prompt, on positive evidence only.

    The tail recalled and the head lost, in an answer that came to its end: the front was cut.
    Nothing of the prompt in a fluent answer: the model read something else. An empty, cut or
    declining answer, one that repeats the code and no more, or one with a part of a code, which was
    read and copied badly, shows neither.
    """
    response, nonce = exchange.response, exchange.expectation.nonce
    if response is None:
        return Read.UNCLEAR
    lost = lost_places(exchange)
    if not lost:
        return Read.WHOLE
    if response.finish_reason != "stop":
        return Read.UNCLEAR
    if front_lost(exchange, lost):
        return Read.TRUNCATED
    text = response.answer().strip()
    codes = [*([nonce] if nonce else []), *(n.text for n in exchange.expectation.needles)]
    nothing = nonce is not None and not any(shows_part(exchange, code) for code in codes)
    everything_lost = len(lost) == len(exchange.expectation.needles)
    fluent = len(text) >= FLUENT_CHARACTERS and not _DECLINES.search(text[:DECLINING_CHARACTERS])
    return Read.REPLACED if nothing and everything_lost and fluent else Read.UNCLEAR


def _refused(exchange: Exchange, side: str) -> Signal:
    if side == "over":
        return passed(CODE, exchange, "refused, as it must be")
    if side == "band":
        return passed(CODE, exchange, "refused at the very limit, as it may be")
    if not _surely_below(exchange):
        return skipped(CODE, exchange, f"refused, but its size is not sure {_place(exchange)}")
    return failed(CODE, exchange, "refused_early", f"refused below the limit {_place(exchange)}")


def _surely_below(exchange: Exchange) -> bool:
    """True if a refused prompt was shorter than its limit beyond doubt.

    The refusal's own count is believed first, then a measured size; never an assumed one.
    """
    expectation, failure = exchange.expectation, exchange.failure
    limit = expectation.limit_tokens or 0
    counted = failure.prompt_tokens if failure else None
    if counted:
        return counted + exchange.request.max_output_tokens < limit
    size, error = expectation.size_tokens or 0, expectation.size_error_tokens
    return error <= SURE_SHARE * size and size + error < limit


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
    if read is Read.TRUNCATED and exchange.expectation.truncation_accepted:
        return passed(CODE, exchange, f"truncated below the limit {where}: accepted as configured")
    if read is Read.UNCLEAR:
        return skipped(CODE, exchange, f"the answer does not show what was read {where}")
    if read is Read.TRUNCATED:
        return failed(CODE, exchange, "truncated", f"shortened in silence below the limit {where}")
    return failed(CODE, exchange, "replaced", f"answered from something else {where}")


def _place(exchange: Exchange) -> str:
    expectation = exchange.expectation
    size, error = expectation.size_tokens, expectation.size_error_tokens
    return f"({size} ± {error} of {expectation.limit_tokens} tokens)"


def _specimens(rng: Random) -> Sequence[Specimen]:
    scene = Scene(rng)
    over = Expectation(
        nonce=scene.mint(),
        needles=tuple(Needle(place=place, text=scene.mint()) for place in ("head", "tail")),
        boundary="over",
        limit_tokens=4096,
        limit_source="v1_models.max_model_len",
        size_tokens=4160,
    )
    refused = Failure(kind=FailureKind.REFUSED, detail="too long", code=400)
    stranger = "The harbour was busy that morning, and the boats came in late."
    return [
        scene.specimen(an_exchange(stranger, expects=over), fails="replaced"),
        scene.specimen(an_exchange(over.needles[1].text, expects=over), fails="truncated"),
        scene.specimen(replace(an_exchange("", expects=over), response=None, failure=refused)),
    ]


CHECK = Check(code=CODE, judge=judge, needs=Needs.NOTHING, specimens=_specimens)
