"""Proquint groups: 16 bits as consonant-vowel-consonant-vowel-consonant.

Alphabet of D. S. Wilkerson, "A proposal for proquints" (arXiv 0901.4016): pronounceable, four
letters of vowel and sixteen of consonant, so a group is five letters and models copy it well.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

CONSONANTS = "bdfghjklmnprstvz"
VOWELS = "aiou"
GROUP_LETTERS = 5
GROUP_BITS = 16
GROUPS_PER_MARKER = 4
# Between two groups of one marker a model may write hyphens, spaces, new lines, emphasis marks.
MAX_SEPARATOR_CHARACTERS = 6

_C, _V = f"[{CONSONANTS}]", f"[{VOWELS}]"
_GROUP = re.compile(f"{_C}{_V}{_C}{_V}{_C}")
_GLUED = re.compile(f"(?:{_C}{_V}{_C}{_V}{_C})+")
# Escapes are separators, not letters: models answer inside JSON strings and URLs too.
_RUN = re.compile(r"\\u[0-9a-f]{4}|\\[nrt]|%[0-9a-f]{2}|[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Group:
    """A proquint-shaped group and its place in the original text (half-open)."""

    letters: str
    start: int
    end: int


def encode(value: int) -> str:
    """Return the five letters of a 16-bit value. Raises ``ValueError`` outside 0..65535."""
    if not 0 <= value < 1 << GROUP_BITS:
        msg = f"a proquint group holds 16 bits, not {value}"
        raise ValueError(msg)
    shifts = ((12, 15, CONSONANTS), (10, 3, VOWELS), (6, 15, CONSONANTS), (4, 3, VOWELS))
    head = "".join(letters[(value >> shift) & mask] for shift, mask, letters in shifts)
    return head + CONSONANTS[value & 15]


@cache
def dictionary_words() -> frozenset[str]:
    """English words that look like a group (``limit``, ``human``): never minted."""
    text = files("monitor").joinpath("shipped/proquint_words.txt").read_text("utf-8")
    return frozenset(line for line in text.splitlines() if line and not line.startswith("#"))


def normalise(text: str) -> tuple[str, list[int] | None]:
    """Return the text in NFKC, folded, without invisible characters, and each place's origin.

    The second value maps a place in the first to its place in ``text``; ``None`` means they are
    the same.
    """
    if text.isascii():
        return text.lower(), None
    letters: list[str] = []
    origins: list[int] = []
    for place, character in enumerate(text):
        if unicodedata.category(character) == "Cf":
            continue
        folded = unicodedata.normalize("NFKC", character).casefold()
        letters.append(folded)
        origins.extend([place] * len(folded))
    return "".join(letters), origins


def chains(text: str) -> list[list[Group]]:
    """Return the groups of ``text`` in runs of neighbours, dictionary words left out.

    Neighbours stand at most ``MAX_SEPARATOR_CHARACTERS`` apart with no letter or digit between
    them; groups written together without any separator count as neighbours too.
    """
    folded, origins = normalise(text)
    words = dictionary_words()
    found: list[list[Group]] = []
    last_end = -MAX_SEPARATOR_CHARACTERS - 1
    for run in _RUN.finditer(folded):
        if run.group()[0] in "\\%":
            continue
        if not _GLUED.fullmatch(run.group()) or run.group() in words:
            last_end = -MAX_SEPARATOR_CHARACTERS - 1
            continue
        groups = [
            _located(run.start() + m.start(), m.group(), origins)
            for m in _GROUP.finditer(run.group())
        ]
        if run.start() - last_end <= MAX_SEPARATOR_CHARACTERS:
            found[-1].extend(groups)
        else:
            found.append(groups)
        last_end = run.end()
    return found


def _located(start: int, letters: str, origins: list[int] | None) -> Group:
    end = start + GROUP_LETTERS
    if origins is None:
        return Group(letters, start, end)
    return Group(letters, origins[start], origins[end - 1] + 1)


def substitutions(one: str, other: str) -> int:
    """Count the places where two groups of equal length differ."""
    return sum(a != b for a, b in zip(one, other, strict=True))
