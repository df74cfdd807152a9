"""Reasoning models: how to ask for more or less of it, and how to tell it from the answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from pydantic import JsonValue

from monitor.model import Response

ReasoningDialect = Literal["reasoning_effort", "thinking", "chat_template"]
"""``thinking`` is z.ai's field; ``chat_template`` hands a switch to the model's own template."""

_OFF = frozenset({"none", "minimal"})
_THINKS = re.compile(r"\s*<(think|thinking|thought)>\n?(.*?)(?:</\1>\s*|\Z)", re.DOTALL)
_OPENED_BY_TEMPLATE = re.compile(r"(.*?)</(?:think|thinking|thought)>\s*", re.DOTALL)


def reasoning_fields(
    effort: str | None, dialect: ReasoningDialect, extra_body: Mapping[str, JsonValue]
) -> dict[str, JsonValue]:
    """Return the body's fields that ask for ``effort``; none if it is not set.

    Where a dialect has only on and off, ``none`` and ``minimal`` are off. What ``extra_body``
    says to a chat template stays beside the switch, and wins over it.
    """
    if effort is None:
        return {}
    on = effort not in _OFF
    if dialect == "thinking":
        return {"thinking": {"type": "enabled" if on else "disabled"}}
    if dialect == "chat_template":
        # Qwen and GLM templates read the one name, DeepSeek's the other; neither minds both.
        given = extra_body.get("chat_template_kwargs")
        written = given if isinstance(given, dict) else {}
        return {"chat_template_kwargs": {"enable_thinking": on, "thinking": on, **written}}
    return {"reasoning_effort": effort}


def set_reasoning_apart(response: Response) -> Response:
    """Return ``response`` with the thinking at the start of its text moved to its reasoning.

    A block that was never closed is all reasoning: the tokens ran out before an answer. Some
    templates write the opening tag into the prompt, so that the text only closes it.
    """
    if match := _THINKS.match(response.text):
        thought = match[2]
    elif match := _OPENED_BY_TEMPLATE.match(response.text):
        thought = match[1]
    else:
        return response
    pieces = [piece for piece in (response.reasoning_text, thought.strip("\n")) if piece]
    return replace(response, text=response.text[match.end() :], reasoning_text="\n".join(pieces))
