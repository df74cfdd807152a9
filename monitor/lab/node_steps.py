"""What nodes do on their own ports and beside the requests: steps a mechanism may replace."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from monitor.lab.settings import NodeRole
from monitor.lab.trigger import Asker


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One question to a node's own port: its number among those to this node, from 1."""

    number: int
    role: NodeRole
    tenant: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a node answers: never, with these bytes instead of what it should say, or properly."""

    hangs: bool = False
    body: bytes | None = None


def _properly(reading: Reading) -> Manner:
    return Manner()


def _keep_running(asker: Asker) -> Collection[NodeRole]:
    """Return the nodes that begin anew before this request: none."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSteps:
    """Every replaceable step of the nodes as such."""

    answer: Callable[[Reading], Manner] = _properly
    restarts: Callable[[Asker], Collection[NodeRole]] = _keep_running
