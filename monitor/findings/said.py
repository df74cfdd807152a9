"""How much may be said of a finding: it is kept for years, and stands in every version after it."""

from __future__ import annotations

from monitor.errors import UsageError

MOST_WHO = 200
MOST_WHY = 2000


def hold_to_bounds(who: str, why: str) -> None:
    """Raise ``UsageError`` if who says something of a finding, or why, is longer than is kept."""
    for option, text, most in (("--who", who, MOST_WHO), ("--why", why, MOST_WHY)):
        if len(text) > most:
            msg = f"{option}: {len(text):,} characters are too long; at most {most:,} are kept"
            raise UsageError(msg)
