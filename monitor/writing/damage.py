"""Places of a text that stand for text which could not be read. All of it linear in the text.

Three kinds: characters without a meaning, marks stacked as no language stacks them, and UTF-8 that
was read byte by byte (mojibake: ``â€™`` for an apostrophe).
"""

from __future__ import annotations

import re

from monitor.writing.scripts import is_damaged

# No language puts four of these marks on one letter: Hebrew with cantillation stays within its own.
_STACKED = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f]{4,}")


def _byte(value: int) -> str:
    """Return what a byte becomes in Windows-1252, or in Latin-1 where that has nothing."""
    return bytes([value]).decode("cp1252", errors="ignore") or chr(value)


_NEXT = "".join(re.escape(_byte(value)) for value in range(0x80, 0xC0))
# French closes quotations with a no-break space, an ellipsis or a quotation mark after a letter
# such as é; as bytes these would go on with it.
_CLOSING = frozenset({0x85, 0x91, 0x92, 0x93, 0x94, 0x96, 0x97, 0xA0, 0xAB, 0xBB})
_SECOND = "".join(re.escape(_byte(v)) for v in range(0x80, 0xC0) if v not in _CLOSING)
_MOJIBAKE = re.compile(
    f"[\u00c2\u00c3][{_NEXT}]"
    f"|(?:[\u00c4-\u00df][{_NEXT}]){{3,}}"
    f"|[\u00e0-\u00ef][{_SECOND}][{_NEXT}]"
    f"|\u00f0[{_SECOND}][{_NEXT}][{_NEXT}]"
)


def damaged(text: str, known: frozenset[str]) -> list[tuple[int, int]]:
    """Return the half-open places of damage in ``text``; characters in ``known`` are none.

    ``known`` are the characters of what was asked: they were there before. Neighbouring damaged
    characters are places of their own: a run of five counts five times.
    """
    bad = {character for character in set(text) - known if is_damaged(character)}
    places = [(i, i + 1) for i, c in enumerate(text) if c in bad] if bad else []
    if not text.isascii():
        for pattern in (_STACKED, _MOJIBAKE):
            places += [m.span() for m in pattern.finditer(text) if not known.issuperset(m.group())]
    return sorted(places)
