"""Text of others made harmless: what cannot be seen, or turns the line, is written out."""

from __future__ import annotations

import dataclasses
import unicodedata
from typing import Any, TypeVar

MOST_CHARACTERS = 500
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
R = TypeVar("R")


def visible(text: str) -> str:
    """Return text with control, format and bidirectional characters as ``[U+202E]``, not too long.

    Combining marks beyond two in a row are written out too: they would cover other lines.
    """
    shown, marks = [], 0
    for character in text[:MOST_CHARACTERS]:
        category = unicodedata.category(character)
        marks = marks + 1 if category in {"Mn", "Me"} else 0
        hidden = category in _HIDDEN or marks > 2  # noqa: PLR2004 - see above
        shown.append(f"[U+{ord(character):04X}]" if hidden else character)
    left = len(text) - MOST_CHARACTERS
    return "".join(shown) + (f"[and {left} more characters]" if left > 0 else "")


def harmless(record: R) -> R:
    """Return a record, with all records below it, whose every text is ``visible``."""
    changes = {
        field.name: _harmless(getattr(record, field.name))
        for field in dataclasses.fields(record)  # type: ignore[arg-type]  # always a dataclass
    }
    return dataclasses.replace(record, **changes)  # type: ignore[type-var]  # the same


def _harmless(value: Any) -> Any:
    if type(value) is str:
        return visible(value)
    if isinstance(value, tuple):
        return tuple(_harmless(each) for each in value)
    return harmless(value) if dataclasses.is_dataclass(value) else value
