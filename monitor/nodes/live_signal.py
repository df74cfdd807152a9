"""What only successive readings of nodes show: one signal, and how it stands."""

from __future__ import annotations

from dataclasses import dataclass

from monitor.conventions.nodes import LiveKind, LiveState


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSignal:
    """How one live signal stands after a reading. ``UNKNOWN`` is no pass.

    ``node`` is empty where it is about all nodes of a target together. ``why`` is made of our own
    words and numbers. ``value`` is the number that was judged, if there is one.
    """

    target: str
    node: str
    kind: LiveKind
    state: LiveState
    why: str
    value: float | None = None
