"""What a block table holds, as text with roles: the responder's only view of the world."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from monitor.lab.jobs import Source
from monitor.lab.pages import Slots
from monitor.lab.tokenizer import FIRST_PIECE_ID, Special, Tokenizer

# In a reading a special token is one character of this private range; content cannot hold it.
_BASE = 0xE000
_FORGED = re.compile(r"[\ue000-\ue03f]")
_ROLE = {
    Special.SYSTEM: "system",
    Special.USER: "user",
    Special.ASSISTANT: "assistant",
    Special.TOOL: "tool",
}


def mark(special: Special) -> str:
    """Return the character that stands for a special token in a reading."""
    return chr(_BASE + special)


_MARKS = re.compile(r"[\ue000-\ue03f]+")
_TURN = re.compile(
    f"[{mark(Special.SYSTEM)}-{mark(Special.TOOL)}]"
    f"([^{mark(Special.SYSTEM)}-{mark(Special.TOOL)}{mark(Special.END)}]*)"
    f"({mark(Special.END)}?)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A message found in the pages: its role, its bounds in the text, and whether it ends."""

    role: str
    start: int
    end: int
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Text of all positions, and for every character the slot it was read from."""

    text: str
    slots: Slots
    offsets: tuple[int, ...]

    def source(self, at: int, kind: str) -> Source:
        """Return the origin of the character at an offset."""
        position = min(bisect_right(self.offsets, at) - 1, len(self.slots) - 1)
        cell = self.slots.cells[position]
        return Source(
            kind=kind,
            page=cell // self.slots.page_size,
            slot=cell % self.slots.page_size,
            writer=self.slots.writers[position],
        )

    def turns(self) -> list[Turn]:
        """Return the messages in order."""
        return [
            Turn(
                role=_ROLE[Special(ord(found.group()[0]) - _BASE)],
                start=found.start(1),
                end=found.end(1),
                complete=bool(found.group(2)),
            )
            for found in _TURN.finditer(self.text)
        ]

    def block(self, opening: Special, closing: Special) -> tuple[int, int] | None:
        """Return the bounds of the last block between two special tokens."""
        end = self.text.rfind(mark(closing))
        start = self.text.rfind(mark(opening), 0, end) if end >= 0 else -1
        return (start + 1, end) if start >= 0 else None

    @property
    def asks_for_an_answer(self) -> bool:
        """Return whether the text ends where an assistant turn begins."""
        return self.text.endswith(mark(Special.ASSISTANT))


def read(slots: Slots, tokenizer: Tokenizer) -> Reading:
    """Return the reading of what a block table holds."""
    pieces, offsets, length = [], [], 0
    for token in slots.tokens:
        piece = tokenizer.piece(token)
        if token < FIRST_PIECE_ID:
            piece = chr(_BASE + token)
        elif len(piece) == 1 and _FORGED.match(piece):
            piece = "\ufffd"
        pieces.append(piece)
        offsets.append(length)
        length += len(piece)
    return Reading(text="".join(pieces), slots=slots, offsets=tuple(offsets))


def without_marks(text: str) -> str:
    """Return a text without special tokens."""
    return _MARKS.sub(" ", text)
