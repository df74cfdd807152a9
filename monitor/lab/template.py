"""The chat template: messages, tools and the wanted format become tokens, and nothing else does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from monitor.lab.tokenizer import Special, Tokenizer

_ROLES = {
    "system": Special.SYSTEM,
    "developer": Special.SYSTEM,
    "user": Special.USER,
    "assistant": Special.ASSISTANT,
    "tool": Special.TOOL,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message as the template sees it."""

    role: str
    content: str
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """All of a request that the model gets to see."""

    messages: tuple[ChatMessage, ...]
    tools: tuple[str, ...] = ()
    wanted_format: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A rendered chat; ``head_tokens`` counts the beginning up to the first user turn."""

    tokens: list[int] = field(default_factory=list)
    head_tokens: int = 0


def known_role(role: str) -> bool:
    """Return whether the template has a token for this role."""
    return role in _ROLES


def render(chat: Chat, tokenizer: Tokenizer) -> Prompt:
    """Return the prompt that asks for the next assistant turn."""
    tokens: list[int] = [Special.BOS]
    rest = list(chat.messages)
    while rest and _ROLES[rest[0].role] is Special.SYSTEM:
        tokens += _turn(rest.pop(0), tokenizer)
    if chat.tools:
        tokens += _block(Special.TOOLS, chat.tools, Special.END_TOOLS, tokenizer)
    if chat.wanted_format:
        tokens += _block(Special.FORMAT, [chat.wanted_format], Special.END_FORMAT, tokenizer)
    head = len(tokens)
    for message in rest:
        tokens += _turn(message, tokenizer)
    return Prompt(tokens=[*tokens, Special.ASSISTANT], head_tokens=head)


def _turn(message: ChatMessage, tokenizer: Tokenizer) -> list[int]:
    tokens: list[int] = [_ROLES[message.role], *tokenizer.encode(message.content)]
    for call in message.calls:
        tokens += [Special.CALL, *tokenizer.encode(call), Special.END_CALL]
    return [*tokens, Special.END]


def _block(
    opening: Special, texts: Sequence[str], closing: Special, tokenizer: Tokenizer
) -> list[int]:
    return [opening, *tokenizer.encode("\n".join(texts)), closing]


def compact_json(value: object) -> str:
    """Return JSON on one line, other scripts in clear, as models write it."""
    return json.dumps(value, ensure_ascii=False)
