"""The JSON bodies of the API, in SGLang's shapes."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from monitor.lab.jobs import Refusal
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
        "logprobs": None,
        "finish_reason": answer.finish_reason,
        "matched_stop": None,
    }
    return {
        **_head(answer, model, "chat.completion"),
        "choices": [choice],
        "usage": _usage(answer),
    }


def chunk(answer: Answer, model: str, delta: Body, finish_reason: str | None = None) -> Body:
    """Return one chunk of a stream."""
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    return {**_head(answer, model, "chat.completion.chunk"), "choices": [choice]}


def usage_chunk(answer: Answer, model: str) -> Body:
    """Return the last chunk of a stream, which carries the counts and no choice."""
    return {
        **_head(answer, model, "chat.completion.chunk"),
        "choices": [],
        "usage": _usage(answer),
    }


def call_deltas(answer: Answer) -> list[Body]:
    """Return the deltas of the tool calls: first the name, then the arguments."""
    deltas: list[Body] = []
    for index, call in enumerate(_calls(answer)):
        function = {"name": call["function"]["name"], "arguments": ""}
        arguments = {"arguments": call["function"]["arguments"]}
        deltas.append({"tool_calls": [{**call, "index": index, "function": function}]})
        deltas.append({"tool_calls": [{"index": index, "function": arguments}]})
    return deltas


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
    return {"id": answer.job.rid, "object": kind, "created": int(time.time()), "model": model}


def _calls(answer: Answer) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{answer.job.rid[:16]}{index:02d}",
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
        "reasoning_tokens": 0,
    }
