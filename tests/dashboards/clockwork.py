"""A clock that runs as the machine's does, but can be moved on: hours of history in a minute."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta

_LONGEST_WAIT = 0.02


class MovedClock:
    """Begins ``before`` now, and is moved on by ``move``. Nobody waits for long."""

    def __init__(self, before: timedelta) -> None:
        self._moved = -before.total_seconds()

    def now(self) -> datetime:
        """Return the instant it shows, in UTC."""
        return datetime.now(UTC) + timedelta(seconds=self._moved)

    def monotonic(self) -> float:
        """Return seconds that go on when the clock is moved."""
        return time.monotonic() + self._moved

    async def sleep(self, seconds: float) -> None:
        """Wait for so long, but shortly."""
        await asyncio.sleep(min(seconds, _LONGEST_WAIT))

    def move(self, seconds: float) -> None:
        """Move it on."""
        self._moved += seconds

    def move_to(self, instant: datetime) -> None:
        """Move it on to an instant, unless that is past."""
        self._moved += max(0.0, (instant - self.now()).total_seconds())
