"""Nodes that no rule can tell apart are looked at once, and nothing changes by that."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.nodes import Role
from monitor.nodes.peers import Peers
from monitor.nodes.predicate import Predicate, evaluate, peer_subjects
from monitor.nodes.view import Kind, NodeView, Subject, Value
from tests.unit.nodes.test_predicate import PREDICATES, VIEWS

X = Subject(Kind.SETTING, "x")
Y = Subject(Kind.SETTING, "y")


def view(role: Role | None = Role.UNIFIED, **values: Value) -> NodeView:
    told = {Subject(Kind.SETTING, name): value for name, value in values.items()}
    return NodeView(node="n", role=role, release=None, values=told)


def test_alike_nodes_are_one_and_never_the_node_itself() -> None:
    alike = [view(x=1, y=number) for number in range(50)]
    other = view(x=2)
    peers = Peers([*alike, other])
    assert peers.of(alike[0], [X]) == (alike[1], other)
    assert peers.of(alike[9], [X]) == (alike[0], other)
    assert peers.of(other, [X]) == (alike[0],)


def test_what_is_told_apart_stays_apart() -> None:
    views = [view(x=1), view(x=True), view(x=1.5), view(), view(x=None), view(Role.DECODE, x=1)]
    assert len(Peers(views).of(views[0], [X])) == 5
    assert len(Peers(views).of(views[0], [Y])) == 2


@given(PREDICATES, st.lists(VIEWS, min_size=1, max_size=3), st.lists(st.integers(0, 2)))
@settings(max_examples=200, deadline=None)
def test_looking_once_at_each_kind_tells_the_same(
    predicate: Predicate, kinds: list[NodeView], more: list[int]
) -> None:
    views = [NodeView(**parts(kinds[each % len(kinds)])) for each in (0, *more)]
    peers, subjects = Peers(views), set(peer_subjects(predicate))
    for own in views:
        others = [each for each in views if each is not own]
        full = evaluate(predicate, own, others)
        once = evaluate(predicate, own, peers.of(own, subjects))
        assert (full.truth, full.missing) == (once.truth, once.missing)


def parts(of: NodeView) -> dict:
    return {"node": of.node, "role": of.role, "release": of.release, "values": of.values}
