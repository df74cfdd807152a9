"""Small pieces of PromQL, quoted so that a name from a file cannot end a selector."""

from __future__ import annotations

import re
from collections.abc import Iterable


def quoted(value: str) -> str:
    """Return a string literal of PromQL."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def equals(label: str, value: str) -> str:
    """Return a matcher for exactly this value."""
    return f"{label}={quoted(value)}"


def fits(label: str, pattern: str) -> str:
    """Return a matcher for a regular expression that is meant as one."""
    return f"{label}=~{quoted(pattern)}"


def one_of(label: str, values: Iterable[str]) -> str:
    """Return a matcher for any of these values, whatever characters they have."""
    chosen = tuple(values)
    if len(chosen) == 1:
        return equals(label, chosen[0])
    return fits(label, "|".join(re.escape(value).replace("\\-", "-") for value in chosen))


def selector(metric: str, *matchers: str) -> str:
    """Return ``metric{…}``, without braces if nothing narrows it."""
    inside = ",".join(matcher for matcher in matchers if matcher)
    return f"{metric}{{{inside}}}" if inside else metric


def summed(expr: str, by: Iterable[str]) -> str:
    """Return the sum of an expression by these labels; over everything if there are none."""
    labels = ", ".join(by)
    return f"sum by ({labels}) ({expr})" if labels else f"sum({expr})"


def last_said(selected: str) -> str:
    """Return what a series last said within the hour.

    A gauge that is latched ends with its exporter. What it said holds on meanwhile: a monitor that
    fell silent did not say that all is well.
    """
    return f"last_over_time({selected}[1h])"
