"""Text as it is searched for codes and planted values: folded, escapes undone, places traceable."""

from __future__ import annotations

import re
import unicodedata
from array import array
from dataclasses import dataclass

# A model answers inside URLs and JSON strings too, and those stand in other JSON strings; in
# Markdown, where punctuation may be escaped, and in HTML, where addresses hide as references.
# Whoever writes all in capitals changes the letters of escapes too. Runs of other characters that
# are not ASCII are found along with them.
_SPECIAL = re.compile(
    r"(?P<escape>\\{1,4}(?:[uU][0-9a-fA-F]{4}|[nrtNRT/\"]|[.@_*()-])|%[0-9a-fA-F]{2}"
    r"|&#(?:[xX][0-9a-fA-F]{1,6}|[0-9]{1,7});)|[^\x00-\x7f]+"
)
_NAMED = {"n": "\n", "r": "\r", "t": "\t"}
_LAST_CHARACTER = 0x10FFFF


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text. ``origins``: where each of its characters began in the original, and ended.

    ``None`` means that nothing has moved.
    """

    text: str
    origins: tuple[array[int], array[int]] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the half-open place in the original of a non-empty place in ``text``."""
        if self.origins is None:
            return start, end
        starts, ends = self.origins
        return starts[start], ends[end - 1]


def fold(text: str) -> Folded:
    """Return the text in NFKC and lower case, digits as ASCII, without invisible characters.

    Escapes of JSON (of JSON within JSON too), URLs, Markdown and HTML are undone. Takes time in
    proportion to the text.
    """
    if text.isascii() and not any(sign in text for sign in ("\\", "%", "&#")):
        return Folded(text.lower())
    folding = _Folding(text)
    at = 0
    for found in _SPECIAL.finditer(text):
        start, end = found.span()
        folding.take_ascii(at, start)
        if found["escape"]:
            folding.take(_unescaped(found["escape"]), start, end)
        else:
            folding.take_others(start, end)
        at = end
    folding.take_ascii(at, len(text))
    return folding.done()


class _Known(dict[str, str]):
    """What characters become, worked out once for each of a text."""

    def __missing__(self, character: str) -> str:
        plain = self[character] = _plain(character)
        return plain


class _Folding:
    """A text that is being folded, piece by piece from its beginning."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._pieces: list[str] = []
        # Arrays, for an answer may have millions of characters.
        self._starts, self._ends = array("q"), array("q")
        self._known = _Known()

    def take(self, character: str, start: int, end: int) -> None:
        """Take a character that stands at this place of the text."""
        plain = self._known[character]
        self._pieces.append(plain)
        for _ in plain:
            self._starts.append(start)
            self._ends.append(end)

    def take_others(self, start: int, end: int) -> None:
        """Take a run of characters that are not ASCII. Mostly each becomes one."""
        plains = list(map(self._known.__getitem__, self._text[start:end]))
        self._pieces.extend(plains)
        if all(len(plain) == 1 for plain in plains):
            self._stay(start, end)
        else:
            places = [at for at, plain in enumerate(plains, start) for _ in plain]
            self._starts.extend(places)
            self._ends.extend([at + 1 for at in places])

    def take_ascii(self, start: int, end: int) -> None:
        """Take a stretch of plain ASCII at once: nothing moves in it."""
        self._pieces.append(self._text[start:end].lower())
        self._stay(start, end)

    def _stay(self, start: int, end: int) -> None:
        self._starts.extend(range(start, end))
        self._ends.extend(range(start + 1, end + 1))

    def done(self) -> Folded:
        """Return the whole."""
        return Folded("".join(self._pieces), (self._starts, self._ends))


def _unescaped(escape: str) -> str:
    if escape.startswith("&#"):
        digits = escape[2:-1]
        code = int(digits[1:], 16) if digits[0] in "xX" else int(digits)
        return chr(code) if code <= _LAST_CHARACTER else "\ufffd"
    code_or_sign = escape.lstrip("\\%")
    if len(code_or_sign) == 1:
        return _NAMED.get(code_or_sign.lower(), code_or_sign)
    return chr(int(code_or_sign.lower().removeprefix("u"), 16))


def _plain(character: str) -> str:
    if unicodedata.category(character) == "Cf":
        return ""
    folded = unicodedata.normalize("NFKC", character).casefold()
    if len(folded) == 1:
        return str(unicodedata.decimal(folded, folded))
    return "".join(str(unicodedata.decimal(each, each)) for each in folded)
