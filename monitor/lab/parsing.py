"""From generated tokens to what the client gets: content, reasoning, tool calls."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from monitor.lab.steps import Reading
from monitor.lab.tokenizer import SPECIAL_TEXT, Special, Tokenizer


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call as the API shows it."""

    name: str
    arguments: str


@dataclass(slots=True, kw_only=True)
class OutputParser:
    """Reads tokens one after the other; streaming and whole answers take the same way."""

    tokenizer: Tokenizer
    reading: Reading
    stops: tuple[str, ...] = ()
    content: str = ""
    reasoning: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    stopped: bool = False
    _call: list[int] | None = None
    _in_reasoning: bool = False
    _sent: int = 0

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

    def _read(self, token: int) -> None:
        if token == Special.CALL:
            self._call = []
        elif token == Special.END_CALL:
            self._close_call()
        elif token == Special.THINK:
            self._in_reasoning = True
        elif token == Special.END_THINK:
            self._in_reasoning = False
        elif self._call is not None:
            self._call.append(token)
        elif self._in_reasoning:
            self.reasoning += self.tokenizer.piece(token)
        else:
            self._add(self._text(token))

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

    def _close_call(self) -> None:
        text = self.tokenizer.decode(self._call or [])
        self._call = None
        try:
            call = json.loads(text)
            arguments = json.dumps(call["arguments"], ensure_ascii=False)
            self.calls.append(ToolCall(name=call["name"], arguments=arguments))
        except (ValueError, KeyError, TypeError):
            self._add(text)

    def _held(self) -> int:
        longest = max((len(stop) for stop in self.stops), default=1)
        for size in range(min(longest - 1, len(self.content)), 0, -1):
            if any(stop.startswith(self.content[-size:]) for stop in self.stops):
                return size
        return 0
