"""Other ways in which a text can be read: letters set apart, lines joined, backwards, decoded.

What is somebody else's stays theirs however it is written: a gateway's header holds a session in
base64, a model spells a word, a column is too narrow for a code. Each way is one more text to
search, so it is paid for (``monitor.canaries.evidence``).
"""

from __future__ import annotations

import binascii
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from monitor.canaries.proquint import MAX_SEPARATOR_CHARACTERS

# A marker has 23 characters, of which three groups are proof: shorter pieces show nothing.
_LETTERS_APART = 15
_APART = re.compile(
    rf"(?<![^\W_])[^\W_](?:[\W_]{{1,5}}[^\W_]){{{_LETTERS_APART},}}(?![^\W_])", re.ASCII
)
_BETWEEN = re.compile(r"(?<=[^\W_])([\W_]{1,5})(?=[^\W_])", re.ASCII)
# A hyphen of the break stays out as well; groups that it parted are found written together.
_BREAK = re.compile(r"(?<=[^\W_])-?\r?\n(?=[^\W_])", re.ASCII)
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:[0-9A-Fa-f]{2}){16,}(?![0-9A-Za-z])")
# Either alphabet of RFC 4648; encoders break lines after 64 or 76 characters.
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/_-]{4}){5,}(?:\r?\n(?:[A-Za-z0-9+/_-]{4})+)*[A-Za-z0-9+/_-]*")
_STANDARD = str.maketrans("-_", "+/", "\r\n")
# What was decoded is a text, or it was none.
_TEXT_SHARE = 0.9
# Between two stretches of a text: no groups at their ends are neighbours.
_APART_FROM_IT = "\n" * (MAX_SEPARATOR_CHARACTERS + 1)


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as it is read in another way: where each of its characters stood in the original."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the half-open place in the original of a non-empty place in ``text``."""
        return min(self.starts[start:end]), max(self.ends[start:end])


def readings(text: str) -> Iterator[tuple[str, Reading]]:
    """Yield the text as it can be read otherwise, and how, in words. O(n).

    Ways in which nothing of the text is written are left out.
    """
    for words, read in WAYS:
        reading = read(text)
        if reading is not None:
            yield words, reading


class _Joined:
    """A text that is put together from stretches of another."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._starts, self._ends = array("q"), array("q")

    def keep(self, text: str, start: int, end: int) -> None:
        """Take a stretch of ``text`` as it is."""
        self._pieces.append(text[start:end])
        self._starts.extend(range(start, end))
        self._ends.extend(range(start + 1, end + 1))

    def replace(self, by: str, start: int, end: int) -> None:
        """Take another text for a whole stretch: each of its characters stands for all of it."""
        self._pieces.append(by)
        self._starts.extend([start] * len(by))
        self._ends.extend([end] * len(by))

    def done(self) -> Reading:
        """Return the whole."""
        return Reading("".join(self._pieces), self._starts, self._ends)


def _spelled(text: str) -> Reading | None:
    """Join letters that stand alone, with the same sign or space between most of them."""
    joined, found = _Joined(), False
    for stretch in _APART.finditer(text):
        start, end = stretch.span()
        between = list(_BETWEEN.finditer(text, start, end))
        usual = Counter(gap.group() for gap in between).most_common(1)[0][0]
        at = start
        for gap in between:
            if gap.group() == usual:
                joined.keep(text, at, gap.start())
                at = gap.end()
        joined.keep(text, at, end)
        joined.replace(_APART_FROM_IT, end - 1, end)
        found = True
    return joined.done() if found else None


def _unbroken(text: str) -> Reading | None:
    """Leave out the line breaks within what may be one word."""
    joined, at = _Joined(), 0
    for found in _BREAK.finditer(text):
        joined.keep(text, at, found.start())
        at = found.end()
    if not at:
        return None
    joined.keep(text, at, len(text))
    return joined.done()


def _backwards(text: str) -> Reading | None:
    """Turn the text round."""
    count = len(text)
    places = range(count - 1, -1, -1), range(count, 0, -1)
    return Reading(text[::-1], *places) if count else None


def _decoded(text: str) -> Reading | None:
    """Undo base64 and hexadecimal digits, where a text comes of it."""
    joined, found = _Joined(), False
    for pattern, decode in ((_BASE64, _of_base64), (_HEX, bytes.fromhex)):
        for run in pattern.finditer(text):
            said = decode(run.group()).decode("utf-8", "replace")
            if _is_text(said):
                joined.replace(said + _APART_FROM_IT, *run.span())
                found = True
    return joined.done() if found else None


def _of_base64(run: str) -> bytes:
    letters = run.translate(_STANDARD)
    # One letter has too few bits for a byte: it belongs to what follows.
    whole = letters[: -1 if len(letters) % 4 == 1 else None]
    return binascii.a2b_base64(whole + "=" * (-len(whole) % 4))


def _is_text(said: str) -> bool:
    plain = sum(each.isprintable() or each.isspace() for each in said) - said.count("\ufffd")
    return plain >= _TEXT_SHARE * len(said)


WAYS: tuple[tuple[str, Callable[[str], Reading | None]], ...] = (
    ("its letters set apart", _spelled),
    ("with line breaks within", _unbroken),
    ("written backwards", _backwards),
    ("encoded", _decoded),
)
