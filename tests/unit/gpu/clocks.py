"""A clock that stands still until a test moves it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class MovedClock:
    """Says the time it was moved to."""

    def __init__(self) -> None:
        self.at = datetime(2026, 12, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return self.at.timestamp()

    async def sleep(self, seconds: float) -> None:
        self.move(seconds)

    def move(self, seconds: float) -> None:
        """Let so many seconds go by."""
        self.at += timedelta(seconds=seconds)
