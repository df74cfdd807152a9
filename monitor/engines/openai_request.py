"""A request in OpenAI's dialect, and the options by which servers of that dialect differ."""

from __future__ import annotations

import json
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator

from monitor.engines.base import Manner
from monitor.engines.reasoning import ReasoningDialect, reasoning_fields
from monitor.model import Message, Request, ToolCall

MAX_ALTERNATIVES = 20
_OURS = frozenset(
    [
        "model",
        "messages",
        "stream",
        "stream_options",
        "tools",
        "tool_choice",
        "response_format",
        "temperature",
        "seed",
        "n",
        "logprobs",
        "top_logprobs",
        "cache_salt",
        "stop",
        "max_tokens",
        "max_completion_tokens",
    ]
)


class EngineOptions(BaseModel):
    """What every dialect lets a target's ``engine_options`` say."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    inline_reasoning: bool = Field(
        default=False,
        description="The model thinks within its answer, in `<think>…</think>`: set that apart.",
    )
    extra_body: dict[str, JsonValue] = Field(
        default={},
        description="Fields to send as they are; what Davylamp itself sets cannot be replaced.",
    )

    @field_validator("extra_body")
    @classmethod
    def _not_ours(cls, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        if taken := sorted(_OURS & value.keys()):
            problem = f"{', '.join(taken)} cannot be set here: Davylamp sets it"
            raise ValueError(problem)
        return value


class OpenAIOptions(EngineOptions):
    """The options of a target whose engine is ``openai``."""

    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = Field(
        default="max_tokens", description="How the server calls the limit of an answer."
    )
    send_temperature: bool = Field(
        default=True, description="Turn off for models that accept no temperature."
    )
    send_seed: bool = Field(default=True, description="Turn off for servers that refuse `seed`.")
    include_usage: bool = Field(
        default=True, description="Ask for token counts at the end of a stream."
    )
    reasoning_dialect: ReasoningDialect = Field(
        default="reasoning_effort",
        description="How `reasoning.effort` is sent; `chat_template` suits vLLM and SGLang.",
    )


def encode_request(
    request: Request, *, model: str, options: OpenAIOptions, manner: Manner | None = None
) -> bytes:
    """Return the JSON body that asks ``request`` of ``model``."""
    manner = manner or Manner()
    body: dict[str, JsonValue] = {
        **options.extra_body,
        **reasoning_fields(manner.effort, options.reasoning_dialect, options.extra_body),
        **manner.metadata(request, options.extra_body),
        "model": model,
        "messages": encode_messages(request),
        options.max_tokens_field: request.max_output_tokens,
        "stream": request.stream,
    }
    if options.send_temperature:
        body["temperature"] = request.temperature
    if request.seed is not None and options.send_seed:
        body["seed"] = request.seed
    if request.stream and options.include_usage:
        body["stream_options"] = {"include_usage": True}
    if request.logprobs:
        body["logprobs"] = True
        body["top_logprobs"] = min(request.logprobs, MAX_ALTERNATIVES)
    if request.cache_salt:
        body["cache_salt"] = request.cache_salt
    if request.stop:
        body["stop"] = [request.stop]
    body |= encode_tools(request)
    if request.json_schema is not None:
        schema = json.loads(request.json_schema)
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": schema},
        }
    return to_bytes(body)


def to_bytes(body: dict[str, JsonValue]) -> bytes:
    """Return ``body`` as JSON, whatever characters it holds."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", errors="replace")


def encode_messages(request: Request) -> list[JsonValue]:
    """Return the messages, with the tool calls made in them and answered by them."""
    return [_message(message) for message in request.messages]


def encode_tools(request: Request) -> dict[str, JsonValue]:
    """Return the fields that offer the request's tools and ask for one of them, if it has any."""
    if not request.tools:
        return {}
    fields: dict[str, JsonValue] = {"tools": _tools(request)}
    if request.tool_choice == "required":
        fields["tool_choice"] = "required"
    elif request.tool_choice:
        fields["tool_choice"] = {"type": "function", "function": {"name": request.tool_choice}}
    return fields


def _message(message: Message) -> JsonValue:
    """Return one message. Content stays text beside calls: chat templates print ``null``."""
    encoded: dict[str, JsonValue] = {"role": message.role, "content": message.content}
    if message.calls:
        encoded["tool_calls"] = [_call(call) for call in message.calls]
    if message.call_id:
        encoded["tool_call_id"] = message.call_id
    return encoded


def _call(call: ToolCall) -> JsonValue:
    function: JsonValue = {"name": call.name, "arguments": call.arguments}
    named: dict[str, JsonValue] = {"id": call.id} if call.id else {}
    return named | {"type": "function", "function": function}


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
