"""The sentence of a match: a rule's own words, filled with numbers. No word of a server's."""

from __future__ import annotations

import re
from collections.abc import Iterable

from monitor.config.problems import near_miss
from monitor.config.secrets import quoted
from monitor.nodes.predicate import Untold
from monitor.nodes.view import FACTS, Kind, NodeView, Subject, Value

_HOLE = re.compile(r"\{([^{}]*)\}")
_UNTOLD = "an unknown number of"
_NUMBERS = tuple(name for name, kind in FACTS.items() if kind is int)
_VERSION = "version"
_PEER = "peer."
_SETTING = "setting."
_NAMES = (*_NUMBERS, _VERSION, *(f"{_PEER}{name}" for name in (*_NUMBERS, _VERSION)))


def template_problem(template: str) -> tuple[str, str] | None:
    """Return problem and remedy if a sentence has holes that nothing fills, else ``None``."""
    if set("{}") & set(_HOLE.sub("", template)):
        return "has a brace that nothing closes or opens", "write {enforced_tokens} and the like"
    for name in _HOLE.findall(template):
        bare = name.removeprefix(_PEER)
        if name not in _NAMES and not (bare.startswith(_SETTING) and bare != _SETTING):
            remedy = near_miss(name, _NAMES)
            return f"has a hole {quoted(name)} that nothing fills", remedy
    return None


def settings_in(template: str) -> tuple[str, ...]:
    """Return the settings that a sentence is filled with."""
    names = (name.removeprefix(_PEER) for name in _HOLE.findall(template))
    return tuple(each.removeprefix(_SETTING) for each in names if each.startswith(_SETTING))


def sentence(template: str, node: NodeView, peer: NodeView | None) -> str:
    """Return a template filled with a node's numbers, and those of the peer that shows it."""

    def filled(hole: re.Match[str]) -> str:
        name = hole[1]
        of_peer = name.startswith(_PEER)
        return _filled(name.removeprefix(_PEER), peer if of_peer else node)

    return _HOLE.sub(filled, template)


def untold(missing: Iterable[Untold]) -> str:
    """Return the sentence of a rule for which values are missing, by the names rules give them."""
    return f"cannot be told without {', '.join(sorted(map(str, missing)))}"


def _filled(name: str, node: NodeView | None) -> str:
    if name == _VERSION:
        release = None if node is None else node.release
        return "an unknown version" if release is None else str(release)
    kind = Kind.SETTING if name.startswith(_SETTING) else Kind.FACT
    subject = Subject(kind, name.removeprefix(_SETTING))
    return _UNTOLD if node is None else _number(node.values.get(subject))


def _number(value: Value) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else _UNTOLD
