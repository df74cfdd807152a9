"""Finding many words and phrases in a text in one pass, however they are written.

Both are cut into the same pieces: words of scripts with spaces, single characters of scripts
without, and signs that tell terms apart (``AT&T``). A tree of the terms' pieces is walked from
every piece of the text, so that ten thousand terms cost no more than one; the longest bounds the
walk. Case, width, and what stands between two pieces (spaces, dashes, line breaks, emphasis) make
no difference. Inflected forms, plurals and accents do: a term is what is written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from monitor.writing.scripts import UNSPACED, script

MOST_CHARACTERS = 200
LEAST_LETTERS = 2
MOST_SHAPES = 20_000

# Scripts in which a word has no border one could see, and Hangul, whose particles are glued on.
_BORDERLESS = UNSPACED | {"HANGUL"}
_LIGHT = frozenset("_*`'\"\u2018\u2019\u201c\u201d\u00ab\u00bb")
_LIGHT_CATEGORIES = frozenset({"Zs", "Zl", "Zp", "Cc", "Pd"})
# At the ends of a term these tell nothing; plus and hash do (C++, C#).
_ENDS = " .,;:!?()[]{}<>/\\&|\u3002\uff0c\u3001\uff01\uff1f\u300a\u300b\uff08\uff09"
_WORD, _CHARACTER, _MARK, _SIGN, _SPACE, _HIDDEN = "wcms z"
# Zero-width characters hide within a word, or stand for the space between two.
_HIDING = re.compile("w[wmz]*|cm*|m|s")
_PARTING = re.compile("w[wm]*|cm*|m|s")


class _Shapes(dict[int, str]):
    """What kind of piece a character belongs to, learnt as characters come.

    It stops learning when it knows many more than any language has, for hostile text can bring
    every character there is.
    """

    def __missing__(self, code: int) -> str:
        shape = _shape(chr(code))
        if len(self) < MOST_SHAPES:
            self[code] = shape
        return shape


def _shape(character: str) -> str:
    category = unicodedata.category(character)
    if _is_hidden(character):
        return _HIDDEN
    if character in _LIGHT or category in _LIGHT_CATEGORIES:
        return _SPACE
    if category[0] in "LN":
        return _CHARACTER if script(character) in _BORDERLESS else _WORD
    return _MARK if category[0] == "M" else _SIGN


def _is_hidden(character: str) -> bool:
    """True for zero-width characters, soft hyphens and variation selectors."""
    return unicodedata.category(character) == "Cf" or "\ufe00" <= character <= "\ufe0f"


@dataclass(frozen=True, slots=True)
class Found:
    """A term by its number in the list, and its half-open place in the text."""

    term: int
    start: int
    end: int


class _Node:
    """What may come after some pieces, and the term that ends with them."""

    __slots__ = ("after", "term")

    def __init__(self) -> None:
        self.after: dict[str, _Node] = {}
        self.term: int | None = None


class TermIndex:
    """The terms of one list, ready to be found."""

    def __init__(self, terms: Sequence[str]) -> None:
        self._shapes = _Shapes()
        self._root = _Node()
        for number, term in enumerate(terms):
            node = self._root
            for piece in self.key(term):
                node = node.after.setdefault(piece, _Node())
            if node is not self._root and node.term is None:
                node.term = number

    def key(self, term: str) -> tuple[str, ...]:
        """Return the term's pieces; two terms with the same are found in the same places."""
        return tuple(folded for folded, _, _ in self._pieces(term.strip(_ENDS), _HIDING))

    def find(self, text: str) -> list[Found]:
        """Return every place of every term, in order of place."""
        found = set(self._walk(self._pieces(text, _HIDING)))
        if any(_is_hidden(character) for character in set(text)):
            found |= set(self._walk(self._pieces(text, _PARTING)))
        return sorted(found, key=lambda each: (each.start, each.end, each.term))

    def _pieces(self, text: str, pattern: re.Pattern[str]) -> list[tuple[str, int, int]]:
        matches = pattern.finditer(text.translate(self._shapes))
        return [(_folded(text[m.start() : m.end()]), m.start(), m.end()) for m in matches]

    def _walk(self, pieces: list[tuple[str, int, int]]) -> Iterator[Found]:
        for first, (folded, start, _) in enumerate(pieces):
            node, at = self._root.after.get(folded), first
            while node is not None:
                if node.term is not None:
                    yield Found(node.term, start, pieces[at][2])
                at += 1
                node = node.after.get(pieces[at][0]) if at < len(pieces) else None


def _folded(piece: str) -> str:
    if piece.isascii():
        return piece.lower()
    plain = unicodedata.normalize("NFKC", piece).casefold()
    plain = unicodedata.normalize("NFKC", plain)
    return "".join(character for character in plain if not _is_hidden(character))


def letters(term: str) -> int:
    """Return how many letters and digits a term has."""
    return sum(unicodedata.category(character)[0] in "LN" for character in term)
