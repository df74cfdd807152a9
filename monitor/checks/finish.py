"""FINISH: the finish reason agrees with the evidence."""

from __future__ import annotations

import json
from collections.abc import Sequence

from monitor.checks.base import Check, failed, passed
from monitor.history import History
from monitor.model import Exchange, Response, Signal, Trial

CODE = "FINISH"
# "length" with fewer tokens than this share of what was allowed did not end for length.
LENGTH_SHARE = 0.8


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail hard on a contradiction; a truncated answer is tolerated (the model talked too long)."""
    response = exchange.response
    if response is None:
        return []
    if response.finish_reason is None:
        return [failed(CODE, exchange, "missing", "no finish reason in a whole answer")]
    fault = _fault(response, exchange.request.max_output_tokens)
    if fault:
        return [failed(CODE, exchange, *fault)]
    return [passed(CODE, exchange, "the finish reason agrees with the answer")]


def _fault(response: Response, most: int) -> tuple[str, str] | None:
    tokens = response.usage.output_tokens
    match response.finish_reason:
        case "length" if tokens is not None and tokens < LENGTH_SHARE * most:
            return "length_too_early", f"'length' after {tokens} of {most} tokens"
        case "abort" | "error":
            return "aborted", "an aborted answer was sent as a success"
        case "tool_calls" if not response.tool_calls:
            return "no_tool_call", "'tool_calls' without a tool call"
        case "tool_calls" if any(not _is_json(call.arguments) for call in response.tool_calls):
            return "cut_tool_call", "'tool_calls' with arguments that are cut off"
        case "length":
            return "truncated", f"the answer did not end within {most} tokens"
    return None


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


CHECK = Check(code=CODE, judge=judge)
