"""Text of others made harmless: what cannot be seen, or turns the line, is written out."""

from __future__ import annotations

import dataclasses
import unicodedata
from functools import cache
from operator import is_
from typing import Any, TypeVar

MOST_CHARACTERS = 500
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
R = TypeVar("R")


def visible(text: str) -> str:
    """Return text with control, format and bidirectional characters as ``[U+202E]``, not too long.

    Combining marks beyond two in a row are written out too: they would cover other lines.
    """
    if text.isascii() and text.isprintable() and len(text) <= MOST_CHARACTERS:
        return text
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
    changes = {}
    kind: type = type(record)
    for name in _names(kind):
        value = getattr(record, name)
        shown = _harmless(value)
        # A report has a hundred thousand values, and nearly all of them are harmless as they are.
        if shown is not value:
            changes[name] = shown
    if not changes:
        return record
    return dataclasses.replace(record, **changes)  # type: ignore[type-var]  # always a dataclass


@cache
def _names(record: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(record))


def _harmless(value: Any) -> Any:
    kind: type = type(value)
    if kind is str:
        return visible(value)
    if kind is tuple:
        shown = tuple(_harmless(each) for each in value)
        return value if all(map(is_, shown, value)) else shown
    return harmless(value) if _is_record(kind) else value


@cache
def _is_record(kind: type) -> bool:
    return dataclasses.is_dataclass(kind)
