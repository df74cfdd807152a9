"""What nodes count, between readings: growth over a window, whatever restarts in between. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from monitor.conventions.nodes import LiveKind, LiveState
from monitor.detect.binomial import tail_probability
from monitor.nodes.live_growth import Growth, NodeCounts
from monitor.nodes.live_signal import LiveSignal
from monitor.nodes.record import NodeCounter, NodeSnapshot, Role

WINDOW = timedelta(minutes=30)
# Failures that come at the allowed share look like more than that with this chance, at one look.
LUCK = 1e-9
_SPLIT = frozenset({Role.PREFILL, Role.DECODE})
# How a counter stands, why, and its value if it has one.
_Said = tuple[LiveState, str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rising:
    """A counter that must not rise by more than ``allowed`` of the requests; ``None``: at all.

    A node of these ``roles`` has it; any other has it only if it says so. Where aborts are an
    ``excuse``, each aborted request may have brought about one.
    """

    kind: LiveKind
    counter: NodeCounter
    words: str
    allowed: float | None
    roles: frozenset[Role] = _SPLIT
    excuse: bool = False


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
        # SGLang counts the abort, then its transfer as failed (disaggregation/prefill.py).
        excuse=True,
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
        words="pages of KV that were let go before their transfer had ended",
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


class CountWindow:
    """The growth of one node's counters within the last half hour."""

    def __init__(self) -> None:
        self._counts = NodeCounts()
        self._total: Mapping[NodeCounter, float] = {}
        # What had been counted before each step that the window holds, oldest first.
        self._before: deque[tuple[datetime, Mapping[NodeCounter, float]]] = deque()
        # When the growth of a counter could not be told last.
        self._untold: dict[NodeCounter, datetime] = {}

    def take(self, snapshot: NodeSnapshot) -> Growth | None:
        """Take a reading; return the growth since the last one that told of counters, if any."""
        since = snapshot.read_at - WINDOW
        while self._before and self._before[0][0] <= since:
            self._before.popleft()
        self._untold = {kind: at for kind, at in self._untold.items() if at > since}
        grown = self._counts.take(snapshot)
        if grown is not None:
            total = self._total
            self._before.append((snapshot.read_at, total))
            added = {kind: total.get(kind, 0.0) + n for kind, n in grown.by.items()}
            self._total = {**total, **added}
            self._untold |= dict.fromkeys(grown.untold, snapshot.read_at)
        return grown

    def signals(self, snapshot: NodeSnapshot) -> Iterator[LiveSignal]:
        """Yield how each rising counter stands that this reading tells, or should from the first.

        One that was told before and is not now has no signal here.
        """
        for rising in _RISING:
            known = rising.counter in snapshot.live.counters
            left_out = self._counts.has_told(rising.counter) or snapshot.role not in rising.roles
            if not known and left_out:
                continue
            state, value = LiveState.UNKNOWN, None
            why = "one reading shows no growth" if known else f"it does not count {rising.words}"
            if known and self._before:
                state, why, value = self._judged(rising)
            yield LiveSignal(
                target=snapshot.target,
                node=snapshot.node,
                kind=rising.kind,
                state=state,
                why=why,
                value=value,
            )

    def _judged(self, rising: _Rising) -> _Said:
        """Return how a counter stands; what could not be told within the window is no pass."""
        requests = self._grown(NodeCounter.REQUESTS)
        if NodeCounter.REQUESTS in self._untold:
            requests = None
        grown = self._grown(rising.counter) or 0.0
        said = _judged(rising, grown, requests)
        aborts = self._grown(NodeCounter.ABORTED) or 0.0
        if rising.excuse and aborts and said[0] is LiveState.FAIL:
            said = _excused(said, _judged(rising, grown - aborts, requests), aborts)
        if said[0] is LiveState.PASS and rising.counter in self._untold:
            why = f"how many {rising.words} there were cannot be told for half an hour"
            return LiveState.UNKNOWN, why, None
        return said

    def _grown(self, kind: NodeCounter) -> float | None:
        now, began = self._total.get(kind), self._before[0][1]
        return None if now is None else now - began.get(kind, 0.0)


def _excused(whole: _Said, rest: _Said, aborts: float) -> _Said:
    """Return how a counter stands that fails as a ``whole``; ``rest`` is what aborts leave of it.

    Clients that leave end their transfers, and clients leave what does not come: which came first
    cannot be told.
    """
    if rest[0] is LiveState.FAIL:
        return whole
    why = f"{whole[1]}, and {round(aborts)} aborts, which may be why"
    return LiveState.UNKNOWN, why, None


def _judged(rising: _Rising, grown: float, requests: float | None) -> _Said:
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
