"""Loops and repeated n-grams in a text. Every function takes time linear in the text.

No ratio of compression is used: on healthy text a zlib ratio above 2.4 is met by 52 % of Python
and 93 % of JSON pieces of 1000 characters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from monitor.writing.prose import is_running
from monitor.writing.scripts import UNSPACED, script

WINDOW_CHARACTERS = 2000
LEAST_REPETITIONS = 4
LEAST_CHARACTERS = 60
LONGEST_PERIOD = 500

# n-grams of words, and of characters in scripts that write no spaces between words.
WORDS = 8
CHARACTERS = 16
# Words, or the characters of a text without spaces between them; so is an n-gram of either.
_Words = tuple[str, ...] | str
# Each anchor looks for the next place of its few characters; a loop of the least length holds at
# least one anchor within its first half.
_ANCHOR = 8
_STEP = 12
# An answer that is its own first part several times over, white space left out: shorter ones are
# names and exclamations (New York, Baden-Baden, yes yes), figures have few different characters.
LEAST_COPY, LEAST_DIFFERENT = 16, 8
# A piece of a line that stands twice, end to end.
LEAST_PIECE, LONGEST_PIECE = 12, 200
LEAST_LETTERS = 5
LINE_CHARACTERS = 1_000
_UNSAID = re.compile(r"[\t/\\_@=&%#<>{}\[\]|+$^~*`\"]|'[,;]|(?:^|\w)[.:(]\w")


@dataclass(frozen=True, slots=True)
class Loop:
    """A stretch that is one period again and again; the last repetition may be cut."""

    start: int
    end: int
    period: int

    @property
    def length(self) -> int:
        """How many characters it has."""
        return self.end - self.start


def tail_loop(text: str) -> int:
    """Return how many characters at the end of ``text`` are a loop; 0 if they are none.

    The longest end of the last 2000 characters that is at least four repetitions of one period
    and at least 60 characters. A text reversed, its failure function (Knuth, Morris, Pratt 1977)
    gives the smallest period of every prefix, which is an end of the text.
    """
    tail = text[-WINDOW_CHARACTERS:][::-1]
    longest = 0
    for size, period in _periods(tail):
        if size >= LEAST_CHARACTERS and size >= LEAST_REPETITIONS * period:
            longest = size
    return longest


def smallest_period(text: str) -> int:
    """Return after how many characters ``text`` begins again, to its end; its length if never."""
    period = len(text)
    for _, period in _periods(text):  # noqa: B007 - the last one counts
        pass
    return period


def _periods(text: str) -> Iterator[tuple[int, int]]:
    """Yield the size of every prefix from two characters on, with its smallest period."""
    borders = [0] * (len(text) + 1)
    border = 0
    for end in range(1, len(text)):
        while border and text[end] != text[border]:
            border = borders[border]
        border += text[end] == text[border]
        borders[end + 1] = border
        yield end + 1, end + 1 - border


def loops(text: str, *, characters: int = LEAST_CHARACTERS) -> Iterator[Loop]:
    """Yield loops of at least four repetitions and so many characters, wherever they stand.

    Periods of up to 500 characters are found. Now and then one is missed whose period begins like
    its own middle; ``tail_loop`` is exact, but looks at the end alone.
    """
    here = 0
    while here + _ANCHOR <= len(text):
        anchor = text[here : here + _ANCHOR]
        again = text.find(anchor, here + 1, here + _ANCHOR + LONGEST_PERIOD)
        period = again - here
        if again >= 0 and not anchor.isspace():
            least = max(characters, LEAST_REPETITIONS * period)
            half = least // 2
            if text[here : here + half] == text[here + period : here + period + half]:
                found = _grown(text, here, period)
                if found.length >= least:
                    yield found
                    here = max(here, found.end - _STEP)
        here += _STEP


def _grown(text: str, start: int, period: int) -> Loop:
    end = start + period
    while start and text[start - 1] == text[start - 1 + period]:
        start -= 1
    while end < len(text) and text[end] == text[end - period]:
        end += 1
    return Loop(start, end, period)


@dataclass(frozen=True, slots=True)
class Copies:
    """A text that is one and the same several times over: its first part, without white space."""

    part: str
    times: int


def copies(text: str) -> Copies | None:
    """Return of what the whole text is several copies, white space left out. O(n)."""
    folded = "".join(text.split())
    size = (folded + folded).find(folded, 1)
    if size >= len(folded) or size < LEAST_COPY or len(set(folded)) < LEAST_DIFFERENT:
        return None
    return Copies(folded[:size], len(folded) // size)


def stutters(text: str) -> Iterator[Loop]:
    """Yield pieces of 12 to 200 characters that stand twice, end to end. O(n).

    They are made of words, in a line of running text: figures, cells of a table, paths and names in
    code double themselves when healthy, and so do lines: a line's end counts only where the piece
    begins within a word. Now and then one is missed whose piece begins like its own
    middle.
    """
    here, step = 0, LEAST_PIECE - _ANCHOR + 1
    while here + _ANCHOR <= len(text):
        anchor = text[here : here + _ANCHOR]
        again = text.find(anchor, here + 1, here + _ANCHOR + LONGEST_PIECE)
        period = again - here
        if period >= LEAST_PIECE:
            found = _grown(text, here, period)
            if found.length >= 2 * period:
                if _is_said(text, found):
                    yield found
                here = max(here, found.end - step)
        here += step


def _is_within_word(text: str, place: int) -> bool:
    return all(c.isalnum() or c == "-" for c in text[max(0, place - 1) : place + 1]) and place > 0


def _is_said(text: str, found: Loop) -> bool:
    """True if it is a piece of words, in a line of running text."""
    piece = text[found.start : found.start + found.period]
    letters = [character for character in piece.casefold() if character.isalpha()]
    many = 2 * len(letters) > len(piece) and len(set(letters)) >= LEAST_LETTERS
    if not many or _UNSAID.search(piece):
        return False
    is_words = " " in piece or not piece.isascii()
    if not is_words and not piece.islower():
        return False
    # Lines and names are written twice; what begins within a word was not written so.
    if ("\n" in piece or not is_words) and not _is_within_word(text, found.start):
        return False
    first = max(text.rfind("\n", 0, found.start) + 1, found.start - LINE_CHARACTERS)
    line = text[first : found.end + LINE_CHARACTERS].partition("\n")[0]
    return is_running(line)


@dataclass(frozen=True, slots=True)
class Repeated:
    """Which share of a text's words stands in n-grams that stand there twice, or three times."""

    twice: float
    thrice: float
    words: int


def repeated(text: str, given: Iterable[str] = ()) -> Repeated:
    """Return how much of ``text`` is said more than once; what ``given`` says does not count."""
    unspaced = _is_unspaced(text)
    words = _words(text, unspaced=unspaced)
    size = CHARACTERS if unspaced else WORDS
    grams = list(_grams(words, size))
    counts = Counter(grams)
    again = {gram for gram, count in counts.items() if count > 1}
    quoted: set[_Words] = set()
    for other in given if again else ():
        quoted |= again.intersection(_grams(_words(other, unspaced=unspaced), size))
    often = {gram for gram in again if counts[gram] > 2}  # noqa: PLR2004 - three times
    ours, twice, thrice = (
        _covered(grams, wanted, len(words)) for wanted in (quoted, again - quoted, often - quoted)
    )
    return Repeated(_share(twice, ours), _share(thrice, ours), len(words))


def _share(marks: bytearray, without: bytearray) -> float:
    return sum(a > b for a, b in zip(marks, without, strict=True)) / max(1, len(marks))


def _covered(grams: list[_Words], wanted: set[_Words], words: int) -> bytearray:
    """Mark the words that stand in one of the wanted n-grams."""
    marks = bytearray(words)
    for place, gram in enumerate(grams):
        if gram in wanted:
            marks[place : place + len(gram)] = b"\1" * len(gram)
    return marks


def _is_unspaced(text: str) -> bool:
    letters = [name for letter in text[:WINDOW_CHARACTERS] if (name := script(letter))]
    return sum(name in UNSPACED for name in letters) * 2 > len(letters)


def _words(text: str, *, unspaced: bool) -> _Words:
    return "".join(text.split()) if unspaced else tuple(text.casefold().split())


def _grams(words: _Words, size: int) -> Iterator[_Words]:
    """Yield the n-grams one by one: what was given may be a prompt of a million tokens."""
    return (words[start : start + size] for start in range(len(words) - size + 1))
