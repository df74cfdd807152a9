"""FINISH: the finish reason agrees with the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from random import Random

from monitor.checks.base import Check, Specimen, failed, meant_to_be_cut, passed
from monitor.checks.specimen import Scene, an_exchange
from monitor.checks.struct import is_json
from monitor.history import History
from monitor.model import Exchange, Response, Signal, Trial, Usage

CODE = "FINISH"
# "length" with fewer tokens than this share of what was allowed did not end for length.
LENGTH_SHARE = 0.8
# Engines differ in whether they count the tokens that end an answer or open a call.
SLACK_TOKENS = 2


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail hard on a contradiction; a truncated answer is tolerated (the model talked too long).

    An exchange that expects nothing was meant to be cut. Reasoning takes room too, and some count
    it beside the output's tokens, or not at all. Arguments that stop short are a cut sent as
    complete only where the allowed tokens are used up: else the model itself wrote them so.
    """
    response = exchange.response
    if response is None:
        return []
    if response.finish_reason is None:
        return [failed(CODE, exchange, "missing", "no finish reason in a whole answer")]
    variant, words = _fault(response, exchange.request.max_output_tokens) or ("", "")
    if variant == "truncated" and meant_to_be_cut(exchange):
        return [passed(CODE, exchange, "ended for length, as it was meant to")]
    if variant:
        return [failed(CODE, exchange, variant, words)]
    return [passed(CODE, exchange, "the finish reason agrees with the answer")]


def _fault(response: Response, most: int) -> tuple[str, str] | None:
    tokens = response.usage.output_tokens
    if response.finish_reason != "length" and _cut_call(response, most):
        return "cut_tool_call", f"ended for {most} tokens within a call, and does not say so"
    match response.finish_reason:
        case "length" if tokens is not None and _taken(response, tokens) < LENGTH_SHARE * most:
            return "length_too_early", f"'length' after {tokens} of {most} tokens"
        case "abort" | "error":
            return "aborted", "an aborted answer was sent as a success"
        case "tool_calls" if not response.tool_calls:
            return "no_tool_call", "'tool_calls' without a tool call"
        case "length":
            return "truncated", f"the answer did not end within {most} tokens"
    return None


def _taken(response: Response, tokens: int) -> float:
    """Return the most tokens the answer can have taken; reasoning without a count took any."""
    reasoned = response.usage.reasoning_tokens
    if reasoned is None and response.reasoning_text.strip():
        return inf
    return tokens + (reasoned or 0)


def _cut_call(response: Response, most: int) -> bool:
    """True if the last call's arguments stop where the allowed tokens do."""
    tokens = response.usage.output_tokens
    if not response.tool_calls or tokens is None or tokens < most - SLACK_TOKENS:
        return False
    return not is_json(response.tool_calls[-1].arguments)


def _specimens(rng: Random) -> Sequence[Specimen]:
    scene = Scene(rng)
    usage = Usage(input_tokens=20, output_tokens=rng.randint(1, 9))
    early = {"finish_reason": "length", "usage": usage}
    return [
        scene.specimen(an_exchange("Paris is", response=early), fails="length_too_early"),
        scene.specimen(an_exchange("Paris.", response={"finish_reason": None}), fails="missing"),
        scene.specimen(an_exchange("Paris.", response={"usage": usage})),
    ]


CHECK = Check(code=CODE, judge=judge, specimens=_specimens)
