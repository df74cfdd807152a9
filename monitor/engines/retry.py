"""How long a target asks to be left alone: the Retry-After header (RFC 9110, section 10.2.3)."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

# A target that asks for more is asked again after this: a probe must not be silenced for days.
LONGEST_SECONDS = 3600.0

_SECONDS = re.compile(r"[0-9]{1,9}")


def retry_after_seconds(value: str | None, now: datetime) -> float | None:
    """Return the seconds from ``now``, 0 to an hour; ``None`` if nothing readable was asked."""
    text = (value or "").strip()[:64]
    if _SECONDS.fullmatch(text):
        return min(float(text), LONGEST_SECONDS)
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return min(max((at - now).total_seconds(), 0.0), LONGEST_SECONDS)
