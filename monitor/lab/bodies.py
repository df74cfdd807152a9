"""The JSON bodies of the API, in SGLang's shapes."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from monitor.lab.jobs import Refusal
from monitor.lab.logprobs import token_logprobs
from monitor.lab.parsing import CallPart
from monitor.lab.service import Answer
from monitor.lab.settings import LabSettings

DONE = "data: [DONE]\n\n"
Body = Mapping[str, Any]


def event(body: Body) -> str:
    """Return a server-sent event."""
    return f"data: {json.dumps(body, ensure_ascii=False)}\n\n"


def completion(answer: Answer, model: str) -> Body:
    """Return the body of a whole answer."""
    parser = answer.parser
    message = {
        "role": "assistant",
        "content": None if parser.calls and not parser.content else parser.content,
        "reasoning_content": parser.reasoning or None,
        "tool_calls": _calls(answer) or None,
    }
    choice = {
        "index": 0,
        "message": message,
        "logprobs": logprobs(answer, parser.spoken()),
        "finish_reason": answer.finish_reason,
        "matched_stop": None,
    }
    return {
        **_head(answer, model, "chat.completion"),
        "choices": [choice],
        "usage": _usage(answer),
    }


def logprobs(answer: Answer, spoken: Sequence[str]) -> Body | None:
    """Return the log probabilities of the tokens after the first, if the request wants them."""
    if not answer.wants_logprobs:
        return None
    return {"content": token_logprobs(spoken, answer.top_logprobs), "refusal": None}


def chunk(
    answer: Answer,
    model: str,
    delta: Body,
    finish_reason: str | None = None,
    spoken: Sequence[str] = (),
) -> Body:
    """Return one chunk of a stream; ``spoken`` is the token before it and those it brings."""
    choice = {
        "index": 0,
        "delta": delta,
        "logprobs": logprobs(answer, spoken) if spoken else None,
        "finish_reason": finish_reason,
    }
    return {**_head(answer, model, "chat.completion.chunk"), "choices": [choice]}


def usage_chunk(answer: Answer, model: str) -> Body:
    """Return the last chunk of a stream, which carries the counts and no choice."""
    return {
        **_head(answer, model, "chat.completion.chunk"),
        "choices": [],
        "usage": _usage(answer),
    }


def call_delta(answer: Answer, part: CallPart) -> Body:
    """Return the delta of one bit of a tool call: id and name first, then arguments."""
    function: dict[str, Any] = {"arguments": part.arguments}
    if part.name is None:
        return {"tool_calls": [{"index": part.index, "function": function}]}
    head = {"index": part.index, "id": _call_id(answer, part.index), "type": "function"}
    return {"tool_calls": [{**head, "function": {"name": part.name, **function}}]}


def models(settings: LabSettings) -> Body:
    """Return the list of the one model."""
    card = {
        "id": settings.model,
        "object": "model",
        "created": int(time.time()),
        "owned_by": "sglang",
        "root": settings.model,
        "parent": None,
        "max_model_len": settings.context_tokens,
    }
    return {"object": "list", "data": [card]}


def refusal(refused: Refusal) -> Body:
    """Return the body of an error."""
    return {
        "object": "error",
        "message": refused.message,
        "type": refused.kind,
        "param": None,
        "code": refused.status,
    }


def unauthorised() -> Body:
    """Return the body of a 401."""
    error = {
        "message": "Incorrect API key provided.",
        "type": "invalid_request_error",
        "param": None,
        "code": "invalid_api_key",
    }
    return {"error": error}


def _head(answer: Answer, model: str, kind: str) -> dict[str, Any]:
    named = answer.steps.gateway.name_model(model, answer.job)
    return {
        "id": answer.response_id,
        "object": kind,
        "created": int(time.time()),
        "model": named,
    }


def _call_id(answer: Answer, index: int) -> str:
    return f"call_{answer.job.rid[:16]}{index:02d}"


def _calls(answer: Answer) -> list[dict[str, Any]]:
    return [
        {
            "id": _call_id(answer, index),
            "index": index,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for index, call in enumerate(answer.parser.calls)
    ]


def _usage(answer: Answer) -> Body:
    usage = answer.usage
    return {
        "prompt_tokens": usage.prompt_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "completion_tokens": usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "reasoning_tokens": usage.reasoning_tokens,
    }
