"""The only place that reads the clock, sleeps, or makes random ids.

Everything else is given a ``Clock``, so tests run without waiting and with fixed ids.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Instants are UTC-aware; ``monotonic`` seconds measure durations."""

    def now(self) -> datetime:
        """Return the current instant in UTC."""

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start that never runs backwards."""

    async def sleep(self, seconds: float) -> None:
        """Wait for ``seconds``."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the current instant in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return the machine's monotonic seconds."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait for ``seconds`` without blocking the loop."""
        await asyncio.sleep(seconds)


def new_id(prefix: str) -> str:
    """Return a fresh id such as ``trial-6f1c…``: 96 random bits, safe in URLs and labels."""
    return f"{prefix}-{uuid.uuid4().hex[:24]}"
