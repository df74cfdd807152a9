"""Instants, lengths of time and shares as people type them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from monitor.errors import UsageError

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_AGO = re.compile(r"([0-9]{1,6})([smhd])", re.ASCII)
_SHARE = re.compile(r"([0-9]{1,2}(?:\.[0-9]{1,6})?)\s*%|(0?\.[0-9]{1,8})", re.ASCII)
_LEAST_SHARE, _MOST_SHARE = 0.001, 0.5
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


def parse_lasting(option: str, text: str) -> timedelta:
    """Return how long ``7d``, ``12h`` or ``30m`` is.

    Raises ``UsageError`` that names the option and what to write.
    """
    lasting = _AGO.fullmatch(text)
    if lasting is None:
        msg = f"{option}: {text[:_LONGEST]!a} is no length of time (write 7d, 12h or 30m)"
        raise UsageError(msg)
    return timedelta(**{_UNITS[lasting[2]]: int(lasting[1])})


def parse_share(option: str, text: str) -> float:
    """Return the share that ``5%`` or ``0.05`` is, from 0.1 % to 50 %.

    Raises ``UsageError`` that names the option and what to write.
    """
    found = _SHARE.fullmatch(text.strip())
    share = 0.0 if found is None else float(found[1]) / 100 if found[1] else float(found[2])
    if not _LEAST_SHARE <= share <= _MOST_SHARE:
        shown = ascii(text[:_LONGEST])
        msg = f"{option}: {shown} is no share from 0.1% to 50% (write 5% or 0.05)"
        raise UsageError(msg)
    return share
