"""The body of a chat request, checked and turned into records; unknown keys are ignored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from monitor.lab.template import Chat, ChatMessage, compact_json, known_role

# As many alternatives a token as OpenAI gives.
MOST_LOGPROBS = 20


class BadRequestError(Exception):
    """The body is not a chat request; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """A chat request as the server reads it."""

    chat: Chat
    model: str
    stream: bool = False
    include_usage: bool = False
    max_new_tokens: int | None = None
    stops: tuple[str, ...] = ()
    seed: int | None = None
    cache_salt: str = ""
    logprobs: bool = False
    top_logprobs: int = 0


def parse(raw: bytes) -> ChatRequest:
    """Return the request in a body, or raise ``BadRequestError``."""
    try:
        body = json.loads(raw)
    except ValueError as error:
        raise BadRequestError("The body is not valid JSON.") from error
    if not isinstance(body, dict):
        raise BadRequestError("The body is not a JSON object.")
    options = body.get("stream_options")
    return ChatRequest(
        chat=Chat(
            messages=_messages(body),
            tools=_tools(body),
            wanted_format=_format(body),
        ),
        model=str(body.get("model", "")),
        stream=body.get("stream") is True,
        include_usage=isinstance(options, dict) and options.get("include_usage") is True,
        max_new_tokens=_max_new_tokens(body),
        stops=_stops(body),
        seed=_seed(body),
        cache_salt=_cache_salt(body),
        logprobs=body.get("logprobs") is True,
        top_logprobs=_top_logprobs(body),
    )


def _messages(body: Mapping[str, Any]) -> tuple[ChatMessage, ...]:
    given = body.get("messages")
    if not isinstance(given, list) or not given:
        raise BadRequestError("messages must be a list with at least one message.")
    return tuple(_message(message) for message in given)


def _message(message: object) -> ChatMessage:
    if not isinstance(message, dict) or not known_role(str(message.get("role"))):
        raise BadRequestError("A message needs a known role.")
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        raise BadRequestError("tool_calls must be a list.")
    return ChatMessage(
        role=str(message["role"]),
        content=_content(message.get("content")),
        calls=tuple(compact_json(call.get("function", {})) for call in calls),
    )


def _content(content: object) -> str:
    if content is None:
        return ""
    if isinstance(content, list):
        parts = [part.get("text", "") for part in content if isinstance(part, dict)]
        content = "\n".join(str(part) for part in parts)
    if not isinstance(content, str):
        raise BadRequestError("content must be a string or a list of text parts.")
    # Half a surrogate pair is no character and could not be sent back.
    return content.encode("utf-8", "replace").decode("utf-8")


def _tools(body: Mapping[str, Any]) -> tuple[str, ...]:
    choice, tools = body.get("tool_choice"), body.get("tools")
    if not tools or choice == "none":
        return ()
    if not isinstance(tools, list):
        raise BadRequestError("tools must be a list.")
    functions = [tool.get("function", {}) for tool in tools if isinstance(tool, dict)]
    wanted = choice.get("function", {}).get("name") if isinstance(choice, dict) else None
    if wanted:
        functions = [function for function in functions if function.get("name") == wanted]
    forced = bool(wanted) or choice == "required"
    return tuple(
        compact_json({**function, "required_call": True} if forced else function)
        for function in functions
    )


def _format(body: Mapping[str, Any]) -> str:
    wanted = body.get("response_format")
    if not isinstance(wanted, dict) or wanted.get("type") == "text":
        return ""
    if wanted.get("type") == "json_schema":
        schema = wanted.get("json_schema")
        inner = schema.get("schema") if isinstance(schema, dict) else None
        return compact_json(inner or {})
    return compact_json({"type": "object"})


def _max_new_tokens(body: Mapping[str, Any]) -> int | None:
    limit = body.get("max_completion_tokens", body.get("max_tokens"))
    if limit is None:
        return None
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise BadRequestError("max_tokens must be a whole number of at least 1.")
    return limit


def _stops(body: Mapping[str, Any]) -> tuple[str, ...]:
    stop = body.get("stop")
    if isinstance(stop, str):
        return (stop,) if stop else ()
    if isinstance(stop, list):
        return tuple(str(text) for text in stop if text)
    return ()


def _seed(body: Mapping[str, Any]) -> int | None:
    seed = body.get("seed")
    if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool)):
        raise BadRequestError("seed must be a whole number.")
    return seed


def _cache_salt(body: Mapping[str, Any]) -> str:
    salt = body.get("cache_salt") or ""
    if not isinstance(salt, str):
        raise BadRequestError("cache_salt must be a text.")
    return salt


def _top_logprobs(body: Mapping[str, Any]) -> int:
    wanted = body.get("top_logprobs") or 0
    if not isinstance(wanted, int) or isinstance(wanted, bool) or not 0 <= wanted <= MOST_LOGPROBS:
        raise BadRequestError(f"top_logprobs must be between 0 and {MOST_LOGPROBS}.")
    if wanted and body.get("logprobs") is not True:
        raise BadRequestError("top_logprobs needs logprobs.")
    return wanted
