"""Whether a statement may run: a walk over the engine's own parse tree of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from monitor.sqlhttp.failures import Code, RefusedError
from monitor.sqlhttp.functions import TABLE_FUNCTIONS, may_call, named_aggregate
from monitor.sqlhttp.names import Scope, Tables, check_database
from monitor.sqlhttp.shapes import (
    EXPLAIN,
    EXPLAIN_KINDS,
    EXPLAIN_SETTINGS,
    NODES,
    OUTPUT_FLAGS,
    SHOW,
)
from monitor.sqlhttp.typenames import is_structure, is_type, names_no_odd_type
from monitor.sqlhttp.weight import (
    PATTERNS,
    REPEATS,
    check_expansion,
    check_length,
    check_pattern,
    grows,
)

Node = dict[str, Any]

_IN = frozenset(
    {
        *("in", "notin", "globalin", "globalnotin"),
        *("nullin", "notnullin", "globalnullin", "globalnotnullin"),
    }
)
# Where each of these names a type: the last argument is -1.
_TYPED = {
    **dict.fromkeys(("cast", "accuratecast", "accuratecastornull", "accuratecastordefault"), 1),
    **dict.fromkeys(("dynamicelement", "variantelement"), 1),
    **dict.fromkeys(("jsonextract", "jsonextractcaseinsensitive"), -1),
    **dict.fromkeys(("jsonextractkeysandvalues", "jsonextractkeysandvaluescaseinsensitive"), -1),
    "defaultvalueoftypename": 0,
}
# What may begin `values` besides a structure: what can only be a row.
_WORD = re.compile(r"[A-Za-z0-9_.:-]*", re.ASCII)
_BY_NAME = frozenset({"arrayreduce"})
_AGGREGATE = "aggregatefunction"
_BY_PATTERN = tuple(kind for kind, fields in NODES.items() if "pattern" in fields)
_WITH_ARGUMENTS = frozenset({*_TYPED, *PATTERNS, *REPEATS, "getsubcolumn", "printf"})
# Bytes that somebody sends would be read as the inside of an aggregate function. Types are judged
# where they stand; this is what a reader who tries is told of wherever it stands.
_STATE = re.compile(r"(?<!simple)aggregatefunction\s*\(", re.IGNORECASE)
# The engine looks for these words in the text of a statement, wherever they stand, and then among
# the variables of the process for what is named.
_OURS = re.compile(r"python\s*\(", re.IGNORECASE)
_IDENTIFIER = re.compile(r"\s*identifier\s*", re.IGNORECASE)


def judge(tree: Node, tables: Tables, parameters: Mapping[str, str]) -> None:
    """Raise ``RefusedError`` unless everything in the tree may be used by a reader."""
    kind = tree.get("type", "")
    walk = _Walk(tables, parameters)
    if kind == "SelectWithUnionQuery":
        walk.all_of(tree, Scope())
        check_expansion(tree)
    elif kind == "ExplainQuery":
        _explain(tree, walk)
    elif kind in SHOW:
        _show(kind, tree, walk)
    else:
        words = "Only SELECT, SHOW, DESCRIBE, EXISTS and EXPLAIN may be asked here."
        raise RefusedError(Code.READONLY, words)


def _explain(tree: Node, walk: _Walk) -> None:
    _fields(tree, EXPLAIN)
    if tree.get("kind") not in EXPLAIN_KINDS:
        raise RefusedError(
            Code.ACCESS_DENIED, f"{_word(tree.get('kind'))} is not offered to readers."
        )
    for change in (tree.get("settings") or {}).get("changes", ()):
        if change["name"] not in EXPLAIN_SETTINGS:
            raise RefusedError(
                Code.READONLY, f"Setting {_word(change['name'])} cannot be changed here."
            )
    query = tree.get("query") or {}
    if query.get("type") != "SelectWithUnionQuery":
        raise RefusedError(Code.ACCESS_DENIED, "Only a SELECT may be explained.")
    walk.all_of(query, Scope())
    check_expansion(query)


def _show(kind: str, tree: Node, walk: _Walk) -> None:
    _fields(tree, SHOW[kind])
    source = tree.get("from") or {}
    database = source.get("name") if source else tree.get("database")
    if source and (source.get("type") != "Identifier" or source.get("children")):
        raise RefusedError(Code.ACCESS_DENIED, "FROM must name a database.")
    if database:
        check_database(database)
    if "table" in tree:
        walk.tables.check([database, tree["table"]] if database else [tree["table"]], Scope())
    check_length(len(str(tree.get("like", ""))))
    for name in ("where_expression", "limit_length"):
        if name in tree:
            walk.all_of(tree[name], Scope())


class _Walk:
    """Goes through a tree without recursing: how deep it is, is for whoever sent it to say."""

    def __init__(self, tables: Tables, parameters: Mapping[str, str]) -> None:
        self.tables = tables
        self._parameters = parameters
        self._open: list[tuple[Node, Scope]] = []
        self._special: dict[str, Callable[[Node, Scope], None]] = {
            "SelectWithUnionQuery": self._union,
            "SelectQuery": self._select,
            "TableExpression": self._table_expression,
            "Function": self._function,
            "QueryParameter": self._parameter,
            "ColumnsApplyTransformer": self._apply,
            "TableIdentifier": self._table,
            "Identifier": self._identifier,
            **dict.fromkeys(_BY_PATTERN, self._pattern),
        }

    def all_of(self, tree: Node, scope: Scope) -> None:
        """Look at every node."""
        self._open.append((tree, scope))
        while self._open:
            node, scope = self._open.pop()
            kind = node.get("type", "")
            if kind not in NODES:
                raise RefusedError(Code.ACCESS_DENIED, f"{_word(kind)} is not offered to readers.")
            _fields(node, NODES[kind])
            _texts(node)
            self._special.get(kind, self._parts)(node, scope)

    def _parts(self, node: Node, scope: Scope) -> None:
        self._open += [(part, scope) for part in _children(node)]

    def _union(self, node: Node, scope: Scope) -> None:
        """What the first SELECT names after WITH, the others see too."""
        selects = node["list_of_selects"].get("children", [])
        first = selects[0] if selects else {}
        seen = _named(first, scope) if first.get("type") == "SelectQuery" else scope
        self._open += [(each, seen if place else scope) for place, each in enumerate(selects)]

    def _select(self, node: Node, scope: Scope) -> None:
        for element in (node.get("with") or {}).get("children", ()):
            name = element.get("name") if element.get("type") == "WithElement" else None
            inside = scope.with_table(name) if name and node.get("recursive_with") else scope
            self._open.append((element, inside))
            scope = _with(element, scope)
        rest = {name: part for name, part in node.items() if name != "with"}
        self._parts(rest, scope)

    def _table_expression(self, node: Node, scope: Scope) -> None:
        called = node.get("table_function")
        if called is None:
            self._parts(node, scope)
            return
        if called.get("type") != "Function" or called.get("name") not in TABLE_FUNCTIONS:
            words = f"Table function {_word(called.get('name'))} is not offered to readers."
            raise RefusedError(Code.ACCESS_DENIED, words)
        _fields(called, NODES["Function"])
        _texts(called)
        if called["name"] == "values":
            _check_values((called.get("arguments") or {}).get("children", []))
        # The engine does not carry names of the statement into a table function.
        self._parts(called, Scope())
        self._parts({k: v for k, v in node.items() if k != "table_function"}, scope)

    def _table(self, node: Node, scope: Scope) -> None:
        self._parts(node, scope)
        self.tables.check(_parts_of(node), scope)

    def _function(self, node: Node, scope: Scope) -> None:
        name = node["name"]
        if not may_call(name):
            raise _not_offered(name)
        arguments = (node.get("arguments") or {}).get("children", [])
        small = name.lower()
        if small in _IN and len(arguments) > 1:
            for each in arguments[1:]:
                if each.get("type") in ("Identifier", "TableIdentifier"):
                    self.tables.check_set(_parts_of(each), scope)
        _check_type(small, name, arguments)
        if small in _BY_NAME and not _names_aggregate(arguments[:1]):
            raise RefusedError(
                Code.ACCESS_DENIED, f"{name} must name an offered aggregate function."
            )
        check_pattern(small, arguments, self._parameters)
        if grows(small, arguments, within=scope.repeated):
            scope = replace(scope, repeated=True)
        self._parts(node, scope)

    def _apply(self, node: Node, scope: Scope) -> None:
        name = node.get("func_name")
        if name and not may_call(name):
            raise _not_offered(name)
        if name and name.lower() in _WITH_ARGUMENTS:
            words = f"APPLY takes {name} as a lambda only, with its arguments written out."
            raise RefusedError(Code.ACCESS_DENIED, words)
        self._parts(node, scope)

    def _identifier(self, node: Node, scope: Scope) -> None:
        for part in node.get("name_parts") or [node.get("name", "")]:
            if not names_no_odd_type(part) or _AGGREGATE in part.lower():
                raise _no_such_type()
        self._parts(node, scope)

    def _pattern(self, node: Node, scope: Scope) -> None:
        check_length(len(str(node.get("pattern", ""))))
        self._parts(node, scope)

    def _parameter(self, node: Node, scope: Scope) -> None:
        kind = node.get("param_type", "")
        if _IDENTIFIER.fullmatch(kind):
            words = "A parameter may be a value; names of tables and columns must be written out."
            raise RefusedError(Code.ACCESS_DENIED, words)
        if not is_type(kind):
            raise _no_such_type()


def _check_type(small: str, name: str, arguments: list[Node]) -> None:
    """Refuse a type that is made up, or that is none a reader may name."""
    if small == "getsubcolumn":
        if not _is_text(arguments[1:2]) or not names_no_odd_type(f".{_text_of(arguments[1])}"):
            raise _no_such_type()
        return
    if small not in _TYPED:
        return
    place = _TYPED[small]
    named = arguments[place:] if place < 0 else arguments[place : place + 1]
    if not _is_text(named):
        raise RefusedError(Code.ACCESS_DENIED, f"The type of {name} must be written out.")
    if not is_type(_text_of(named[0])):
        raise _no_such_type()


def _check_values(arguments: list[Node]) -> None:
    """Refuse what might be read as a structure, unless it is one of types that may be named."""
    first = arguments[0] if arguments else {}
    if _is_text([first]):
        if not _WORD.fullmatch(_text_of(first)) and not is_structure(_text_of(first)):
            words = "`values` begins with names and types, or with a row in brackets."
            raise RefusedError(Code.ACCESS_DENIED, words)
    elif first.get("type") != "Literal" and first.get("name") not in ("tuple", "array"):
        words = "The structure of `values` must be written out, its rows in brackets."
        raise RefusedError(Code.ACCESS_DENIED, words)


def _named(select: Node, scope: Scope) -> Scope:
    for element in (select.get("with") or {}).get("children", ()):
        scope = _with(element, scope)
    return scope


def _with(element: Node, scope: Scope) -> Scope:
    if element.get("type") == "WithElement":
        return scope.with_table(element["name"])
    return scope.with_value(element["alias"]) if element.get("alias") else scope


def _children(node: Node) -> Iterator[Node]:
    """Yield the nodes right below; what a literal holds is no node."""
    if node.get("type") == "Literal":
        return
    for part in node.values():
        if isinstance(part, dict):
            yield part
        elif isinstance(part, list):
            yield from (each for each in part if isinstance(each, dict))


def _fields(node: Node, known: frozenset[str]) -> None:
    for name, value in node.items():
        if name not in known or (name in OUTPUT_FLAGS and value):
            words = f"{_word(name)} of {_word(node.get('type'))} is not offered to readers."
            raise RefusedError(Code.ACCESS_DENIED, words)


def _texts(node: Node) -> None:
    for text in _strings(node):
        if _OURS.search(text):
            words = "A statement must not hold a text like `Python(`; send it as a parameter."
            raise RefusedError(Code.ACCESS_DENIED, words)
        if _STATE.search(text):
            raise _no_states()


def _strings(node: Node) -> Iterator[str]:
    """Yield the node's own texts, and all of those within a literal."""
    left: list[Any] = [v for k, v in node.items() if k == "value" or isinstance(v, str)]
    while left:
        value = left.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list):
            left += value


def _parts_of(node: Node) -> list[str]:
    if node.get("children"):
        raise RefusedError(Code.ACCESS_DENIED, "Names of tables must be written out.")
    return node.get("name_parts") or [node["name"]]


def _is_text(nodes: list[Node]) -> bool:
    if not nodes or nodes[0].get("type") != "Literal":
        return False
    value = nodes[0].get("value") or {}
    return bool(value.get("field_type") == "String")


def _text_of(node: Node) -> str:
    return str(node["value"]["value"])


def _names_aggregate(nodes: list[Node]) -> bool:
    return _is_text(nodes) and named_aggregate(_text_of(nodes[0]))


def _no_such_type() -> RefusedError:
    words = "No such type is offered: names of types, numbers and brackets, without comments."
    return RefusedError(Code.ACCESS_DENIED, words)


def _no_states() -> RefusedError:
    return RefusedError(
        Code.ACCESS_DENIED, "States of aggregate functions cannot be sent from outside."
    )


def _not_offered(name: str) -> RefusedError:
    return RefusedError(Code.ACCESS_DENIED, f"Function {_word(name)} is not offered to readers.")


def _word(text: object) -> str:
    return repr(str(text)[:60]) if not str(text).replace(" ", "_").isidentifier() else str(text)
