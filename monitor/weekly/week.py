"""Weeks as ISO 8601 counts them, from Monday to Monday in UTC."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

_LABEL = re.compile(r"([0-9]{4})-W([0-9]{2})", re.ASCII)
_WEEK = timedelta(days=7)
# The store keeps instants of no more years, and reports look some weeks back.
_FIRST_YEAR, _LAST_YEAR = 2000, 2199


@dataclass(frozen=True, slots=True, order=True)
class Week:
    """A week by its Monday. Raises ``ValueError`` for another day."""

    monday: date

    def __post_init__(self) -> None:
        if self.monday.weekday():
            raise ValueError(f"{self.monday} is no Monday")

    @classmethod
    def parse(cls, text: str) -> Week:
        """Return the week of a label such as ``2026-W48``. Raises ``ValueError``."""
        found = _LABEL.fullmatch(text)
        if found is None:
            raise ValueError("no week")
        year = int(found[1])
        if not _FIRST_YEAR <= year <= _LAST_YEAR:
            raise ValueError(f"no year from {_FIRST_YEAR} to {_LAST_YEAR}")
        return cls(date.fromisocalendar(year, int(found[2]), 1))

    @classmethod
    def of(cls, instant: datetime) -> Week:
        """Return the week that an instant is in."""
        day = instant.astimezone(UTC).date()
        return cls(day - timedelta(days=day.weekday()))

    @classmethod
    def last_before(cls, instant: datetime) -> Week:
        """Return the last week that is over at an instant."""
        return cls.of(instant).earlier(1)

    def earlier(self, weeks: int) -> Week:
        """Return the week so many weeks before."""
        return Week(self.monday - weeks * _WEEK)

    def weeks_since(self, earlier: Week) -> int:
        """Return how many weeks later this one is."""
        return (self.monday - earlier.monday) // _WEEK

    @property
    def label(self) -> str:
        """The week as people and folders call it: ``2026-W48``."""
        year, number, _ = self.monday.isocalendar()
        return f"{year:04d}-W{number:02d}"

    @property
    def since(self) -> datetime:
        """Its first moment."""
        return datetime.combine(self.monday, time(), UTC)

    @property
    def until(self) -> datetime:
        """The first moment after it."""
        return self.since + _WEEK

    @property
    def days(self) -> tuple[date, ...]:
        """Its seven days."""
        return tuple(self.monday + timedelta(days=number) for number in range(7))
