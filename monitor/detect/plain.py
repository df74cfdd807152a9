"""Numbers that come back from where a state was kept: read strictly, or refused.

A state that was damaged or written by something else must not be taken for one: evidence that
nobody gathered would page, or evidence that was gathered would be gone unseen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def record(value: object, *keys: str) -> Mapping[str, Any]:
    """Return a mapping of exactly these keys. Raises ``ValueError`` for anything else."""
    if not isinstance(value, Mapping) or value.keys() != set(keys):
        raise ValueError(f"not the state of a detector: it needs {', '.join(keys)}")
    return value


def items(value: object, *, most: int, least: int = 0) -> list[Any]:
    """Return a list of so many. Raises ``ValueError`` for anything else."""
    if not isinstance(value, (list, tuple)) or not least <= len(value) <= most:
        raise ValueError(f"not the state of a detector: it needs a list of {least} to {most}")
    return list(value)


def number(value: object, *, low: float, high: float) -> float:
    """Return a finite number in [low, high]. Raises ``ValueError`` for NaN, truth and text too."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise ValueError(f"not the state of a detector: it needs a number in [{low:g}, {high:g}]")
    if not math.isfinite(value):
        raise ValueError("not the state of a detector: infinite")
    return float(value)


def count(value: object, *, low: int = 0, high: int = 2**63 - 1) -> int:
    """Return a whole number in [low, high]. Raises ``ValueError`` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"not the state of a detector: it needs a count in [{low}, {high}]")
    return value
