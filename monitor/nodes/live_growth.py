"""By how much a node's counters grew between readings, whatever one of them leaves out. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from monitor.nodes.record import NodeCounter, NodeSnapshot

# A counter that was left out for longer, while others were told, did not grow just now.
LONGEST_GAP = timedelta(minutes=30)
# Instants of a start are worked out by some engines; they differ by this without a restart.
_SAME_START_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """What counters grew ``by`` since each was last told.

    ``untold`` are those of which it cannot be told. ``restarted`` says that the process is another
    one, or may be: what the old one counted after its last reading nobody knows. If it began
    later, growth is what the new one counted.
    """

    by: Mapping[NodeCounter, float]
    untold: frozenset[NodeCounter] = frozenset()
    restarted: bool = False


class NodeCounts:
    """The counters of one node, as each was last told."""

    def __init__(self) -> None:
        self._at: datetime | None = None
        self._started: float | None = None
        self._told: dict[NodeCounter, tuple[datetime, float]] = {}
        # What was unclear before it was ever told: nobody knows from where it counts.
        self._unclear: set[str] = set()
        # What fell, by what it had been: it may come back with all of that.
        self._fallen: dict[NodeCounter, float] = {}

    def take(self, snapshot: NodeSnapshot) -> Growth | None:
        """Take a reading; ``None`` if it tells no counters, is the first, or comes twice.

        A counter that was never told and never unclear began at 0: engines make some at the first
        event. One that falls without a later start may be that of a new process, or may lack a
        rank in this reading; so nothing is known of any that is not 0. Where it rises past what it
        had been, the rank may be back, and again nothing is known.
        """
        counts, now = snapshot.live.counters, snapshot.read_at
        if not (snapshot.reached and counts) or (self._at is not None and now <= self._at):
            return None
        restarted = self._follow_start(snapshot.live.started_seconds)
        before, self._at = self._at, now
        fell = any(value < self._last(kind) for kind, value in counts.items())
        grown = {
            kind: None if fell and value else self._growth(kind, value, before)
            for kind, value in counts.items()
        }
        self._keep(counts, now)
        self._unclear |= {gap.fact for gap in snapshot.gaps}
        if before is None:
            return None
        return Growth(
            by={kind: value for kind, value in grown.items() if value is not None},
            untold=frozenset(kind for kind, value in grown.items() if value is None),
            restarted=restarted or fell,
        )

    def has_told(self, kind: NodeCounter) -> bool:
        """Return true if the process told this counter in any reading."""
        return kind in self._told

    def _follow_start(self, started: float | None) -> bool:
        """Take when the process began; forget the old one's counters if it is a later one."""
        if started is None:
            return False
        later = self._started is not None and started > self._started + _SAME_START_SECONDS
        if later:
            self._told, self._unclear, self._fallen = {}, set(), {}
        if later or self._started is None:
            self._started = started
        return later

    def _last(self, kind: NodeCounter) -> float:
        return self._told[kind][1] if kind in self._told else 0.0

    def _growth(self, kind: NodeCounter, value: float, before: datetime | None) -> float | None:
        if value == 0:
            return 0.0
        if kind not in self._told:
            return None if kind.value in self._unclear else value
        at, last = self._told[kind]
        left_out = before is not None and at < before
        if left_out and self._at is not None and self._at - at > LONGEST_GAP:
            return None
        if kind in self._fallen and value >= self._fallen[kind]:
            return None
        return value - last

    def _keep(self, counts: Mapping[NodeCounter, float], now: datetime) -> None:
        for kind, value in counts.items():
            last = self._last(kind)
            if value < last:
                self._fallen[kind] = max(last, self._fallen.get(kind, 0.0))
            elif value >= self._fallen.get(kind, value + 1):
                del self._fallen[kind]
            self._told[kind] = (now, value)
