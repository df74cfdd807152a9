"""Write a text in the plainest form of the same length, or nearly: what hides a value is undone.

Full-width and foreign digits, wide letters, odd dashes and spaces become ASCII; zero-width
characters and soft hyphens go. Places in the folded text lead back to the text as it was.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

# What separates the pieces of a text that are looked at together; it stands in no folded text.
PIECE_MARK = "\x1e"

# Unicode's default-ignorable and format characters that turn up in running text.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f]+"
)
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63"
_SPACES = "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f"
_WIDE = range(0xFF01, 0xFF5F)
_FIRST_FOREIGN_DIGIT, _LAST_FOREIGN_DIGIT = 0x0660, 0x1FBF9
_SURROGATES = range(0xD800, 0xE000)
_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text. ``cuts`` are (place in the folded text, characters dropped so far)."""

    text: str
    cuts: tuple[tuple[int, int], ...] = ()

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Return where a half-open place of the folded text stood in the text as it was."""
        return start + self._dropped(start), end - 1 + self._dropped(end - 1) + 1

    def _dropped(self, place: int) -> int:
        low, high = 0, len(self.cuts)
        while low < high:
            middle = (low + high) // 2
            if self.cuts[middle][0] <= place:
                low = middle + 1
            else:
                high = middle
        return self.cuts[low - 1][1] if low else 0


def fold(text: str) -> Folded:
    """Return ``text`` folded. Linear; a plain ASCII text is returned as it is."""
    if text.isascii():
        return Folded(text.replace(PIECE_MARK, " "))
    pieces: list[str] = []
    cuts: list[tuple[int, int]] = []
    kept = dropped = last = 0
    for gap in _INVISIBLE.finditer(text):
        pieces.append(text[last : gap.start()])
        kept += gap.start() - last
        dropped += gap.end() - gap.start()
        cuts.append((kept, dropped))
        last = gap.end()
    pieces.append(text[last:])
    return Folded("".join(pieces).translate(_plain_letters()), tuple(cuts))


def bare(value: str) -> str:
    """Return the letters and digits of a value, folded and in one case: how values compare."""
    return _NOT_ALPHANUMERIC.sub("", fold(value).text).casefold()


def digits(text: str) -> str:
    """Return the decimal digits of a text, all in a row."""
    return re.sub("[^0-9]+", "", fold(text).text)


def is_made_up(characters: str) -> bool:
    """True if digits or letters look like an example: few different ones, or a run in order.

    Of ten random digits 1 in 800 look so, nearly all for a digit five times in a row or three
    different ones only.
    """
    return len(set(characters)) <= _FEW or _longest_run(characters) >= _RUN


_FEW, _RUN = 3, 6
_NO_STEP = 2


def _longest_run(characters: str) -> int:
    """Return how many neighbours count up, count down or repeat, where that is longest.

    A repeated character counts for one more: 11111 is as odd as 123456.
    """
    longest = length = 1
    last_step = _NO_STEP
    for one, two in pairwise(characters):
        step = 1 if (one, two) == ("9", "0") else ord(two) - ord(one)
        if step not in (-1, 0, 1):
            length, step = 1, _NO_STEP
        else:
            length = length + 1 if step == last_step else 2
            longest = max(longest, length + (step == 0))
        last_step = step
    return longest


@cache
def _plain_letters() -> dict[int, str]:
    table = dict.fromkeys(map(ord, _DASHES), "-") | dict.fromkeys(map(ord, _SPACES), " ")
    table |= {code: chr(code - 0xFEE0) for code in _WIDE}
    for code in range(_FIRST_FOREIGN_DIGIT, _LAST_FOREIGN_DIGIT + 1):
        if chr(code).isdecimal():
            table[code] = str(unicodedata.decimal(chr(code)))
    table |= {0x3000: " ", ord(PIECE_MARK): " "}
    # No UTF-8 has lone surrogates, and libraries want UTF-8.
    return table | dict.fromkeys(_SURROGATES, "\ufffd")
