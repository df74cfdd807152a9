"""Text of others made harmless: what cannot be seen, or turns the line, is written out."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Mapping
from functools import cache
from operator import is_
from types import MappingProxyType
from typing import Any, TypeVar

MOST_CHARACTERS = 500
# What we say ourselves is told to its end; names of others in it are few, and bounded where read.
MOST_OF_OURS = 4_000
# Metadata of a field whose text is ours.
OURS: Mapping[str, bool] = MappingProxyType({"ours": True})
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
R = TypeVar("R")


def visible(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return text with control, format and bidirectional characters as ``[U+202E]``, not too long.

    Combining marks beyond two in a row are written out too: they would cover other lines.
    """
    if text.isascii() and text.isprintable() and len(text) <= most:
        return text
    shown, marks = [], 0
    for character in text[:most]:
        category = unicodedata.category(character)
        marks = marks + 1 if category in {"Mn", "Me"} else 0
        hidden = category in _HIDDEN or marks > 2  # noqa: PLR2004 - see above
        shown.append(f"[U+{ord(character):04X}]" if hidden else character)
    left = len(text) - most
    return "".join(shown) + (f"[and {left} more characters]" if left > 0 else "")


def harmless(record: R) -> R:
    """Return a record, with all records below it, whose every text is ``visible``.

    Of the texts of others the rest is cut off; fields marked as ``OURS`` are whole.
    """
    changes = {}
    kind: type = type(record)
    for name, most in _fields(kind):
        value = getattr(record, name)
        shown = _harmless(value, most)
        # A report has a hundred thousand values, and nearly all of them are harmless as they are.
        if shown is not value:
            changes[name] = shown
    if not changes:
        return record
    return dataclasses.replace(record, **changes)  # type: ignore[type-var]  # always a dataclass


@cache
def _fields(record: type) -> tuple[tuple[str, int], ...]:
    """Return the fields of a record, each with how long a text in it may be."""
    return tuple(
        (field.name, MOST_OF_OURS if field.metadata.get("ours") else MOST_CHARACTERS)
        for field in dataclasses.fields(record)
    )


def _harmless(value: Any, most: int) -> Any:
    kind: type = type(value)
    if kind is str:
        return visible(value, most)
    if kind is tuple:
        shown = tuple(_harmless(each, most) for each in value)
        return value if all(map(is_, shown, value)) else shown
    return harmless(value) if _is_record(kind) else value


@cache
def _is_record(kind: type) -> bool:
    return dataclasses.is_dataclass(kind)
