"""What nodes count, between readings: growth over a window, whatever restarts in between. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from monitor.conventions.nodes import LiveKind, LiveState
from monitor.detect.binomial import tail_probability
from monitor.nodes.live_signal import LiveSignal
from monitor.nodes.record import NodeCounter, NodeSnapshot, Role

WINDOW = timedelta(minutes=30)
# Failures that come at the allowed share look like more than that with this chance, at one look.
LUCK = 1e-9
# Instants of a start are worked out by some engines; they differ by this without a restart.
_SAME_START_SECONDS = 5.0
_SPLIT = frozenset({Role.PREFILL, Role.DECODE})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rising:
    """A counter that must not rise by more than ``allowed`` of the requests; ``None``: at all.

    A node of these ``roles`` has it; any other has it only if it says so.
    """

    kind: LiveKind
    counter: NodeCounter
    words: str
    allowed: float | None
    roles: frozenset[Role] = _SPLIT


_RISING = (
    _Rising(
        kind=LiveKind.NOT_A_NUMBER,
        counter=NodeCounter.NOT_A_NUMBER,
        words="requests with values that are no numbers",
        allowed=None,
        roles=frozenset(),
    ),
    _Rising(
        kind=LiveKind.TRANSFER_FAILURES,
        counter=NodeCounter.TRANSFER_FAILED,
        words="failed transfers of KV",
        allowed=0.01,
    ),
    _Rising(
        kind=LiveKind.BOOTSTRAP_FAILURES,
        counter=NodeCounter.BOOTSTRAP_FAILED,
        words="failures of prefill and decode to find each other",
        allowed=0.01,
    ),
    _Rising(
        kind=LiveKind.KV_EXPIRED,
        counter=NodeCounter.KV_EXPIRED,
        words="requests whose KV expired before it was fetched",
        allowed=0.01,
        roles=frozenset(),
    ),
    _Rising(
        kind=LiveKind.DEFERRED_RELEASES,
        counter=NodeCounter.DEFERRED_RELEASES,
        words="pages of KV that were held back from reuse",
        allowed=0.05,
        roles=frozenset(),
    ),
    _Rising(
        kind=LiveKind.ABORTS,
        counter=NodeCounter.ABORTED,
        words="aborted requests",
        allowed=0.2,
        roles=frozenset(),
    ),
)


def restarted(before: NodeSnapshot, after: NodeSnapshot) -> bool:
    """Return true if a node's counters began anew between two readings."""
    then, now = before.live, after.live
    began, begins = then.started_seconds, now.started_seconds
    if began is not None and begins is not None and abs(begins - began) > _SAME_START_SECONDS:
        return True
    return any(now.counters.get(kind, value) < value for kind, value in then.counters.items())


def growth(before: NodeSnapshot, after: NodeSnapshot) -> Mapping[NodeCounter, float]:
    """Return by how much each counter of the later reading grew.

    After a restart that is what was counted since: what the process counted between its last
    reading and its end nobody knows. A counter that was not there before began at 0: engines make
    some of them at the first event.
    """
    anew = restarted(before, after)
    then = {} if anew else before.live.counters
    return {kind: value - then.get(kind, 0.0) for kind, value in after.live.counters.items()}


class CountWindow:
    """The growth of one node's counters within the last half hour."""

    def __init__(self) -> None:
        self._last: NodeSnapshot | None = None
        self._total: Mapping[NodeCounter, float] = {}
        # What had been counted before each step that the window holds, oldest first.
        self._before: deque[tuple[datetime, Mapping[NodeCounter, float]]] = deque()

    def take(self, snapshot: NodeSnapshot) -> Mapping[NodeCounter, float] | None:
        """Take a reading; return the growth since the last one that told of counters, if any."""
        while self._before and self._before[0][0] <= snapshot.read_at - WINDOW:
            self._before.popleft()
        if not (snapshot.reached and snapshot.live.counters):
            return None
        before, self._last = self._last, snapshot
        if before is None or before.read_at >= snapshot.read_at:
            return None
        grown, total = growth(before, snapshot), self._total
        self._before.append((snapshot.read_at, total))
        self._total = {**total, **{kind: total.get(kind, 0.0) + n for kind, n in grown.items()}}
        return grown

    def signals(self, snapshot: NodeSnapshot) -> Iterator[LiveSignal]:
        """Yield how each rising counter stands after a reading."""
        began = self._before[0][1] if self._before else self._total
        grown = {kind: now - began.get(kind, 0.0) for kind, now in self._total.items()}
        for rising in _RISING:
            known = rising.counter in snapshot.live.counters
            if not known and snapshot.role not in rising.roles:
                continue
            state, value = LiveState.UNKNOWN, None
            why = "one reading shows no growth" if known else f"it does not count {rising.words}"
            if known and self._before:
                requests = grown.get(NodeCounter.REQUESTS)
                state, why, value = _judged(rising, grown.get(rising.counter, 0.0), requests)
            yield LiveSignal(
                target=snapshot.target,
                node=snapshot.node,
                kind=rising.kind,
                state=state,
                why=why,
                value=value,
            )


def _judged(
    rising: _Rising, grown: float, requests: float | None
) -> tuple[LiveState, str, float | None]:
    """Return how a counter stands that grew so much while so many requests came, and its value."""
    many = round(grown)
    if many <= 0:
        return LiveState.PASS, f"no {rising.words} lately", 0.0
    if rising.allowed is None:
        return LiveState.FAIL, f"{many} {rising.words} within half an hour", float(many)
    if requests is None:
        return LiveState.UNKNOWN, f"{many} {rising.words}, of how many requests was not read", None
    asked = max(round(requests), many)
    words = f"{many} {rising.words} for {asked} requests within half an hour"
    failed = tail_probability(many, asked, rising.allowed) < LUCK
    shown = f"{words}; {rising.allowed:.0%} may be"
    return (LiveState.FAIL if failed else LiveState.PASS), shown, many / asked
