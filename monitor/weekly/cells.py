"""Values as people read them in the tables of the page."""

from __future__ import annotations

from datetime import datetime
from enum import Enum
from typing import Any

_NOT_KNOWN = "\u2013"
_RATIOS = ("_ratio", "_at_least", "_at_most", "budget_left", "budget_left_low", "budget_left_high")
_BUDGET = "budget_left"
_SPENT = {"budget_left_low": "at worst ", "budget_left_high": "at best "}
_TINY = 0.01
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_SECONDS = "seconds"
# From here on four digits would be a power of ten, and up to there whole numbers are exact.
_LARGE, _LARGEST = 10_000, 1e15


def heading(name: str) -> str:
    """Return the heading of a column: times are told in the unit that fits, not in seconds."""
    return name.replace(_SECONDS, "time").replace("_", " ")


def cell(name: str, value: Any) -> str:
    """Return the text of a cell; of what is not known a dash."""
    if value is None or value in ("", ()):
        return _NOT_KNOWN
    if isinstance(value, float):
        return _number(name, value)
    return _plain(value)


def _plain(value: Any) -> str:
    match value:
        case Enum():
            return str(value.value).replace("_", " ")
        case bool():
            return "yes" if value else "no"
        case datetime():
            return f"{value:%Y-%m-%d %H:%M:%S}"
        case tuple():
            return ", ".join(map(str, value))
        case int():
            return f"{value:,}"
        case _:
            return str(value)


def _number(name: str, value: float) -> str:
    if name.startswith(_BUDGET) and value < 0:
        # A budget of which nothing is left: how many of them were spent.
        return f"{_SPENT.get(name, '')}spent {1 - value:,.1f} times"
    if name.endswith(_RATIOS):
        return percent(value)
    if name.startswith(f"{_SECONDS}_") or name.endswith(f"_{_SECONDS}"):
        return duration(value)
    if _LARGE <= abs(value) < _LARGEST:
        return f"{value:,.0f}"
    return f"{value:,.4g}"


def percent(ratio: float) -> str:
    """Return a ratio in percent, with more digits the smaller it is; never rounded to 0 or 100."""
    share = 100 * ratio
    if share in (0, 100):
        return f"{share:.0f} %"
    near = min(abs(share), abs(100 - share))
    digits = 2 if near >= _TINY else 4
    shown = f"{share:.{digits}f}"
    if float(shown) in (0, 100):
        return "< 0.0001 %" if abs(share) < 1 else "> 99.9999 %"
    return f"{shown} %"


def duration(seconds: float) -> str:
    """Return a duration in the largest unit that fits."""
    if seconds >= _DAY:
        return f"{seconds / _DAY:.1f} d"
    if seconds >= _HOUR:
        return f"{seconds / _HOUR:.1f} h"
    return f"{seconds / _MINUTE:.1f} min" if seconds >= _MINUTE else f"{seconds:.3g} s"
