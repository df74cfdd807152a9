"""How full the nodes of a target are: probing backs off from what is full. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from monitor.nodes.record import NodeSnapshot

# A few that wait are no queue.
LEAST_QUEUED = 8


def pressure_of(nodes: Iterable[NodeSnapshot]) -> float | None:
    """Return the fullest node's part of its KV pool or queue in use, 0 to 1; ``None`` if unknown.

    A queue counts as the share of its requests that wait: 0.8 where four wait for each that runs.
    """
    known = [each for node in nodes for each in _of_node(node)]
    return max(known, default=None)


def _of_node(node: NodeSnapshot) -> Iterable[float]:
    kv = node.live.kv
    if kv.usage_ratio is not None:
        yield min(max(kv.usage_ratio, 0.0), 1.0)
    elif kv.used_tokens is not None and kv.capacity_tokens:
        yield min(max(kv.used_tokens / kv.capacity_tokens, 0.0), 1.0)
    if kv.queued is not None and kv.running is not None:
        yield kv.queued / (kv.queued + kv.running) if kv.queued >= LEAST_QUEUED else 0.0
