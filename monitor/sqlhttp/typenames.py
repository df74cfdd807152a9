"""Which types a statement may name: a small strict grammar, where the engine has a loose one.

The engine's own parser of types takes comments, quotes and backquotes anywhere in a name. What a
type may be made of here: names on a list, brackets, commas, numbers, texts, and names of elements.
"""

from __future__ import annotations

import re

MOST_CHARACTERS = 4_000
_MOST_DEPTH = 20
# The bytes of a state of an aggregate function are trusted by the engine, so none is made of what
# somebody sends: AggregateFunction and SimpleAggregateFunction are not here.
TYPES = frozenset(
    {
        *("array", "bfloat16", "bool", "boolean", "date", "date32", "datetime", "datetime32"),
        *("datetime64", "decimal", "decimal32", "decimal64", "decimal128", "decimal256", "dynamic"),
        *("enum", "enum8", "enum16", "fixedstring", "float32", "float64", "ipv4", "ipv6", "json"),
        *("int8", "int16", "int32", "int64", "int128", "int256", "lowcardinality", "map", "nested"),
        *("nothing", "nullable", "string", "time", "time64", "tuple", "uuid", "variant"),
        *("uint8", "uint16", "uint32", "uint64", "uint128", "uint256"),
        *("intervalnanosecond", "intervalmicrosecond", "intervalmillisecond", "intervalsecond"),
        *("intervalminute", "intervalhour", "intervalday", "intervalweek", "intervalmonth"),
        *("intervalquarter", "intervalyear"),
        # As other databases call these.
        *("bigint", "bigint signed", "bigint unsigned", "blob", "byte", "char", "char varying"),
        *("character", "character varying", "clob", "dec", "double", "double precision", "float"),
        *("inet4", "inet6", "int", "int signed", "int unsigned", "integer", "integer signed"),
        *("integer unsigned", "numeric", "real", "signed", "single", "smallint"),
        *("smallint signed", "smallint unsigned", "text", "timestamp", "tinyint"),
        *("tinyint signed", "tinyint unsigned", "unsigned", "varchar"),
    }
)
_TOKEN = re.compile(
    r"[ \t\r\n]*(?:(?P<word>[A-Za-z_][A-Za-z0-9_]*)|(?P<number>-?[0-9]+(?![A-Za-z0-9_]))"
    r"|(?P<text>'(?:[^'\\]|\\.|'')*')|(?P<name>`[A-Za-z_][A-Za-z0-9_. -]*`)|(?P<sign>[(),=]))",
    re.ASCII | re.DOTALL,
)
# `document.path.:Type`, with the type backquoted or not.
_SUBCOLUMN = re.compile(r"(?:^|\.):", re.DOTALL)
_END = ("", "")


def is_type(text: str) -> bool:
    """Tell whether the text names a type that a reader may name."""
    return _reads(text, structure=False)


def is_structure(text: str) -> bool:
    """Tell whether the text is a list of names of columns, each with a type that may be named."""
    return _reads(text, structure=True)


def names_no_odd_type(name: str) -> bool:
    """Tell whether a name is free of types, or one whose type (``a.:Int64``) may be named."""
    found = _SUBCOLUMN.split(name)
    return all(is_type(each.strip("`")) for each in found[1:])


def _reads(text: str, *, structure: bool) -> bool:
    if len(text) > MOST_CHARACTERS:
        return False
    tokens = _tokens(text.rstrip(" \t\r\n"))
    if tokens is None:
        return False
    reading = _Reading(tokens)
    whole = reading.columns() if structure else reading.a_type(0)
    return whole and reading.at_end()


def _tokens(text: str) -> list[tuple[str, str]] | None:
    tokens, place = [], 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            return None
        tokens.append((found.lastgroup or "", found[found.lastgroup or 0]))
        place = found.end()
    return tokens


class _Reading:
    """Goes through the words of a type once; nothing is tried twice for longer than two words."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._place = 0

    def at_end(self) -> bool:
        return self._place == len(self._tokens)

    def columns(self) -> bool:
        """Read ``name Type, name Type``."""
        while True:
            if not self._element_name() or not self.a_type(0):
                return False
            if not self._takes("sign", ","):
                return True

    def a_type(self, depth: int) -> bool:
        """Read a type, with what stands in its brackets."""
        length = self._name_length()
        if not length or depth > _MOST_DEPTH:
            return False
        self._place += length
        if not self._takes("sign", "("):
            return True
        if self._takes("sign", ")"):
            return True
        while self._argument(depth + 1):
            if self._takes("sign", ")"):
                return True
            if not self._takes("sign", ","):
                return False
        return False

    def _argument(self, depth: int) -> bool:
        """Read a number, a text (of an enumeration, with its number), an option or a type."""
        kind, _ = self._peek()
        if kind in ("number", "text"):
            self._place += 1
            return not self._takes("sign", "=") or self._takes("number")
        if kind == "word" and self._peek(1) == ("sign", "="):
            self._place += 2
            return self._takes("number")
        if self._is_named():
            return self._element_name() and self.a_type(depth)
        return self.a_type(depth)

    def _is_named(self) -> bool:
        """Tell whether a name of an element comes, and then its type."""
        if self._peek()[0] == "name":
            return True
        length = self._name_length()
        return self._peek(1)[0] == "word" and length <= 1

    def _element_name(self) -> bool:
        kind, said = self._peek()
        self._place += 1
        return kind in ("word", "name") and "aggregatefunction" not in said.lower()

    def _name_length(self) -> int:
        """Return how many words the name of a type here has; 0 if it is none that we know."""
        for length in (2, 1):
            parts = [self._peek(place) for place in range(length)]
            name = " ".join(said for _, said in parts).lower()
            if all(kind == "word" for kind, _ in parts) and name in TYPES:
                return length
        return 0

    def _peek(self, ahead: int = 0) -> tuple[str, str]:
        place = self._place + ahead
        return self._tokens[place] if place < len(self._tokens) else _END

    def _takes(self, kind: str, said: str | None = None) -> bool:
        found = self._peek()
        taken = found[0] == kind and said in (None, found[1])
        self._place += taken
        return taken
