"""What a rule holds a node to: a small language of comparisons that always ends, and may not know.

The truth of a predicate is true, false or ``None``: it cannot be told, because a value was not.
The logic is Kleene's (https://plato.stanford.edu/entries/logic-manyvalued/): ``all`` with a false
part is false and ``any`` with a true part is true, whatever else is not told. So telling less never
makes a fault disappear: what was true becomes true or untold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeGuard

from packaging.specifiers import SpecifierSet

from monitor.nodes.record import Role
from monitor.nodes.view import UNSAID, NodeView, Subject, Value

Truth = bool | None

_OTHER_ROLE = {Role.PREFILL: Role.DECODE, Role.DECODE: Role.PREFILL}


class Operator(StrEnum):
    """How two values are compared."""

    IS = "is"
    IS_NOT = "is_not"
    IN = "in"
    NOT_IN = "not_in"
    BELOW = "below"
    AT_MOST = "at_most"
    ABOVE = "above"
    AT_LEAST = "at_least"
    HAS = "has"
    IS_SET = "is_set"


class Relation(StrEnum):
    """Which other nodes of a target: those of the same role, or those of the other half."""

    REPLICA = "replica"
    COUNTERPART = "counterpart"


@dataclass(frozen=True, slots=True)
class Reference:
    """Another value to compare with, of the node looked at or of the judged one (``own``)."""

    subject: Subject
    own: bool = False
    plus: int = 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """One value against a literal, a list of them, or another value."""

    subject: Subject
    operator: Operator
    operand: Value | Reference


@dataclass(frozen=True, slots=True)
class Released:
    """The version is a release in a range."""

    versions: SpecifierSet


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part holds."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part holds."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class NotSo:
    """The part does not hold."""

    part: Predicate


@dataclass(frozen=True, slots=True)
class AnyPeer:
    """It holds of at least one other node of the target."""

    relation: Relation
    holds: Predicate


Predicate = Comparison | Released | AllOf | AnyOf | NotSo | AnyPeer


@dataclass(frozen=True, slots=True)
class Untold:
    """A value for want of which something cannot be told; ``other`` if another node did not say."""

    name: str
    other: bool = False

    def __str__(self) -> str:
        return f"{self.name} of another node" if self.other else self.name


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A truth, the values for want of which it is ``None``, and the peer that shows it."""

    truth: Truth
    missing: frozenset[Untold] = frozenset()
    peer: NodeView | None = None


def evaluate(predicate: Predicate, node: NodeView, others: Sequence[NodeView] = ()) -> Evaluation:
    """Return whether ``predicate`` holds of ``node``, which is served beside ``others``.

    Total: it ends with a truth for any predicate and any values.
    """
    return _evaluate(predicate, node, node, others)


def parts_of(predicate: Predicate) -> Iterator[Predicate]:
    """Yield a predicate and every one within it."""
    yield predicate
    match predicate:
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from parts_of(part)
        case NotSo(part) | AnyPeer(_, part):
            yield from parts_of(part)


def subjects_of(predicate: Predicate) -> Iterator[Subject]:
    """Yield every value that a predicate names, of whichever node."""
    for part in parts_of(predicate):
        if isinstance(part, Comparison):
            yield part.subject
            if isinstance(part.operand, Reference):
                yield part.operand.subject


def peer_subjects(predicate: Predicate) -> Iterator[Subject]:
    """Yield every value that a predicate names below ``any_peer``."""
    for part in parts_of(predicate):
        if isinstance(part, AnyPeer):
            yield from subjects_of(part)


def _evaluate(
    predicate: Predicate, looked_at: NodeView, own: NodeView, others: Sequence[NodeView]
) -> Evaluation:
    match predicate:
        case Comparison():
            return _compare(predicate, looked_at, own)
        case Released(versions):
            return _released(versions, looked_at, own)
        case AllOf(parts):
            return _first((_evaluate(part, looked_at, own, others) for part in parts), stop=False)
        case AnyOf(parts):
            return _first((_evaluate(part, looked_at, own, others) for part in parts), stop=True)
        case NotSo(part):
            found = _evaluate(part, looked_at, own, others)
            return (
                Evaluation(None, found.missing)
                if found.truth is None
                else Evaluation(not found.truth)
            )
        case AnyPeer(relation, holds):
            return _any_peer(relation, holds, own, others)


def _first(parts: Iterator[Evaluation], *, stop: bool) -> Evaluation:
    """Return the first part that decides; else untold if any is, else what all of them are."""
    missing: frozenset[Untold] = frozenset()
    peer, untold = None, False
    for found in parts:
        if found.truth is stop:
            return found
        untold = untold or found.truth is None
        missing |= found.missing
        peer = peer or found.peer
    return (
        Evaluation(None, missing) if untold else Evaluation(not stop, peer=None if stop else peer)
    )


def _any_peer(
    relation: Relation, holds: Predicate, own: NodeView, others: Sequence[NodeView]
) -> Evaluation:
    """A prefill or decode node has a counterpart, read or not: without one nothing can be told."""
    missing: frozenset[Untold] = frozenset()
    alone, untold = relation is Relation.COUNTERPART and own.role is not Role.UNIFIED, False
    for peer in others:
        is_one = _is_peer(relation, own.role, peer.role)
        if is_one is False:
            continue
        alone = alone and is_one is None
        found = _evaluate(holds, peer, own, ())
        if found.truth is True and is_one is True:
            return Evaluation(truth=True, peer=peer)
        if found.truth is not False:
            untold = True
            missing |= found.missing or {Untold("role", other=own.role is not None)}
    if alone:
        return Evaluation(None, missing | {_counterpart(own)})
    return Evaluation(None, missing) if untold else Evaluation(truth=False)


def _is_peer(relation: Relation, own: Role | None, other: Role | None) -> Truth:
    if own is Role.UNIFIED and relation is Relation.COUNTERPART:
        return False
    if own is None or other is None:
        return None
    return other is (own if relation is Relation.REPLICA else _OTHER_ROLE[own])


def _released(versions: SpecifierSet, looked_at: NodeView, own: NodeView) -> Evaluation:
    if looked_at.release is None:
        return Evaluation(None, frozenset({_untold("version of a release", looked_at, own)}))
    return Evaluation(versions.contains(looked_at.release))


def _compare(comparison: Comparison, looked_at: NodeView, own: NodeView) -> Evaluation:
    subject, operand = comparison.subject, comparison.operand
    missing = {_untold(subject.name, looked_at, own)}
    if not looked_at.told(subject):
        return Evaluation(None, frozenset(missing))
    left, right = looked_at.values[subject], operand
    if isinstance(operand, Reference):
        other = own if operand.own else looked_at
        also = _untold(operand.subject.name, other, own)
        if not other.told(operand.subject):
            return Evaluation(None, frozenset({also}))
        missing.add(also)
        right = _plus(other.values[operand.subject], operand.plus)
        if UNSAID in (left, right) and left != right:
            return Evaluation(None, frozenset(missing))
    elif left == UNSAID and not _names_unsaid(right):
        return _of_unsaid(comparison.operator, frozenset(missing))
    truth = _TESTS[comparison.operator](left, right)
    return Evaluation(truth, frozenset(missing) if truth is None else frozenset())


def _names_unsaid(right: Value | Reference) -> bool:
    return right == UNSAID or (isinstance(right, tuple) and UNSAID in right)


def _of_unsaid(operator: Operator, missing: frozenset[Untold]) -> Evaluation:
    """What is left to the engine is set to something, and nothing else is known of it."""
    return Evaluation(truth=True) if operator is Operator.IS_SET else Evaluation(None, missing)


def _untold(name: str, node: NodeView, own: NodeView) -> Untold:
    return Untold(name, other=node is not own)


def _counterpart(own: NodeView) -> Untold:
    """Return what is missing where no node of the other half was read, or the half is not known.

    No other node failed to say it: there is none, so it is this node that cannot be told.
    """
    return Untold("role" if own.role is None else "any node of the other half")


def _plus(value: Value, more: int) -> Value:
    return value + more if more and _is_number(value) else value


def _is_number(value: object) -> TypeGuard[int | float]:
    """Return true for what can be ordered: no flag, and nothing that is not a finite number."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _same(left: Value, right: Value) -> Truth:
    """Tell whether two values are the same; one and zero are what they mean beside a flag.

    Whatever else stands where a flag should may mean that it is on.
    """
    if isinstance(left, bool) is isinstance(right, bool) or {left, right} <= {0, 1}:
        return left == right
    return None


def _negated(test: Callable[[Value, Value], Truth]) -> Callable[[Value, Value], Truth]:
    def negated(left: Value, right: Value) -> Truth:
        truth = test(left, right)
        return None if truth is None else not truth

    return negated


def _among(left: Value, right: Value) -> Truth:
    if not isinstance(right, tuple):
        return None
    found = {_same(left, each) for each in right}
    return True if True in found else None if None in found else False


def _has(left: Value, right: Value) -> Truth:
    if left is None:
        return False
    texts = left if isinstance(left, tuple) else (left,)
    if not isinstance(right, str) or not all(isinstance(each, str) for each in texts):
        return None
    return any(right in str(each) for each in texts)


def _is_set(left: Value, right: Value) -> Truth:
    return (left is not None) is right


def _ordered(test: Callable[[float, float], bool]) -> Callable[[Value, Value], Truth]:
    def ordered(left: Value, right: Value) -> Truth:
        return test(left, right) if _is_number(left) and _is_number(right) else None

    return ordered


_TESTS: Mapping[Operator, Callable[..., Truth]] = {
    Operator.IS: _same,
    Operator.IS_NOT: _negated(_same),
    Operator.IN: _among,
    Operator.NOT_IN: _negated(_among),
    Operator.BELOW: _ordered(lambda left, right: left < right),
    Operator.AT_MOST: _ordered(lambda left, right: left <= right),
    Operator.ABOVE: _ordered(lambda left, right: left > right),
    Operator.AT_LEAST: _ordered(lambda left, right: left >= right),
    Operator.HAS: _has,
    Operator.IS_SET: _is_set,
}
ORDERING = frozenset({Operator.BELOW, Operator.AT_MOST, Operator.ABOVE, Operator.AT_LEAST})
LISTING = frozenset({Operator.IN, Operator.NOT_IN})
