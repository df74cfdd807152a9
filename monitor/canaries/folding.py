"""Text as it is searched for planted values: folded, escapes undone, every place traceable."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

# A model answers inside URLs and JSON strings too, and those stand in other JSON strings; in
# Markdown, where punctuation may be escaped, and in HTML, where addresses hide as references.
_ESCAPE = re.compile(
    r"\\{1,4}(?:u[0-9a-fA-F]{4}|[nrt/\"]|[.@_*()-])|%[0-9a-fA-F]{2}"
    r"|&#(?:[xX][0-9a-fA-F]{1,6}|[0-9]{1,7});"
)
_NAMED = {"n": "\n", "r": "\r", "t": "\t"}
_LAST_CHARACTER = 0x10FFFF


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text. ``origins`` holds, for each of its characters, where that came from.

    ``None`` means that nothing has moved.
    """

    text: str
    origins: tuple[tuple[int, int], ...] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the half-open place in the original of a non-empty place in ``text``."""
        if self.origins is None:
            return start, end
        return self.origins[start][0], self.origins[end - 1][1]


def fold(text: str) -> Folded:
    """Return the text in NFKC and lower case, digits as ASCII, without invisible characters.

    Escapes of JSON (of JSON within JSON too), URLs, Markdown and HTML are undone. Takes time in
    proportion to the text.
    """
    if text.isascii() and not any(sign in text for sign in ("\\", "%", "&#")):
        return Folded(text.lower())
    folded: list[str] = []
    origins: list[tuple[int, int]] = []
    known: dict[str, str] = {}
    for start, end, character in _characters(text):
        plain = known.get(character)
        if plain is None:
            plain = known[character] = _plain(character)
        folded.append(plain)
        origins.extend([(start, end)] * len(plain))
    return Folded("".join(folded), tuple(origins))


def _characters(text: str) -> list[tuple[int, int, str]]:
    """Return the characters with their places; an escape counts as the one it stands for."""
    found: list[tuple[int, int, str]] = []
    at = 0
    for escape in _ESCAPE.finditer(text):
        found.extend((place, place + 1, text[place]) for place in range(at, escape.start()))
        found.append((escape.start(), escape.end(), _unescaped(escape.group())))
        at = escape.end()
    found.extend((place, place + 1, text[place]) for place in range(at, len(text)))
    return found


def _unescaped(escape: str) -> str:
    if escape.startswith("&#"):
        digits = escape[2:-1]
        code = int(digits[1:], 16) if digits[0] in "xX" else int(digits)
        return chr(code) if code <= _LAST_CHARACTER else "\ufffd"
    code_or_sign = escape.lstrip("\\%")
    if len(code_or_sign) == 1:
        return _NAMED.get(code_or_sign, code_or_sign)
    return chr(int(code_or_sign.removeprefix("u"), 16))


def _plain(character: str) -> str:
    if unicodedata.category(character) == "Cf":
        return ""
    folded = unicodedata.normalize("NFKC", character).casefold()
    return "".join(str(unicodedata.decimal(each, each)) for each in folded)
