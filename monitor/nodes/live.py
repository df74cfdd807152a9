"""What only successive readings of nodes show, put together: the live signals. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from monitor.conventions.nodes import LiveKind, LiveState
from monitor.nodes.live_acceptance import AcceptanceWatch, Band, Pace
from monitor.nodes.live_counts import CountWindow
from monitor.nodes.live_pool import PoolWatch
from monitor.nodes.live_prompts import PromptTotals
from monitor.nodes.live_signal import LiveSignal
from monitor.nodes.record import NodeSnapshot

__all__ = ["Band", "LiveSignal", "NodeWindows"]

# A node that nobody found for so long is forgotten, and so is a signal that none told.
_FORGOTTEN = timedelta(days=1)
_DAY_SECONDS = 86_400.0


class _NodeWindow:
    def __init__(self, band: Band, pace: Pace) -> None:
        self.seen: datetime | None = None
        self._counts = CountWindow()
        self._pool = PoolWatch()
        self._acceptance = AcceptanceWatch(band, pace)
        self._stood: dict[LiveKind, tuple[datetime, LiveSignal]] = {}

    def take(self, snapshot: NodeSnapshot, pace: Pace) -> Sequence[LiveSignal]:
        told = list(self._told(snapshot, pace))
        return [*told, *self._left_out(told, snapshot.read_at)]

    def _left_out(self, told: Iterable[LiveSignal], now: datetime) -> Iterator[LiveSignal]:
        """Note what was told, and yield how signals stand that were told before and not now."""
        self._stood |= {each.kind: (now, each) for each in told}
        for kind, (at, signal) in list(self._stood.items()):
            if at < now - _FORGOTTEN:
                del self._stood[kind]
            elif at < now:
                yield _not_told(signal)

    def _told(self, snapshot: NodeSnapshot, pace: Pace) -> Iterator[LiveSignal]:
        self.seen = snapshot.read_at
        grown = self._counts.take(snapshot)
        yield from self._counts.signals(snapshot)
        pool = self._pool.take(snapshot)
        if pool is not None:
            yield pool
        yield from self._acceptance.take(snapshot, grown, pace)


def _not_told(signal: LiveSignal) -> LiveSignal:
    """Return how a signal stands without a word of it: silence is no pass, and ends no fault."""
    if signal.state is LiveState.FAIL:
        return replace(signal, why=f"{signal.why}; nothing was told of it since")
    why = "nothing is told of it any more"
    return replace(signal, state=LiveState.UNKNOWN, why=why, value=None)


class NodeWindows:
    """Follows nodes from reading to reading. Give it every reading once, in order.

    ``bands`` are where the acceptance of a target's draft lies, if not where the vendor says.
    """

    def __init__(self, interval_seconds: float, bands: Mapping[str, Band] | None = None) -> None:
        self._readings_a_day = _DAY_SECONDS / interval_seconds
        self._bands = dict(bands or {})
        self._nodes: dict[tuple[str, str], _NodeWindow] = {}
        self._prompts: dict[str, PromptTotals] = {}

    def take(self, snapshots: Sequence[NodeSnapshot]) -> tuple[LiveSignal, ...]:
        """Take one reading of all nodes; return how every signal stands, in order of the nodes."""
        pace = Pace(nodes=max(1, len(snapshots)), readings_a_day=self._readings_a_day)
        signals: list[LiveSignal] = []
        for snapshot in snapshots:
            signals += self._window(snapshot, pace).take(snapshot, pace)
        for target in dict.fromkeys(each.target for each in snapshots):
            totals = self._prompts.setdefault(target, PromptTotals(target))
            own = [each for each in snapshots if each.target == target]
            diverging = totals.take(own)
            if diverging is not None:
                signals.append(diverging)
        self._forget(max((each.read_at for each in snapshots), default=None))
        return tuple(signals)

    def _window(self, snapshot: NodeSnapshot, pace: Pace) -> _NodeWindow:
        key = (snapshot.target, snapshot.node)
        if key not in self._nodes:
            band = self._bands.get(snapshot.target, Band())
            self._nodes[key] = _NodeWindow(band, pace)
        return self._nodes[key]

    def _forget(self, now: datetime | None) -> None:
        if now is None:
            return
        for key, window in list(self._nodes.items()):
            if window.seen is not None and window.seen < now - _FORGOTTEN:
                del self._nodes[key]
