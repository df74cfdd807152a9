"""What makes one row, or the planning of a statement, cost without bound, and is refused for it.

The engine looks at its clock between blocks of rows, not within a call of a function. Of what is
not here, ``turns`` makes sure that it holds up neither its reader for ever nor a stop.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from monitor.sqlhttp.failures import Code, RefusedError

Node = dict[str, Any]

MOST_PATTERN_BYTES = 1_000
MOST_REPEATS = 10_000
MOST_EXPANSION = 256
# Where each of these has its pattern: the time goes with its length times that of the text.
PATTERNS = {
    **dict.fromkeys(
        (
            *("like", "notlike", "ilike", "notilike", "match", "matchcaseinsensitive", "notmatch"),
            *("notmatchcaseinsensitive", "extract", "extractall", "extractgroups", "countmatches"),
            *("extractallgroups", "extractallgroupshorizontal", "extractallgroupsvertical"),
            *("countmatchescaseinsensitive", "replaceregexpall", "replaceregexpone"),
            *("regexp_replace", "regexp_extract", "regexp_substr", "regexp_matches"),
            *("regexpextract", "regexpposition", "regexpinstr", "regexp_instr"),
            *("mapcontainskeylike", "mapcontainsvaluelike", "mapextractkeylike"),
            *("mapextractvaluelike",),
        ),
        1,
    ),
    "splitbyregexp": 0,
    "tokensforlikepattern": 0,
}
# Where each of these says how long what it makes is to be.
REPEATS = {
    **dict.fromkeys(("repeat", "leftpad", "rightpad", "leftpadutf8", "rightpadutf8"), 1),
    **dict.fromkeys(("lpad", "rpad", "tofixedstring"), 1),
    **dict.fromkeys(("space", "randomstring", "randomstringutf8", "randomfixedstring"), 0),
    "randomprintableascii": 0,
}
# What a pattern may be made with.
_JOINING = frozenset({"concat", "lower", "upper", "regexpquotemeta"})
_WIDE = re.compile(r"\*|[0-9]{4}")


def check_pattern(name: str, arguments: Sequence[Node], parameters: Mapping[str, str]) -> None:
    """Refuse a pattern that is not written out, or too long, of a function in small letters."""
    place = PATTERNS.get(name)
    if place is None or len(arguments) <= place:
        return
    length, left = 0, [arguments[place]]
    while left:
        node = left.pop()
        kind = node.get("type")
        if kind == "Function" and node["name"].lower() in _JOINING:
            left += (node.get("arguments") or {}).get("children", [])
        elif kind == "Literal":
            length += len(
                str((node.get("value") or {}).get("value", "")).encode("utf-8", "replace")
            )
        elif kind == "QueryParameter":
            length += _bytes(parameters.get(node["name"], ""))
        else:
            words = f"The pattern of {name} must be written out, a parameter, or joined of these"
            raise _too_heavy(words)
    check_length(length)


def check_length(length: int) -> None:
    """Refuse a pattern of so many bytes."""
    if length > MOST_PATTERN_BYTES:
        raise _too_heavy(f"A pattern may have {MOST_PATTERN_BYTES} bytes")


def grows(name: str, arguments: Sequence[Node], *, within: bool) -> bool:
    """Tell whether this function repeats something. Refuses it if so often, or within another."""
    if name == "printf":
        _check_printf(arguments)
    place = REPEATS.get(name)
    if place is None or len(arguments) <= place:
        return False
    if within:
        raise _too_heavy(f"{name} must not stand within another function that repeats")
    if not any(_is_small(each) for each in _counts(arguments[place])):
        words = (
            f"{name} may repeat {MOST_REPEATS} times: write a number, or least(…, {MOST_REPEATS})"
        )
        raise _too_heavy(words)
    return True


def check_expansion(tree: Node) -> None:
    """Refuse a statement whose WITH tables name each other so often that planning never ends."""
    if _expansion(tree, {}) > MOST_EXPANSION:
        raise _too_heavy(f"Tables of WITH may stand for {MOST_EXPANSION} subqueries altogether")


def _bytes(value: object) -> int:
    return len(str(value).encode("utf-8", "replace"))


def _check_printf(arguments: Sequence[Node]) -> None:
    value = (arguments[0].get("value") or {}) if arguments else {}
    said = value.get("value") if value.get("field_type") == "String" else None
    if not isinstance(said, str) or _WIDE.search(said):
        raise _too_heavy("The format of printf must be written out, with widths below 1000")


def _counts(node: Node) -> list[Node]:
    """Return what bounds a count: itself, or any argument of ``least``."""
    if node.get("type") == "Function" and node["name"].lower() == "least":
        return list((node.get("arguments") or {}).get("children", []))
    return [node]


def _is_small(node: Node) -> bool:
    value = node.get("value") if node.get("type") == "Literal" else None
    number = value.get("value") if isinstance(value, dict) else None
    return isinstance(number, int) and number <= MOST_REPEATS


def _expansion(node: Node, known: Mapping[str, int]) -> int:
    """Return how many subqueries stand here once every name of a WITH is what it stands for.

    Never much more than the most: what is too much is not counted on.
    """
    kind = node.get("type")
    if kind in ("TableIdentifier", "Identifier") and not node.get("children"):
        return known.get(node["name"], 0)
    if kind == "SelectQuery":
        return _bounded(1 + _of_parts(node, _named(node, known)))
    if kind != "SelectWithUnionQuery":
        return _of_parts(node, known)
    selects = node["list_of_selects"].get("children", ())
    if not selects or selects[0].get("type") != "SelectQuery":
        return _bounded(sum(_expansion(each, known) for each in selects))
    # What the first SELECT names, the others see too. Each WITH is looked at once.
    known = _named(selects[0], known)
    total = 1 + _of_parts(selects[0], known)
    return _bounded(total + sum(_expansion(each, known) for each in selects[1:]))


def _of_parts(node: Node, known: Mapping[str, int]) -> int:
    total = 0
    for name, part in node.items():
        for each in part if isinstance(part, list) else (part,):
            if isinstance(each, dict) and name != "with":
                total = _bounded(total + _expansion(each, known))
    return total


def _named(select: Node, known: Mapping[str, int]) -> Mapping[str, int]:
    named = dict(known)
    for element in (select.get("with") or {}).get("children", ()):
        name = element["name"] if element.get("type") == "WithElement" else element.get("alias")
        weight = _expansion(element, named)
        if name:
            named[name] = weight
    return named


def _bounded(total: int) -> int:
    return min(total, 2 * MOST_EXPANSION)


def _too_heavy(words: str) -> RefusedError:
    return RefusedError(Code.ACCESS_DENIED, f"{words}. The engine could not be stopped in time.")
