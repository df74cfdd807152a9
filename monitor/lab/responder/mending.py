"""The reader of almost-JSON: single quotes, bare keys, stray commas."""

# ruff: noqa: RUF001 (typographic quotes are meant)
from __future__ import annotations

import re

_TOKEN = re.compile(
    r"\s*(?:(?P<sign>[{}\[\],:])|(?P<quote>[\"'`“‘])(?P<text>[^\"'`”’]*)[\"'`”’]"
    r"|(?P<bare>[^\s{}\[\],:\"'`][^{}\[\],:\"'`\n]*))"
)
_WORDS = {"true": True, "false": False, "null": None, "none": None, "yes": True, "no": False}


class _BrokenError(ValueError):
    """Not even almost JSON."""


def mend(text: str) -> object | None:
    """Return the object that a text means to be, or ``None``."""
    tokens = [found.groupdict() for found in _TOKEN.finditer(text)]
    try:
        return _value(tokens)
    except (_BrokenError, IndexError):
        return None


def _value(tokens: list[dict[str, str | None]]) -> object:
    token = tokens.pop(0)
    if token["sign"] == "{":
        return _object(tokens)
    if token["sign"] == "[":
        return _array(tokens)
    if token["sign"]:
        raise _BrokenError
    if token["quote"]:
        return token["text"] or ""
    return _scalar((token["bare"] or "").strip())


def _object(tokens: list[dict[str, str | None]]) -> dict[str, object]:
    found: dict[str, object] = {}
    while tokens and tokens[0]["sign"] != "}":
        if tokens[0]["sign"] == ",":
            tokens.pop(0)
            continue
        key = tokens.pop(0)
        if key["sign"] or tokens.pop(0)["sign"] != ":":
            raise _BrokenError
        found[(key["text"] if key["quote"] else key["bare"] or "").strip()] = _value(tokens)  # type: ignore[union-attr]
    del tokens[:1]
    return found


def _array(tokens: list[dict[str, str | None]]) -> list[object]:
    found: list[object] = []
    while tokens and tokens[0]["sign"] != "]":
        if tokens[0]["sign"] == ",":
            tokens.pop(0)
            continue
        found.append(_value(tokens))
    del tokens[:1]
    return found


def _scalar(word: str) -> object:
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    if re.fullmatch(r"-?\d+", word):
        return int(word)
    return float(word) if re.fullmatch(r"-?\d+\.\d+", word) else word
