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
    that comes and goes cannot fill the store.
    """

    def __init__(self) -> None:
        self._said: dict[_Node, dict[_State, datetime]] = {}

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


def _node(judged: NodeVerdict) -> _Node:
    return (judged.snapshot.target, judged.snapshot.node)


def _state(judged: NodeVerdict) -> _State:
    matches = frozenset(
        (each.rule, each.conformity, each.accepted_until is None) for each in judged.matches
    )
    return (judged.conformity, matches)
