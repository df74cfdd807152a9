"""Which script a letter belongs to, and what stands for text that could not be read.

Python knows no script property, but the names of the Unicode standard begin with the script (its
chapter 4.8): ``THAI CHARACTER KO KAI``. So every script is known, those of later Unicode versions
too once Python knows their names. A test compares all letters with the standard's own property.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import lru_cache

# Scripts that one language writes side by side count once.
CJK = "CJK"
_JAPANESE = ("HENTAIGANA", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA")
_WRITTEN_TOGETHER = dict.fromkeys(
    (*_JAPANESE, "BOPOMOFO", "CJK", "IDEOGRAPHIC", "OLD CHINESE"), CJK
)
# First words of names of letters that belong to Latin, and of those that belong to no script:
# phonetic marks, signs of mathematics and of print.
_LATIN = frozenset({"FEMININE", "KELVIN", "ANGSTROM", "MASCULINE", "ROMAN", "TURNED"})
_NO_SCRIPT = frozenset(
    {"ALEF", "BET", "GIMEL", "DALET", "CARON", "EULER", "INFORMATION", "MASU", "MICRO", "MODIFIER"}
    | {"OHM", "PLANCK", "SCRIPT", "SUPERSCRIPT", "VEDIC", "VERTICAL", "MATHEMATICAL"}
    | {"BLACK-LETTER", "DOUBLE-STRUCK"}
)
# Names of scripts whose first word is shared.
_TWO_WORDS = frozenset({"INSCRIPTIONAL", "LINEAR", "MEROITIC", "OL", "OLD", "TAI"})
_WIDTHS = frozenset({"FULLWIDTH", "HALFWIDTH"})
# Scripts in which no space parts two words.
UNSPACED = frozenset({CJK, "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN"})
# Python has no names for the ideographs of Tangut.
_UNNAMED = "TANGUT"

# A newer Unicode than Python's may have given a meaning to what stands so near to characters that
# have one; pictographs and the ideographs of planes 2 and 3 grow by some each year.
_MAYBE_NEWER = 32
_GROWING = (range(0x1F000, 0x1FB00), range(0x20000, 0x40000))
_STAND_FOR_DAMAGE = frozenset("\ufffc\ufffd\ufff9\ufffa\ufffb")
_DAMAGED_CATEGORIES = frozenset({"Co", "Cs"})
_UNASSIGNED = frozenset({"Cn", "Co", "Cs"})
_WHITE = frozenset("\t\n\r\v\f\x85")


@lru_cache(maxsize=8192)
def script(letter: str) -> str:
    """Return the script of one letter in capitals (``LATIN``, ``THAI``, ``CJK``), else ``""``.

    Letters of Chinese, Japanese and Bopomofo are ``CJK``, Hangul is not. What is no letter, and
    letters of mathematics and phonetics, have none.
    """
    if letter.isascii():
        return "LATIN" if letter.isalpha() else ""
    if not unicodedata.category(letter).startswith("L"):
        return ""
    return _by_name(unicodedata.name(letter, _UNNAMED))


def _by_name(name: str) -> str:
    first, _, rest = name.partition(" ")
    if first in _WIDTHS:
        first, _, rest = rest.partition(" ")
    if first in _LATIN:
        return "LATIN"
    if first in _NO_SCRIPT:
        return ""
    if first in _TWO_WORDS:
        first = f"{first} {rest.partition(' ')[0]}"
    return _WRITTEN_TOGETHER.get(first, first)


def scripts(text: str) -> Counter[str]:
    """Return how many letters of each script ``text`` has. O(n), whatever the characters."""
    found: Counter[str] = Counter()
    for letter, count in Counter(text).items():
        if name := script(letter):
            found[name] += count
    return found


@lru_cache(maxsize=8192)
def is_damaged(character: str) -> bool:
    """Tell whether a character stands for what could not be read, or means nothing.

    These are replacement characters, control characters but white space, lone surrogates, private
    use, and code points that no version of Unicode has given a meaning, as far as can be told.
    """
    if character in _STAND_FOR_DAMAGE:
        return True
    category = unicodedata.category(character)
    if category == "Cc":
        return character not in _WHITE
    if category == "Cn":
        return not _may_be_newer(ord(character))
    return category in _DAMAGED_CATEGORIES


def _may_be_newer(code: int) -> bool:
    if code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF:  # noqa: PLR2004 - never characters
        return False
    if any(code in growing for growing in _GROWING):
        return True
    around = range(max(0, code - _MAYBE_NEWER), code + _MAYBE_NEWER + 1)
    # Hostile text has every code point, and sixty are around each.
    return not _UNASSIGNED.issuperset(map(unicodedata.category, map(chr, around)))
