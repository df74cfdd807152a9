"""The burn tiers as data: how fast a budget burns, over which two windows, and whom that calls.

Source: The Site Reliability Workbook, chapter 5, "Alerting on SLOs" (14.4, 6 and 1 of a 30-day
budget; the short window is a twelfth of the long one). 3 times over a day is the customary fourth.
"""

from __future__ import annotations

from dataclasses import dataclass

MINUTE, HOUR, DAY = 60, 3_600, 86_400
_UNITS = (("d", DAY), ("h", HOUR), ("m", MINUTE), ("s", 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class BurnTier:
    """Fires while the budget burns ``burn`` times too fast over both windows (seconds)."""

    name: str
    burn: float
    long_seconds: int
    short_seconds: int
    severity: str


FAST = BurnTier(
    name="fast", burn=14.4, long_seconds=HOUR, short_seconds=5 * MINUTE, severity="critical"
)
MEDIUM = BurnTier(
    name="medium", burn=6, long_seconds=6 * HOUR, short_seconds=30 * MINUTE, severity="critical"
)
SLOW = BurnTier(name="slow", burn=3, long_seconds=DAY, short_seconds=2 * HOUR, severity="warning")
TRICKLE = BurnTier(
    name="trickle", burn=1, long_seconds=3 * DAY, short_seconds=6 * HOUR, severity="warning"
)
# Fastest first: a tier inhibits those after it.
BURN_TIERS: tuple[BurnTier, ...] = (FAST, MEDIUM, SLOW, TRICKLE)


def promql_duration(seconds: float) -> str:
    """Return ``5m``, ``6h`` or ``30d``: the window as PromQL writes it, in its largest unit."""
    whole = int(seconds)
    unit, size = next((u, s) for u, s in _UNITS if whole % s == 0)
    return f"{whole // size}{unit}"
