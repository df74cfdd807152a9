"""EMPTY: a 200 holds an answer."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from monitor.checks.base import (
    Check,
    Needs,
    Specimen,
    could_not_judge,
    failed,
    meant_to_be_cut,
    only_reasoned,
    passed,
    skipped,
)
from monitor.checks.specimen import Scene, an_exchange
from monitor.history import History
from monitor.model import Exchange, Response, Signal, Trial

CODE = "EMPTY"
# How gateways say that a filter of theirs kept the answer back.
WITHHELD = frozenset({"content_filter", "sensitive", "safety", "refusal"})


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail hard on an empty answer; error if hidden reasoning used up the allowed tokens.

    A call that the allowed tokens cut may be kept back whole, as some engines do. Thoughts that
    nobody sees may take all of a few tokens, and stop strings end thoughts, too. An answer that a
    filter withheld, and that says so, is no empty success: filters err on codes now and then, and
    what is missing then is tolerated or not by the checks that wanted it.
    """
    response = exchange.response
    if response is None or not exchange.whole:
        return [skipped(CODE, exchange, "no whole answer to judge")]
    if response.text.strip() or response.tool_calls:
        return [passed(CODE, exchange, "there is an answer")]
    if only_reasoned(response) and not meant_to_be_cut(exchange):
        return [could_not_judge(CODE, exchange, "reasoning used up the output tokens")]
    if why := _excused(exchange, response):
        return [skipped(CODE, exchange, why)]
    tokens = response.usage.output_tokens
    return [failed(CODE, exchange, "empty", f"an empty answer on a 200 ({tokens} tokens reported)")]


def _excused(exchange: Exchange, response: Response) -> str:
    """Return why an empty answer is no fault, nothing if it is one."""
    if (response.finish_reason or "").casefold() in WITHHELD:
        return "a filter withheld the answer, and it says so"
    if exchange.expectation.border_input:
        return "a border input may be answered with nothing"
    if exchange.request.stop:
        return "its stop string may have ended thoughts"
    was_cut = response.finish_reason == "length" and response.usage.output_tokens != 0
    a_count = bool(exchange.expectation.counts_to) and meant_to_be_cut(exchange)
    if was_cut and (exchange.request.tools or a_count):
        return "a call or a count was cut by the allowed tokens"
    return ""


def _specimens(rng: Random) -> Sequence[Specimen]:
    scene = Scene(rng)
    return [
        scene.specimen(an_exchange(" " * rng.randint(0, 3)), fails="empty"),
        scene.specimen(an_exchange(f"{rng.randint(1, 99)}")),
    ]


CHECK = Check(code=CODE, judge=judge, needs=Needs.NOTHING, specimens=_specimens)
