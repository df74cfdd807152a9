"""From generated tokens to what the client gets: content, reasoning, tool calls."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from monitor.lab.steps import Reading
from monitor.lab.tokenizer import SPECIAL_TEXT, Special, Tokenizer

_CALL_HEAD = re.compile(r'\s*\{"name": ("(?:[^"\\]|\\.)*"), "arguments": ')
_JSON_SIGN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]')


@dataclass(slots=True, kw_only=True)
class ToolCall:
    """One call as the API shows it; ``arguments`` may be cut if the answer was."""

    name: str
    arguments: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPart:
    """News of a call: its name when it begins, then its arguments bit by bit."""

    index: int
    name: str | None = None
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class _Spoken:
    """A token of the content and where its text starts."""

    token: int
    start: int


@dataclass(slots=True, kw_only=True)
class OutputParser:
    """Reads tokens one after the other; streaming and whole answers take the same way."""

    tokenizer: Tokenizer
    reading: Reading
    stops: tuple[str, ...] = ()
    name_of: Callable[[str], str] = str
    content: str = ""
    reasoning: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    stopped: bool = False
    reasoning_tokens: int = 0
    _call: str | None = None
    _open: ToolCall | None = None
    _in_reasoning: bool = False
    _sent: int = 0
    _sent_reasoning: int = 0
    _sent_calls: list[int] = field(default_factory=list)
    _spoken: list[_Spoken] = field(default_factory=list)
    _sent_spoken: int = 0

    def __post_init__(self) -> None:
        """Take the state that the chat template leaves the output in."""
        self._in_reasoning = self.reading.starts_in_reasoning

    def feed(self, tokens: list[int]) -> None:
        """Read some tokens; ignore everything after a stop string."""
        for token in tokens:
            if self.stopped:
                return
            self._read(token)

    def fresh(self, *, final: bool) -> str:
        """Return content not handed out before, keeping back what may become a stop string."""
        end = len(self.content) - (0 if final or self.stopped else self._held())
        new, self._sent = self.content[self._sent : end], max(self._sent, end)
        return new

    def fresh_reasoning(self) -> str:
        """Return reasoning not handed out before."""
        new, self._sent_reasoning = self.reasoning[self._sent_reasoning :], len(self.reasoning)
        return new

    def fresh_calls(self) -> list[CallPart]:
        """Return what the calls have gained since the last time."""
        parts = []
        for index, call in enumerate(self.calls):
            if index == len(self._sent_calls):
                self._sent_calls.append(0)
                parts.append(CallPart(index=index, name=call.name))
            new = call.arguments[self._sent_calls[index] :]
            if new:
                parts.append(CallPart(index=index, arguments=new))
                self._sent_calls[index] += len(new)
        return parts

    def spoken(self) -> list[str]:
        """Return the texts of all tokens that the content was made of, after an empty one."""
        return ["", *self._texts(self._spoken, len(self.content))]

    def fresh_spoken(self) -> list[str]:
        """Return the texts of the tokens that ``fresh`` handed out last, and the one before."""
        start = self._sent_spoken
        before = self._text(self._spoken[start - 1].token) if start else ""
        new = self._texts(self._spoken[start:], self._sent)
        self._sent_spoken += len(new)
        return [before, *new]

    def _texts(self, spoken: list[_Spoken], end: int) -> list[str]:
        return [self._text(one.token) for one in spoken if one.start < end]

    def _read(self, token: int) -> None:
        if token == Special.CALL:
            self._call, self._open = "", None
        elif token == Special.END_CALL:
            self._close_call()
        elif token == Special.THINK:
            self._in_reasoning = True
        elif token == Special.END_THINK:
            self._in_reasoning = False
        elif self._call is not None:
            self._call += self.tokenizer.piece(token)
            self._read_call(self._call)
        elif self._in_reasoning:
            self.reasoning += self.tokenizer.piece(token)
            self.reasoning_tokens += 1
        else:
            text = self._text(token)
            if text:
                self._spoken.append(_Spoken(token, len(self.content)))
            self._add(text)

    def _text(self, token: int) -> str:
        piece = self.tokenizer.piece(token)
        if not piece and self.reading.shows_specials:
            return SPECIAL_TEXT[Special(token)]
        return piece

    def _add(self, text: str) -> None:
        self.content += text
        found = [at for stop in self.stops if (at := self.content.find(stop)) >= 0]
        if found:
            self.content, self.stopped = self.content[: min(found)], True

    def _read_call(self, text: str) -> None:
        head = _CALL_HEAD.match(text)
        if head is None:
            return
        if self._open is None:
            self._open = ToolCall(name=self._name(head.group(1)))
            self.calls.append(self._open)
        self._open.arguments = _first_value(text[head.end() :])

    def _name(self, quoted: str) -> str:
        try:
            return self.name_of(str(json.loads(quoted)))
        except ValueError:
            return self.name_of(quoted.strip('"'))

    def _close_call(self) -> None:
        text, begun = self._call or "", self._open is not None
        self._call = self._open = None
        if not begun:
            self._add(text)

    def _held(self) -> int:
        longest = max((len(stop) for stop in self.stops), default=1)
        for size in range(min(longest - 1, len(self.content)), 0, -1):
            if any(stop.startswith(self.content[-size:]) for stop in self.stops):
                return size
        return 0


def _first_value(text: str) -> str:
    """Return the JSON object or array that a text begins with, or all of it if it is cut."""
    depth = 0
    for sign in _JSON_SIGN.finditer(text):
        if sign.group() in "{[":
            depth += 1
        elif sign.group() in "}]":
            depth -= 1
            if depth <= 0:
                return text[: sign.end()]
    return text
