"""An answer before it is tokens: pieces of text that know where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Origin(StrEnum):
    """Whether a piece was read in the pages or known without them."""

    PAGES = "pages"
    WEIGHTS = "weights"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Text of an answer. ``at`` is the offset in the reading of the source, or of the cue."""

    text: str
    at: int
    origin: Origin = Origin.WEIGHTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The pieces of a whole answer.

    ``plain`` is true if the wording is free: no format was asked for. A ``call`` is the text of a
    tool call. A ``thought`` comes before the answer and is none of it.
    """

    pieces: tuple[Piece, ...]
    plain: bool = True
    call: bool = False
    thought: str = ""

    @property
    def text(self) -> str:
        """Return the answer's text."""
        return "".join(piece.text for piece in self.pieces)


def copied(text: str, at: int) -> Piece:
    """Return a piece that stands in the pages at this offset, word for word."""
    return Piece(text=text, at=at, origin=Origin.PAGES)


def known(text: str, at: int) -> Piece:
    """Return a piece the model makes itself, called for by the text at this offset."""
    return Piece(text=text, at=at)


def joined(answers: list[list[Piece]], separator: str, at: int) -> list[Piece]:
    """Return all answers in a row."""
    pieces: list[Piece] = []
    for number, answer in enumerate(answers):
        if number:
            pieces.append(known(separator, at))
        pieces += answer
    return pieces
