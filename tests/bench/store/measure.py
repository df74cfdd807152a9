"""Times and sizes, and how a page says them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of the same thing done again and again."""

    seconds: tuple[float, ...]

    @property
    def p50(self) -> float:
        """Half took less."""
        return quantile(self.seconds, 0.5)

    @property
    def p99(self) -> float:
        """One in a hundred took longer; of fewer than a hundred the longest."""
        return quantile(self.seconds, 0.99)


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which a share of all lies; 0 of nothing."""
    return sorted(values)[min(int(len(values) * share), len(values) - 1)] if values else 0.0


def repeated(do: Callable[[], object], *, budget_seconds: float, most: int) -> Times:
    """Do it once to warm up, then until so many seconds are spent, at least three times.

    With no seconds to spend it is done once in all.
    """
    seconds: list[float] = []
    least = 3 if budget_seconds else 1
    if budget_seconds:
        do()
    while len(seconds) < least or (sum(seconds) < budget_seconds and len(seconds) < most):
        started = time.perf_counter()
        do()
        seconds.append(time.perf_counter() - started)
    return Times(tuple(seconds))


def said(seconds: float) -> str:
    """Return a duration with its unit: two or three digits."""
    if seconds < 1.0:
        return f"{seconds * 1000:.1f} ms" if seconds < 0.1 else f"{seconds * 1000:.0f} ms"
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"


def megabytes(size: float) -> str:
    """Return a size in MB or GB."""
    if size >= 1e9:
        return f"{size / 1e9:.1f} GB"
    return f"{size / 1e6:.0f} MB" if size >= 1e7 else f"{size / 1e6:.1f} MB"


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return a table in Markdown."""
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    return lines + [f"| {' | '.join(map(str, row))} |" for row in rows]
