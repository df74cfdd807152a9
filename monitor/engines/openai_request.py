"""A request in OpenAI's dialect, and the options by which servers of that dialect differ."""

from __future__ import annotations

import json
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue, field_validator

from monitor.model import Request

_OURS = frozenset(
    [
        "model",
        "messages",
        "stream",
        "stream_options",
        "tools",
        "response_format",
        "temperature",
        "n",
        "max_tokens",
        "max_completion_tokens",
    ]
)


class OpenAIOptions(BaseModel):
    """The options of a target whose engine is ``openai``.

    ``extra_body`` is sent as it is (e.g. ``chat_template_kwargs``), but cannot replace what
    Davylamp itself sets.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    send_temperature: bool = True
    include_usage: bool = True
    extra_body: dict[str, JsonValue] = {}

    @field_validator("extra_body")
    @classmethod
    def _not_ours(cls, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        if taken := sorted(_OURS & value.keys()):
            problem = f"{', '.join(taken)} cannot be set here: Davylamp sets it"
            raise ValueError(problem)
        return value


def encode_request(request: Request, *, model: str, options: OpenAIOptions) -> bytes:
    """Return the JSON body that asks ``request`` of ``model``."""
    body: dict[str, JsonValue] = {
        **options.extra_body,
        "model": model,
        "messages": [
            {"role": message.role, "content": message.content} for message in request.messages
        ],
        options.max_tokens_field: request.max_output_tokens,
        "stream": request.stream,
    }
    if options.send_temperature:
        body["temperature"] = request.temperature
    if request.stream and options.include_usage:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        body["tools"] = _tools(request)
    if request.json_schema is not None:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {
                "name": "answer",
                "strict": True,
                "schema": json.loads(request.json_schema),
            },
        }
    return json.dumps(body, ensure_ascii=False).encode("utf-8", errors="replace")


def _tools(request: Request) -> list[JsonValue]:
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": json.loads(tool.parameters),
            },
        }
        for tool in request.tools
    ]
