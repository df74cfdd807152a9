"""Proquint groups: 16 bits as consonant-vowel-consonant-vowel-consonant.

Alphabet of D. S. Wilkerson, "A proposal for proquints" (arXiv 0901.4016): pronounceable, four
letters of vowel and sixteen of consonant, so a group is five letters and models copy it well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from monitor.canaries.folding import fold

CONSONANTS = "bdfghjklmnprstvz"
VOWELS = "aiou"
GROUP_BITS = 16
GROUPS_PER_MARKER = 4
# Between two groups of one marker a model may write hyphens, spaces, new lines, emphasis marks.
MAX_SEPARATOR_CHARACTERS = 6

_C, _V = f"[{CONSONANTS}]", f"[{VOWELS}]"
_GROUP = re.compile(f"{_C}{_V}{_C}{_V}{_C}")
_GLUED = re.compile(f"(?:{_C}{_V}{_C}{_V}{_C})+")
_RUN = re.compile(r"[a-z0-9]+")


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


def chains(text: str) -> list[list[Group]]:
    """Return the groups of ``text`` in runs of neighbours, dictionary words left out.

    Neighbours stand at most ``MAX_SEPARATOR_CHARACTERS`` apart with no letter or digit between
    them, as the text is read (`fold`); groups written together count as neighbours too.
    """
    folded = fold(text)
    words = dictionary_words()
    found: list[list[Group]] = []
    last_end = -MAX_SEPARATOR_CHARACTERS - 1
    for run in _RUN.finditer(folded.text):
        if not _GLUED.fullmatch(run.group()) or run.group() in words:
            last_end = -MAX_SEPARATOR_CHARACTERS - 1
            continue
        groups = [
            Group(m.group(), *folded.span(run.start() + m.start(), run.start() + m.end()))
            for m in _GROUP.finditer(run.group())
        ]
        if run.start() - last_end <= MAX_SEPARATOR_CHARACTERS:
            found[-1].extend(groups)
        else:
            found.append(groups)
        last_end = run.end()
    return found


def substitutions(one: str, other: str) -> int:
    """Count the places where two groups of equal length differ."""
    return sum(a != b for a, b in zip(one, other, strict=True))
