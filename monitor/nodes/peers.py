"""The nodes beside a node: of a large fleet most are alike, and are looked at once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from monitor.nodes.view import NodeView, Subject

_Kinds = dict[Hashable, list[NodeView]]


class Peers:
    """The nodes of one target.

    Those of the same role, release and values of some subjects are one kind: whatever a rule that
    names no others says of one of them as a peer, it says of all. So judging a fleet does not take
    the square of its size.
    """

    def __init__(self, views: Sequence[NodeView]) -> None:
        self._views = tuple(views)
        self._kinds: dict[frozenset[Subject], _Kinds] = {}

    def of(self, view: NodeView, subjects: Iterable[Subject]) -> tuple[NodeView, ...]:
        """Return one node of each kind beside ``view``, which is never among them itself."""
        first = (
            next((each for each in members if each is not view), None)
            for members in self._by_kind(frozenset(subjects)).values()
        )
        return tuple(each for each in first if each is not None)

    def _by_kind(self, subjects: frozenset[Subject]) -> _Kinds:
        """Return up to two nodes of each kind: one may be the node that is judged."""
        if subjects not in self._kinds:
            kinds: _Kinds = {}
            for view in self._views:
                members = kinds.setdefault(_kind(view, subjects), [])
                if len(members) <= 1:
                    members.append(view)
            self._kinds[subjects] = kinds
        return self._kinds[subjects]


def _kind(view: NodeView, subjects: frozenset[Subject]) -> Hashable:
    told = (each for each in subjects if view.told(each))
    values = frozenset((each, type(view.values[each]), view.values[each]) for each in told)
    return (view.role, view.release, values)
