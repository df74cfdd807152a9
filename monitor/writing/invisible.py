"""Characters that nobody sees, where no script, emoji or direction of writing needs them.

Persian and Indic words are joined and parted by them, Thai and Khmer break lines at them, emoji are
put together with them, and right-to-left text is marked up with them. Between the letters of a word
in Latin, Cyrillic or Chinese none of them has a use.
"""

from __future__ import annotations

import re
import unicodedata

from monitor.writing.scripts import CJK, script

# Signs of mathematics that nobody sees (U+2061 to U+2064) stand in formulas, and are none of these.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060"
    "\u2066-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_NEVER_NEEDED = frozenset("\u00ad\u2060\ufeff")
# Letters that neither join nor part by an invisible character.
_PLAIN = frozenset({"LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "GEORGIAN", "HANGUL", CJK})
_ACCENTS = range(0x300, 0x370)
# No emoji or word needs more than so many in a row: a flag of letters has seven.
MOST_IN_A_ROW = 8
_RUN = re.compile(f"{_INVISIBLE.pattern}+")
_HIDDEN = re.compile(rf"(?:\s|{_INVISIBLE.pattern})*")
_RIGHT_TO_LEFT = frozenset({"R", "AL"})


def invisible(text: str, known: frozenset[str] = frozenset()) -> list[tuple[int, int]]:
    """Return the half-open places of runs of invisible characters that nothing needs. O(n).

    Those in ``known`` were there before. What stands at either end of the text is none: a mark of
    the byte order, or what a gateway sends to keep a connection.
    """
    if text.isascii():
        return []
    first, last = _shown(text)
    runs = [run for run in _RUN.finditer(text, first, last) if not known.issuperset(run.group())]
    if not runs:
        return []
    two_ways = any(
        unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in set(text)
    )
    return [run.span() for run in runs if not _is_needed(run, text, two_ways=two_ways)]


def _shown(text: str) -> tuple[int, int]:
    """Return from where to where there is something to see."""
    before, after = _HIDDEN.match(text), _HIDDEN.match(text[::-1])
    first = before.end() if before else 0
    return first, max(first, len(text) - (after.end() if after else 0))


def _is_needed(run: re.Match[str], text: str, *, two_ways: bool) -> bool:
    before, after = text[run.start() - 1 : run.start()], text[run.end() : run.end() + 1]
    used = run.group()
    if len(used) > MOST_IN_A_ROW:
        return False
    return all(_serves(character, before, after, two_ways=two_ways) for character in set(used))


def _serves(character: str, before: str, after: str, *, two_ways: bool) -> bool:
    if character in _NEVER_NEEDED:
        return False
    if character in _DIRECTIONS:
        return two_ways
    if character in _FILLERS:
        return "HANGUL" in (script(before), script(after))
    if _SELECTORS.match(character) and not before.isascii():
        return script(before) in ("", CJK) or _joins(before)
    return _joins(before) or _joins(after)


def _joins(character: str) -> bool:
    """True for a sign, a mark, or a letter or digit of a script that uses joiners."""
    if character.isascii():
        return False
    category = unicodedata.category(character)
    if category[0] == "M":
        return ord(character) not in _ACCENTS
    if category[0] == "L":
        return script(character) not in _PLAIN
    return category in ("So", "Sm", "Sk", "Nd")
