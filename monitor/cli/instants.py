"""Instants as people type them: a date, a time, or how long ago."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from monitor.errors import UsageError

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_AGO = re.compile(r"([0-9]{1,6})([smhd])", re.ASCII)
_LONGEST = 40


def parse_instant(option: str, text: str, now: datetime) -> datetime:
    """Return the instant (UTC) that ``text`` names; one without a zone is UTC.

    ``2026-11-02`` is its first moment, ``2026-11-02T14:30`` a time, ``7d`` or ``12h`` that long
    before ``now``. Raises ``UsageError`` that names the option and what to write.
    """
    ago = _AGO.fullmatch(text)
    try:
        if ago is not None:
            return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        instant = datetime.fromisoformat(text)
        return (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        shown = ascii(text[:_LONGEST])
        msg = (
            f"{option}: {shown} is no time (write a date such as 2026-11-02, a time such as "
            "2026-11-02T14:30, or how long ago: 7d, 12h, 30m)"
        )
        raise UsageError(msg) from None
