"""JSON as RFC 8259 wants it: each name once, no NaN and no infinity."""

from __future__ import annotations

import json
from typing import Any

MAX_JSON = 200_000  # characters


class _NotJson:
    """What text that is no JSON becomes; JSON itself can be ``None``."""


NOT_JSON = _NotJson()


def parse_json(text: str) -> object:
    """Return what JSON text means, or `NOT_JSON` if it is none, far too long or far too deep.

    A name that occurs twice, ``NaN`` and ``Infinity`` are refused: readers differ in what they
    make of them (RFC 8259, sections 4 and 6).
    """
    if len(text) > MAX_JSON:
        return NOT_JSON
    try:
        return json.loads(text, object_pairs_hook=once_each, parse_constant=refuse)
    except (ValueError, RecursionError):
        return NOT_JSON


def once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of these pairs. Raises ``ValueError`` if a name occurs twice."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name occurs twice")
    return made


def refuse(constant: str) -> object:
    """Raise ``ValueError``: a number that JSON does not have."""
    raise ValueError(constant)
