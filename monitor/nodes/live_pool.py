"""Whether a KV pool holds more than it can: pages that are counted twice may be used twice. Pure.

Used, free and evictable tokens are parts of one pool, so together they never exceed it. A reading
is not atomic, though: the engine writes the numbers one after the other, for each rank, and a
reader may see new ones beside old ones. Were one reading in a hundred mixed like that, each by
itself, then ``REPEATED`` of them in a row come once in 10 thousand million readings: of 200 nodes,
read every 30 s, once in 47 years.
"""

from __future__ import annotations

from monitor.conventions.nodes import LiveKind, LiveState
from monitor.nodes.live_signal import LiveSignal
from monitor.nodes.record import NodeSnapshot

REPEATED = 5
# Pools are whole pages, and some engines keep one of them back.
TOLERANCE = 0.01


class PoolWatch:
    """The pool of one node, over successive readings."""

    def __init__(self) -> None:
        self._in_a_row = 0

    def take(self, snapshot: NodeSnapshot) -> LiveSignal | None:
        """Take a reading; ``None`` if the node tells no parts of its pool."""
        kv = snapshot.live.kv
        parts = (kv.used_tokens, kv.free_tokens, kv.evictable_tokens)
        known = [each for each in parts if each is not None]
        if not known:
            return None
        state, why, value = LiveState.UNKNOWN, "not all parts of its KV pool were read", None
        if kv.capacity_tokens:
            value = sum(known) / kv.capacity_tokens
            over = value > 1 + TOLERANCE
            self._in_a_row = self._in_a_row + 1 if over else 0
            held = f"its KV pool of {kv.capacity_tokens} tokens holds {sum(known)}"
            if self._in_a_row >= REPEATED:
                state, why = LiveState.FAIL, f"{held}, in {self._in_a_row} readings in a row"
            elif over:
                why = f"{held}, which {REPEATED} readings in a row must show"
            elif len(known) == len(parts):
                state, why = LiveState.PASS, held
        return LiveSignal(
            target=snapshot.target,
            node=snapshot.node,
            kind=LiveKind.POOL_OVERFULL,
            state=state,
            why=why,
            value=value,
        )
