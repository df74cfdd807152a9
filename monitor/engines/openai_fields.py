"""Reading single fields of a chat completion: any type may be wrong, any size absurd."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TypeGuard

from monitor.engines.faults import Fault, FaultList
from monitor.model import ToolCall, Usage

MAX_TEXT_CHARS = 1_000_000
MAX_TOOL_CALLS = 64
MAX_ARGUMENT_CHARS = 100_000
MAX_NAME_CHARS = 200
MAX_TOKENS = 10**12


def is_object(value: object) -> TypeGuard[dict[str, object]]:
    """Tell whether ``value`` is a JSON object; its keys are text then."""
    return isinstance(value, dict)


def object_at(value: object, key: str) -> dict[str, object]:
    """Return the object under ``key`` of ``value``, empty if there is none."""
    inner = value.get(key) if is_object(value) else None
    return inner if is_object(inner) else {}


def clean(text: str, faults: FaultList, *, limit: int = MAX_TEXT_CHARS) -> str:
    """Return ``text`` as valid Unicode of at most ``limit`` characters.

    A surrogate pair that was sent in two halves is joined; a lone surrogate, which no database
    takes, becomes U+FFFD. Control characters stay: they are evidence.
    """
    if len(text) > limit:
        faults.add(Fault.TEXT_TOO_LONG)
        text = text[:limit]
    try:
        text.encode()
    except UnicodeEncodeError:
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        whole = joined.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        if joined != whole:
            faults.add(Fault.LONE_SURROGATE)
        return whole
    return text


def read_name(value: object, fault: Fault, faults: FaultList) -> str | None:
    """Return a short text such as an id, ``None`` if it is absent or, with ``fault``, no text."""
    if value is None:
        return None
    if not isinstance(value, str):
        faults.add(fault)
        return None
    return clean(value[:MAX_NAME_CHARS], faults)


def read_content(value: object, faults: FaultList) -> str:
    """Return the text of ``content``: text, nothing, or a list of parts."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    faults.add(Fault.CONTENT_NOT_TEXT)
    if not isinstance(value, list):
        return ""
    parts = (part if isinstance(part, str) else _part_text(part) for part in value)
    return "".join(parts)


def _part_text(part: object) -> str:
    text = part.get("text") if is_object(part) else None
    return text if isinstance(text, str) else ""


def read_reasoning(message: dict[str, object], faults: FaultList) -> str:
    """Return the reasoning text, under either of its two names."""
    return read_content(message.get("reasoning_content") or message.get("reasoning"), faults)


@dataclass(frozen=True, slots=True)
class Fragment:
    """One tool call, or in a stream a piece of one. ``index`` is ``None`` if it was not given."""

    index: int | None
    name: str
    arguments: str
    id: str = ""


def read_fragments(value: object, faults: FaultList) -> list[Fragment]:
    """Return the tool calls, or pieces of them, that ``tool_calls`` holds."""
    if value is None:
        return []
    if not isinstance(value, list):
        faults.add(Fault.TOOL_CALL_MALFORMED)
        return []
    return [_fragment(item, faults) for item in value[: MAX_TOOL_CALLS + 1]]


def _fragment(item: object, faults: FaultList) -> Fragment:
    function = object_at(item, "function")
    name, arguments = function.get("name") or "", function.get("arguments")
    if is_object(arguments):
        faults.add(Fault.TOOL_CALL_MALFORMED)
        arguments = json.dumps(arguments)
    arguments = "" if arguments is None else arguments
    index = item.get("index") if is_object(item) else None
    call_id = item.get("id") if is_object(item) else None
    if not function or not isinstance(name, str) or not isinstance(arguments, str):
        faults.add(Fault.TOOL_CALL_MALFORMED)
    return Fragment(
        index=index if isinstance(index, int) else None,
        name=name if isinstance(name, str) else "",
        arguments=arguments if isinstance(arguments, str) else "",
        id=call_id if isinstance(call_id, str) else "",
    )


def to_tool_calls(fragments: list[Fragment], faults: FaultList) -> tuple[ToolCall, ...]:
    """Return whole calls as records, bounded in number and length."""
    if len(fragments) > MAX_TOOL_CALLS:
        faults.add(Fault.TOO_MANY_TOOL_CALLS)
    return tuple(
        ToolCall(
            name=clean(call.name[:MAX_NAME_CHARS], faults),
            arguments=clean(call.arguments, faults, limit=MAX_ARGUMENT_CHARS),
            id=clean(call.id[:MAX_NAME_CHARS], faults),
        )
        for call in fragments[:MAX_TOOL_CALLS]
    )


def read_usage(value: object, faults: FaultList) -> Usage:
    """Return the token counts; one that is no plausible count is a fault and ``None``."""
    if not is_object(value):
        faults.add(Fault.USAGE_NULL if value is None else Fault.USAGE_INVALID)
        return Usage()
    prompt, completion = (object_at(value, f"{side}_tokens_details") for side in _SIDES)
    sent, written = (_count(value.get(f"{side}_tokens"), faults) for side in _SIDES)
    cached = _count(_first(prompt.get("cached_tokens"), *map(value.get, _CACHED)), faults)
    stored = _plain_count(value.get("cache_creation_input_tokens"))
    total = _plain_count(value.get("total_tokens"))
    return Usage(
        input_tokens=sent,
        output_tokens=written,
        cached_tokens=cached,
        reasoning_tokens=_count(
            _first(
                completion.get("reasoning_tokens"),
                value.get("reasoning_tokens"),
                _only_in_total(total, sent, written, beside=(cached or 0, stored or 0)),
            ),
            faults,
        ),
        total_tokens=total,
    )


def _only_in_total(
    total: int | None, sent: int | None, written: int | None, *, beside: tuple[int, int]
) -> int | None:
    """Return the tokens that only the total counts: hidden thoughts, by the dialect of Gemini.

    Where the prompt's tokens leave out those read from a cache or written to it, as in Anthropic's
    usage, it is those that the total has more (``beside``): no thoughts.
    """
    if total is None or sent is None or written is None:
        return None
    read, stored = beside
    more = total - sent - written
    return more if more > 0 and more not in (read, stored, read + stored) else None


_SIDES = ("prompt", "completion")
_CACHED = ("prompt_cache_hit_tokens", "cache_read_input_tokens")


def _first(*values: object) -> object:
    return next((value for value in values if value is not None), None)


def _plain_count(value: object) -> int | None:
    """Return a count that few servers give, without asking that it be one."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= MAX_TOKENS else None


def _count(value: object, faults: FaultList) -> int | None:
    if value is None:
        return None
    whole = isinstance(value, float) and value.is_integer()
    if isinstance(value, bool) or not (isinstance(value, int) or whole):
        faults.add(Fault.USAGE_INVALID)
        return None
    count = int(value)  # type: ignore[call-overload]
    if not 0 <= count <= MAX_TOKENS:
        faults.add(Fault.USAGE_INVALID)
        return None
    return int(count)
