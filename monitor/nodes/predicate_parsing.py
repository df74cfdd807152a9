"""From the plain values of a rule's ``when`` to a predicate, or an error that says where."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import cast

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from monitor.config.problems import near_miss
from monitor.config.secrets import quoted
from monitor.nodes.predicate import (
    LISTING,
    ORDERING,
    AllOf,
    AnyOf,
    AnyPeer,
    Comparison,
    NotSo,
    Operator,
    Predicate,
    Reference,
    Relation,
    Released,
)
from monitor.nodes.view import COUNTERS, FACTS, Kind, Subject, Value, plain

Loc = tuple[str | int, ...]

MOST_PARTS = 32
_LONGEST_NAME = 64
_KINDS = {str(kind): kind for kind in Kind}
_OWN_KINDS = {f"own_{kind}": kind for kind in Kind}
_FORMS = ("all", "any", "not", "any_peer", "version", *_KINDS)
_SPECIFIERS = frozenset(("<", "<=", ">", ">=", "==", "!=", "~="))


class PredicateError(ValueError):
    """A predicate is wrong: what, where below ``when``, and the remedy."""

    def __init__(self, problem: str, loc: Loc, remedy: str) -> None:
        self.problem, self.loc, self.remedy = problem, loc, remedy
        super().__init__(problem)


def parse_predicate(raw: object, loc: Loc = (), *, of_peer: bool = False) -> Predicate:
    """Return the predicate that ``raw`` writes, or raise ``PredicateError``.

    ``of_peer`` is true below ``any_peer``, where ``own_fact`` and the like name the judged node.
    """
    section = _section(raw, loc)
    form = next((key for key in section if key in _FORMS), None)
    if form is None:
        key = next(iter(section))
        raise PredicateError(f"unknown key {quoted(key)}", (*loc, key), near_miss(key, _FORMS))
    if form in _KINDS:
        return _comparison(section, _KINDS[form], loc, of_peer=of_peer)
    _only(section, {form}, loc)
    below = (*loc, form)
    match form:
        case "all" | "any":
            parts = _parts(section[form], below, of_peer=of_peer)
            return AllOf(parts) if form == "all" else AnyOf(parts)
        case "not":
            return NotSo(parse_predicate(section[form], below, of_peer=of_peer))
        case "version":
            return Released(parse_versions(section[form], below))
        case _:
            return _any_peer(section[form], below, of_peer=of_peer)


def parse_versions(raw: object, loc: Loc) -> SpecifierSet:
    """Return a range of releases, such as ``>=0.5.20,<0.5.22``."""
    remedy = "write releases as in '>=0.5.20,<0.5.22'"
    try:
        versions = SpecifierSet(raw) if isinstance(raw, str) else SpecifierSet("")
        pre = [each for each in versions if Version(each.version).is_prerelease]
    except (InvalidSpecifier, InvalidVersion):
        raise PredicateError(f"{quoted(raw)} is not a range of versions", loc, remedy) from None
    if not len(versions) or any(each.operator not in _SPECIFIERS for each in versions):
        raise PredicateError(f"{quoted(raw)} is not a range of versions", loc, remedy)
    if pre:
        raise PredicateError("names a version that is no release", loc, remedy)
    return versions


def _section(raw: object, loc: Loc) -> Mapping[str, object]:
    if not isinstance(raw, dict) or not raw:
        remedy = "write {fact: role, is: prefill}, or all, any, not, any_peer or version"
        raise PredicateError(f"is no predicate but {quoted(raw)}", loc, remedy)
    return cast("dict[str, object]", raw)


def _only(section: Mapping[str, object], known: set[str], loc: Loc) -> None:
    stray = next((key for key in section if key not in known), None)
    if stray is not None:
        raise PredicateError(
            f"{quoted(stray)} does not belong here",
            (*loc, stray),
            f"write it as a predicate of its own; beside it may stand {', '.join(sorted(known))}",
        )


def _parts(raw: object, loc: Loc, *, of_peer: bool) -> tuple[Predicate, ...]:
    if not isinstance(raw, list) or not 0 < len(raw) <= MOST_PARTS:
        raise PredicateError(
            f"must be a list of 1 to {MOST_PARTS} predicates", loc, "begin each with a dash"
        )
    return tuple(
        parse_predicate(part, (*loc, place), of_peer=of_peer) for place, part in enumerate(raw)
    )


def _any_peer(raw: object, loc: Loc, *, of_peer: bool) -> AnyPeer:
    if of_peer:
        raise PredicateError(
            "stands within another any_peer", loc, "let one rule speak of one peer"
        )
    section = _section(raw, loc)
    relations = [str(each) for each in Relation]
    _only(section, {"role", "holds"}, loc)
    for key, example in (("role", "replica or counterpart"), ("holds", "a predicate")):
        if key not in section:
            raise PredicateError(f"has no {key}", loc, f"add {key}: {example}")
    if section["role"] not in relations:
        problem = f"unknown value {quoted(section['role'])}"
        raise PredicateError(problem, (*loc, "role"), f"use one of: {', '.join(relations)}")
    relation = Relation(str(section["role"]))
    return AnyPeer(relation, parse_predicate(section["holds"], (*loc, "holds"), of_peer=True))


def _comparison(
    section: Mapping[str, object], kind: Kind, loc: Loc, *, of_peer: bool
) -> Comparison:
    operators = [str(each) for each in Operator]
    found = [key for key in section if key in operators]
    if len(found) != 1:
        remedy = f"write one of: {', '.join(operators)}"
        raise PredicateError(f"compares {len(found) or 'in no'} ways", loc, remedy)
    _only(section, {str(kind), found[0]}, loc)
    subject = _subject(kind, section[str(kind)], (*loc, str(kind)))
    operator, below = Operator(found[0]), (*loc, found[0])
    raw = section[found[0]]
    if isinstance(raw, dict):
        return Comparison(subject, operator, _reference(raw, operator, below, of_peer=of_peer))
    return Comparison(subject, operator, _literal(raw, subject, operator, below))


def _subject(kind: Kind, name: object, loc: Loc) -> Subject:
    known: Mapping[Kind, object] = {Kind.FACT: FACTS, Kind.COUNTER: COUNTERS}
    names = sorted(str(each) for each in cast("frozenset[str]", known.get(kind, ())))
    if not isinstance(name, str) or not name.isprintable() or not 0 < len(name) <= _LONGEST_NAME:
        raise PredicateError(f"{quoted(name)} is not a name", loc, "write the name of a value")
    if names and name not in names:
        raise PredicateError(f"unknown {kind} {quoted(name)}", loc, near_miss(name, names))
    return Subject(kind, name)


def _reference(
    raw: Mapping[str, object], operator: Operator, loc: Loc, *, of_peer: bool
) -> Reference:
    kinds = {**_KINDS, **(_OWN_KINDS if of_peer else {})}
    named = [key for key in raw if key in kinds]
    if len(named) != 1:
        raise PredicateError(
            "names no value to compare with", loc, f"write one of: {', '.join(kinds)}"
        )
    _only(raw, {named[0], "plus"}, loc)
    if operator in LISTING or operator in (Operator.HAS, Operator.IS_SET):
        raise PredicateError(f"{operator} needs a value written out", loc, "write the value")
    plus = raw.get("plus", 0)
    if not isinstance(plus, int) or isinstance(plus, bool):
        raise PredicateError("must be a whole number", (*loc, "plus"), "write digits only")
    subject = _subject(kinds[named[0]], raw[named[0]], (*loc, named[0]))
    return Reference(subject, own=named[0] in _OWN_KINDS, plus=plus)


def _literal(raw: object, subject: Subject, operator: Operator, loc: Loc) -> Value:
    if operator in LISTING:
        if not isinstance(raw, list) or not 0 < len(raw) <= MOST_PARTS:
            raise PredicateError(f"must be a list of 1 to {MOST_PARTS} values", loc, "write [a, b]")
        return cast(
            "tuple[str, ...]",
            tuple(_scalar(each, (*loc, place)) for place, each in enumerate(raw)),
        )
    value = _scalar(raw, loc)
    if operator is Operator.IS_SET or _is_flag(subject):
        _must(isinstance(raw, bool), raw, loc, "true or false")
    elif operator in ORDERING:
        number = isinstance(raw, int | float) and not isinstance(raw, bool)
        _must(number, raw, loc, "a number")
    elif operator is Operator.HAS:
        _must(isinstance(value, str), raw, loc, "text other than true, false, none and null")
    return value


def _is_flag(subject: Subject) -> bool:
    return subject.kind is Kind.FACT and FACTS[subject.name] is bool


def _scalar(raw: object, loc: Loc) -> Value:
    endless = isinstance(raw, float) and not math.isfinite(raw)
    fits = isinstance(raw, str | int | float) and not endless
    _must(fits, raw, loc, "text, a number, true or false")
    return plain(cast("Value", raw))


def _must(fits: bool, raw: object, loc: Loc, shape: str) -> None:
    if not fits:
        raise PredicateError(f"must be {shape}, not {quoted(raw)}", loc, f"write {shape}")
