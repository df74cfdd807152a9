"""Which verdicts of nodes are news: what changed, and each state once an hour. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from monitor.nodes.record import Conformity, NodeVerdict

SAID_AGAIN = timedelta(hours=1)

_Node = tuple[str, str]
_State = tuple[Conformity, frozenset[tuple[str, Conformity, bool]]]


class News:
    """What was said of each node, and when.

    A state that was said within the hour is no news, also if the node was in another meanwhile: one
    that comes and goes cannot fill the store. What was said longer ago is news again, so nothing is
    kept of a node of which nothing was said for an hour: found nodes may have ever new names.
    """

    def __init__(self) -> None:
        self._said: dict[_Node, dict[_State, datetime]] = {}
        self._swept: datetime | None = None

    def is_news(self, judged: NodeVerdict) -> bool:
        """Return true if this is to be said."""
        said = self._said.get(_node(judged), {}).get(_state(judged))
        return said is None or judged.snapshot.read_at >= said + SAID_AGAIN

    def note(self, judged: NodeVerdict) -> None:
        """Note that it was said."""
        at, node = judged.snapshot.read_at, _node(judged)
        lasting = {
            state: said
            for state, said in self._said.get(node, {}).items()
            if said + SAID_AGAIN > at
        }
        self._said[node] = {**lasting, _state(judged): at}
        self._sweep(at)

    def _sweep(self, at: datetime) -> None:
        """Forget, once an hour, the nodes of which nothing was said since the last time."""
        if self._swept is not None and at < self._swept + SAID_AGAIN:
            return
        self._swept = at
        self._said = {
            node: states
            for node, states in self._said.items()
            if any(said + SAID_AGAIN > at for said in states.values())
        }


def _node(judged: NodeVerdict) -> _Node:
    return (judged.snapshot.target, judged.snapshot.node)


def _state(judged: NodeVerdict) -> _State:
    matches = frozenset(
        (each.rule, each.conformity, each.accepted_until is None) for each in judged.matches
    )
    return (judged.conformity, matches)
