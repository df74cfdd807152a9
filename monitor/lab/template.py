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
    # The request it was taken from, if that is another one.
    writer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Borrowed:
    """A stretch of a prompt that is another request's: its bounds, and whose it is."""

    start: int
    end: int
    writer: str


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
    borrowed: tuple[Borrowed, ...] = ()


def known_role(role: str) -> bool:
    """Return whether the template has a token for this role."""
    return role in _ROLES


def render(chat: Chat, tokenizer: Tokenizer) -> Prompt:
    """Return the prompt that asks for the next assistant turn."""
    tokens: list[int] = [Special.BOS]
    rest, borrowed = list(chat.messages), []
    while rest and _ROLES[rest[0].role] is Special.SYSTEM:
        start, message = len(tokens), rest.pop(0)
        tokens += _turn(message, tokenizer)
        if message.writer:
            borrowed.append(Borrowed(start=start, end=len(tokens), writer=message.writer))
    if chat.tools:
        tokens += _block(Special.TOOLS, chat.tools, Special.END_TOOLS, tokenizer)
    if chat.wanted_format:
        tokens += _block(Special.FORMAT, [chat.wanted_format], Special.END_FORMAT, tokenizer)
    head = len(tokens)
    for message in rest:
        tokens += _turn(message, tokenizer)
    tokens.append(Special.ASSISTANT)
    return Prompt(tokens=tokens, head_tokens=head, borrowed=tuple(borrowed))


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
