"""One node as rules see it: named values, of which some were not told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from packaging.version import Version

from monitor.nodes.record import NodeCounter, NodeFacts, NodeSnapshot, Role
from monitor.nodes.version import read_version

Value = str | int | float | bool | None | tuple[str, ...]
"""A value that was told. ``None`` is a setting that the node says is not set."""

SAYS_ITS_ROLE = frozenset({"sglang"})
"""Engines that say their role: of these, one that said none is not taken for unified."""

UNSAID = "auto"
"""A setting that leaves the choice to the engine: what it is compared with may be the same."""

_LEFT_TO_ENGINE = frozenset({"attention_backend"})
"""Settings without which the engine chooses, so that ``None`` says no more than ``UNSAID``.

Those of prefill and decode alone fall back to it, and need no choice:
https://docs.sglang.io/advanced_features/attention_backend.html.
"""

_WORDS: Mapping[str, bool | None] = {"true": True, "false": False, "none": None, "null": None}


class Kind(StrEnum):
    """Where a value comes from."""

    FACT = "fact"
    SETTING = "setting"
    COUNTER = "counter"


@dataclass(frozen=True, slots=True)
class Subject:
    """What a rule speaks of: one value of a node."""

    kind: Kind
    name: str


FACTS: Mapping[str, type] = {
    "engine": str,
    "version": str,
    "role": str,
    "models": tuple,
    "advertised_tokens": int,
    "enforced_tokens": int,
    "admitted_tokens": int,
    "pool_tokens": int,
    "pool_bound": bool,
    "slots": int,
    "gateway_tokens": int,
}
"""The facts a rule may name.

``admitted_tokens`` is what counts of a node whose data-parallel ranks differ: what it surely
admits, and of a decode node what it may admit. ``gateway_tokens`` is the context that the target's
gateway states.
"""

COUNTERS = frozenset(NodeCounter)
GATEWAY = Subject(Kind.FACT, "gateway_tokens")
VERSION = Subject(Kind.FACT, "version")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeView:
    """A node's values. One that is not there was not told, or the node was not reached."""

    node: str
    role: Role | None
    release: Version | None
    values: Mapping[Subject, Value]

    def told(self, subject: Subject) -> bool:
        """Return true if the node told this value."""
        return subject in self.values


def view_of(snapshot: NodeSnapshot, gateway_tokens: int | None = None) -> NodeView:
    """Return what rules may see of a snapshot, texts in lower case."""
    role = role_of(snapshot)
    facts = snapshot.facts
    told: dict[str, Value] = {
        "engine": facts.engine,
        "version": facts.version,
        "role": role,
        "models": facts.models or None,
        "advertised_tokens": facts.advertised_tokens,
        "enforced_tokens": facts.enforced_tokens,
        "admitted_tokens": _admitted(facts, role),
        "pool_tokens": facts.pool_tokens,
        "pool_bound": facts.pool_bound,
        "slots": facts.slots,
        "gateway_tokens": gateway_tokens,
    }
    values: dict[Subject, Value] = {
        Subject(Kind.FACT, name): plain(value) for name, value in told.items() if value is not None
    }
    values.update(_settings(snapshot))
    values.update((Subject(Kind.COUNTER, str(c)), n) for c, n in snapshot.live.counters.items())
    release = None if facts.version is None else read_version(facts.version).number
    return NodeView(node=snapshot.node, role=role, release=release, values=values)


def _admitted(facts: NodeFacts, role: Role | None) -> int | None:
    return facts.most_admitted_tokens if role is Role.DECODE else facts.least_admitted_tokens


def _settings(snapshot: NodeSnapshot) -> Iterator[tuple[Subject, Value]]:
    for name, value in snapshot.facts.settings.items():
        said = plain(value)
        chosen = UNSAID if said is None and name in _LEFT_TO_ENGINE else said
        yield Subject(Kind.SETTING, name), chosen


def plain(value: Value) -> Value:
    """Return a value in one writing, whether a node tells it or a rule asks for it.

    Texts are in lower case, and some engines write ``True`` and ``None`` as text.
    """
    if isinstance(value, tuple):
        return tuple(sorted(each.casefold() for each in value))
    if isinstance(value, str):
        folded = str(value).strip().casefold()
        return _WORDS.get(folded, folded)
    return value


def role_of(snapshot: NodeSnapshot) -> Role | None:
    """Return a node's role, or ``None`` if it cannot be told.

    Unified is also what is taken where nobody said anything. So it never hides another role, and
    of an engine that says its role, or that is not known, it needs to be said. Where configuration
    and node name different ones, nobody knows.
    """
    said, given = snapshot.facts.role, snapshot.role
    if given is not Role.UNIFIED:
        return given if said in (None, given) else None
    if said is not None:
        return said
    engine = snapshot.facts.engine
    return None if engine is None or engine in SAYS_ITS_ROLE else given
