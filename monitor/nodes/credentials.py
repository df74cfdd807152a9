"""Whether what a server says repeats a credential, in whatever dress. Pure."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator

SHORTEST_SECRET = 8
"""Placeholders of nodes that take any credential ("none", "EMPTY") are part of ordinary names."""

_NO_LETTER = re.compile(r"[^a-z0-9]+")
# How often three letters of base64's input repeat in its output, which begins anew with each three.
_ALIGNMENTS = 3


class Credentials:
    """Credentials that are known, and what of them may be shown to nobody.

    A text repeats one if it has half of its letters in a row, and at least ``SHORTEST_SECRET``:
    as they are, backwards, in base64 or in hexadecimal, whatever the case and the marks between.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = {each for each in secrets if len(each) >= SHORTEST_SECRET}
        self._whole = tuple(sorted(known))
        self._runs: dict[int, set[str]] = {}
        for secret in known:
            for dress in _dresses(secret):
                length = max(SHORTEST_SECRET, (len(dress) + 1) // 2)
                self._runs.setdefault(length, set()).update(_pieces(dress, length))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self._whole)} known)"

    def repeated_in(self, text: str) -> bool:
        """Tell whether ``text`` repeats one of them."""
        if any(secret in text for secret in self._whole):
            return True
        plain = _letters(text)
        return any(
            piece in runs for length, runs in self._runs.items() for piece in _pieces(plain, length)
        )


def _letters(text: str) -> str:
    return _NO_LETTER.sub("", text.casefold())


def _pieces(text: str, length: int) -> Iterator[str]:
    """Yield all that ``length`` letters in a row of ``text`` are."""
    return (text[start : start + length] for start in range(len(text) - length + 1))


def _dresses(secret: str) -> Iterator[str]:
    raw = secret.encode()
    yield _letters(secret)
    yield _letters(secret)[::-1]
    yield raw.hex()
    for before in range(_ALIGNMENTS):
        # What stands before and after the secret changes the letters at its edges.
        coded = base64.b64encode(b"\0" * before + raw).decode().rstrip("=")
        yield _letters(coded[before + (before > 0) : -1])
