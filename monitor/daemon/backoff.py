"""When to leave a target alone: it asked for it, is far slower than usual, or its nodes are full.

Ordinary trials are then skipped. Trials at the context limit go on while a target is only slow:
they are few, and what fails under load is what they look for. Where even they must wait, that is
shown as not probed, never as silence.
"""

from __future__ import annotations

from monitor.conventions import SkipReason
from monitor.probes.base import BudgetKind

ASKED_TO_WAIT = frozenset({429, 503})
FIRST_SECONDS, LONGEST_SECONDS = 30.0, 1800.0
# Times slower than usual at which a target is left alone, and for how long.
FAR_SLOWER = 4.0
SLOW_SECONDS = 120.0
# The share of a node's memory or queue in use at which ordinary, then all trials wait.
HIGH_PRESSURE, FULL_PRESSURE = 0.8, 0.95


class Backoff:
    """What holds for one target now. Instants are monotonic seconds."""

    __slots__ = ("_refusals", "_slow_until", "_wait_until", "pressure")

    def __init__(self) -> None:
        self.pressure = 0.0
        self._refusals = 0
        self._wait_until = 0.0
        self._slow_until = 0.0

    def asked_to_wait(self, retry_after_seconds: float | None, now: float) -> None:
        """Note a 429 or 503: wait as long as was asked, else twice as long each time."""
        if retry_after_seconds is None:
            # What was sent before we began to wait is the same refusal.
            if now >= self._wait_until:
                self._refusals = min(self._refusals + 1, 16)
            seconds = FIRST_SECONDS * 2.0 ** (self._refusals - 1) if self._refusals else 0.0
        else:
            seconds = retry_after_seconds
        self._wait_until = max(self._wait_until, now + min(seconds, LONGEST_SECONDS))

    def answered(self, slowness: float, now: float) -> None:
        """Note an answer, and how many times slower than usual the last few were."""
        self._refusals = 0
        if slowness >= FAR_SLOWER:
            self._slow_until = now + SLOW_SECONDS

    def holds(self, budget: BudgetKind, now: float) -> SkipReason | None:
        """Return why a trial of this budget must wait, or ``None`` if it may go."""
        if now < self._wait_until:
            return SkipReason.RATE_LIMITED
        at_limit = budget is BudgetKind.BOUNDARY
        if self.pressure >= (FULL_PRESSURE if at_limit else HIGH_PRESSURE):
            return SkipReason.PRESSURE
        if now < self._slow_until and not at_limit:
            return SkipReason.SLOW
        return None
