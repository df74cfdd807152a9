"""From what a reader sent to what runs: parsed, judged and written out anew.

The engine's own parser reads the statement, we judge the tree, and what runs is the tree written
out again: comments, odd quoting and a second statement never reach it, and there is no second
grammar of ours to disagree with the engine's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from monitor.sqlhttp.failures import Code, RefusedError, SqlError
from monitor.sqlhttp.formats import known_format
from monitor.sqlhttp.judging import Node, judge
from monitor.sqlhttp.names import DATABASE, Scope, Tables, check_database
from monitor.sqlhttp.shapes import HARMLESS_SETTINGS

MOST_BYTES = 262_144
_NAME = r"(?:`((?:[^`\\])+)`|([A-Za-z_]\w*))"
# Statements that the engine does not show as a tree, as it writes them out itself.
_ABOUT_TABLE = re.compile(
    rf"(DESCRIBE TABLE|EXISTS TABLE|EXISTS VIEW|SHOW CREATE TABLE|SHOW CREATE VIEW) "
    rf"{_NAME}(?:\.{_NAME})?(?: FORMAT {_NAME})?"
)
_DESCRIBE = re.compile(rf"DESCRIBE TABLE \((.+)\)(?: FORMAT {_NAME})?", re.DOTALL)
_FUNCTIONS = re.compile(
    rf"(SHOW FUNCTIONS(?: I?LIKE '(?:[^'\\]|\\.)*')?)(?: FORMAT {_NAME})?", re.DOTALL
)
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_BRACKETS = str.maketrans("", "", "()")
_COSMETIC = ("is_operator",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What the engine's parser makes of a statement."""

    tree: Node | None  # of a statement that can be shown as one
    text: str  # as the engine writes the statement out
    tree_text: str  # as it writes the tree out
    tree_again: Node | None  # what it reads from that


class Parser(Protocol):
    """Reads statements as the engine does; may raise ``SqlError``."""

    def parse(self, statement: bytes) -> Parsed:
        """Return what one statement is. Nothing of it runs."""

    def write(self, tree: Node) -> Parsed:
        """Return what a tree says, and what is read from that again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement that may run."""

    sql: str
    form: str | None = None  # what it asks for itself
    is_select: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a statement is judged by, besides its own words."""

    tables: Tables
    parameters: Mapping[str, str]


def read_statement(
    parser: Parser, sent: bytes, tables: Tables, parameters: Mapping[str, str]
) -> Statement:
    """Return what to run. Raises ``SqlError`` if it is no SQL, ``RefusedError`` if it may not."""
    if len(sent) > MOST_BYTES:
        words = f"A statement may have {MOST_BYTES} bytes; send long lists as parameters."
        raise RefusedError(Code.QUERY_IS_TOO_LARGE, words)
    try:
        sent.decode()
    except UnicodeDecodeError:
        raise RefusedError(Code.SYNTAX_ERROR, "A statement must be text in UTF-8.") from None
    try:
        return _read(parser, sent, Known(tables=tables, parameters=parameters))
    except RecursionError:
        raise RefusedError(Code.TOO_DEEP_AST, "The statement is nested too deeply.") from None


def _read(parser: Parser, sent: bytes, known: Known) -> Statement:
    parsed = parser.parse(sent)
    if parsed.tree is None:
        return _without_tree(parser, parsed.text, known)
    if _loose(parsed.text) != _loose(parsed.tree_text):
        raise _unfaithful()
    tree, form = _without_output(parsed.tree)
    if tree != parsed.tree:
        parsed = parser.write(tree)
    if parsed.tree_again is None or _bare(parsed.tree_again) != _bare(tree):
        raise _unfaithful()
    # What is judged is what will be read from the text that runs.
    judge(parsed.tree_again, known.tables, known.parameters)
    return Statement(
        sql=parsed.tree_text, form=form, is_select=tree.get("type") == "SelectWithUnionQuery"
    )


def _without_output(tree: Node) -> tuple[Node, str | None]:
    """Return the tree without FORMAT and settings, and the format it asks for."""
    if "out_file" in tree:
        raise RefusedError(
            Code.ACCESS_DENIED, "INTO OUTFILE is not offered: the answer goes to you."
        )
    form = None
    named = tree.get("format_ast")
    if named is not None:
        form = known_format(str(named.get("name")))
    rest = {k: v for k, v in tree.items() if k not in ("format_ast", "settings_ast")}
    if "settings_ast" in tree:
        _check_settings(tree["settings_ast"])
    if rest.get("type") == "SelectWithUnionQuery":
        rest["list_of_selects"] = _without_settings(rest["list_of_selects"])
    return rest, form


def _without_settings(selects: Node) -> Node:
    """SETTINGS at the end of a statement stand in its last SELECT."""
    children = list(selects.get("children", ()))
    if not children or "settings" not in children[-1]:
        return selects
    _check_settings(children[-1]["settings"])
    children[-1] = {k: v for k, v in children[-1].items() if k != "settings"}
    return {**selects, "children": children}


def _check_settings(node: Node) -> None:
    for change in node.get("changes", ()):
        if change["name"] not in HARMLESS_SETTINGS:
            words = f"Cannot modify {str(change['name'])[:60]!r} setting in readonly mode."
            raise RefusedError(Code.READONLY, words)


def _without_tree(parser: Parser, text: str, known: Known) -> Statement:
    if found := _ABOUT_TABLE.fullmatch(text):
        what, *names = found.groups()
        quoted = [first or second for first, second in zip(names[::2], names[1::2], strict=True)]
        table, under, form = quoted
        parts = [table, under] if under else [table]
        sql = _about(what, [str(part) for part in parts], known.tables)
        return Statement(sql=sql, form=known_format(form) if form else None, is_select=False)
    if found := _DESCRIBE.fullmatch(text):
        inner = _read(parser, found[1].encode("utf-8", "surrogateescape"), known)
        if not inner.is_select or inner.form:
            raise RefusedError(Code.SYNTAX_ERROR, "Only a table or a SELECT can be described.")
        form = found[2] or found[3]
        form = known_format(form) if form else None
        return Statement(sql=f"DESCRIBE TABLE ({inner.sql})", form=form, is_select=False)
    if found := _FUNCTIONS.fullmatch(text):
        form = found[2] or found[3]
        form = known_format(form) if form else None
        return Statement(sql=found[1], form=form, is_select=False)
    words = "Only SELECT, SHOW, DESCRIBE, EXISTS and EXPLAIN may be asked here."
    raise RefusedError(Code.READONLY, words)


def _about(what: str, parts: list[str], tables: Tables) -> str:
    """Return a statement about one table, made of words that are known to be harmless."""
    if not all(_PLAIN.fullmatch(part) for part in parts):
        raise RefusedError(Code.UNKNOWN_TABLE, "There is no such table.")
    if what.startswith("EXISTS") and not tables.knows(parts):
        return "SELECT toUInt8(0) AS result"
    tables.check(parts, Scope())
    database = parts[0] if len(parts) > 1 else DATABASE
    check_database(database)
    return f"{what} `{database}`.`{parts[-1]}`"


def _loose(text: str) -> str:
    """Brackets that change nothing are written by one and not by the other."""
    return text.translate(_BRACKETS)


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _bare(v) for k, v in value.items() if k not in _COSMETIC}
    if isinstance(value, list):
        return [_bare(each) for each in value]
    return value


def _unfaithful() -> SqlError:
    words = "This statement cannot be checked as a whole; write it more simply."
    return RefusedError(Code.NOT_IMPLEMENTED, words)
