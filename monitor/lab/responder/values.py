"""Values for named keys: what a schema or a tool's parameter wants, found in the turn."""

# ruff: noqa: E501, PLR2004, RUF001 (patterns read best whole; Chinese signs are meant)
from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from monitor.lab.responder import extract
from monitor.lab.responder.asking import Ask, words
from monitor.lab.responder.draft import Piece
from monitor.lab.responder.entries import content_words, definitions, inline, lines
from monitor.lab.responder.recall import CODE
from monitor.lab.responder.wordplay import items

Found = tuple[str, int]
Answers = Callable[[Ask], list[list[Piece]]]
_CODE_KEYS = {"code", "id", "reference", "ticket", "nonce", "token", "ref", "marker", "key"}
_TEXT_KEYS = {"query", "text", "message", "title", "subject", "expression", "topic", "note",
              "content", "body", "question", "keyword", "search"}  # fmt: skip
_RESULT_KEYS = {"sum", "result", "answer", "total", "difference", "product", "value", "solution",
                "response", "output"}  # fmt: skip
# "Anna Weber lives", "小明今年".
_SUBJECT = re.compile(
    r"(?:^|[.!?:]\s+|\n)((?!(?:The|A|An|It|He|She|They|This|That|There|Our|My|Please|In|On|At)\b)"
    r"[A-Z][a-zà-ÿ]+(?: [A-Z][a-zà-ÿ]+)*)(?= (?:is|was|has|had|does|did|will|[a-z]+(?:s|ed|ght))\b)"
    r"|(?:^|[。！？：\s])([\u4e00-\u9fff]{2,4}?)(?=今年|现年|现在|住|来自|是|有|没|\d+岁|在|买|喜欢)"
)
_UNITS = ("celsius", "fahrenheit", "kelvin", "km", "miles", "kg")


def key_words(key: str) -> set[str]:
    """Return the words of a key written in any case style."""
    return words(re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", key))


def value_for(
    ask: Ask, key: str, schema: Mapping[str, Any], answers: list[list[Piece]]
) -> Found | None:
    """Return the text and place of the value of one key, or ``None``."""
    asked = key_words(key)
    finders: tuple[Callable[[], Found | None], ...] = (
        lambda: _enumerated(ask, schema),
        lambda: _enumeration(ask, key, schema),
        lambda: _defined(ask, asked),
        lambda: _spoken(ask, key),
        lambda: _after_verb(ask, key, schema),
        lambda: _subject(ask, asked),
        lambda: _coded(ask, asked),
        lambda: _field(ask, key, asked),
        lambda: _reckoned(asked, answers),
        lambda: _numbered(ask, key, schema),
        lambda: _quoted(ask, asked),
        lambda: _any_answer(answers, schema),
    )
    return next((found for finder in finders if (found := finder())), None)


def _enumerated(ask: Ask, schema: Mapping[str, Any]) -> Found | None:
    low = ask.turn_text.lower()
    options = [option for option in schema.get("enum", ()) if isinstance(option, str)]
    for option in sorted(options, key=len, reverse=True):
        at = low.find(option.lower())
        if at >= 0:
            return option, ask.turn.start + at
    return (options[0], ask.turn.start) if options else None


def _defined(ask: Ask, asked: set[str]) -> Found | None:
    text = ask.reading.text
    for scope in ask.scopes:
        for entry in [*definitions(text, scope), *lines(text, scope), *inline(text, scope)]:
            name = content_words(entry.attribute or entry.owner)
            if name and (name <= asked or asked <= name) and len(name) <= 4:
                return entry.value, entry.at
    return None


def _spoken(ask: Ask, key: str) -> Found | None:
    """Return X of "with title X", "city = X", "quantity 3"."""
    name = re.escape(re.sub(r"_", " ", key))
    pattern = rf"(?<![\"'“`\w]){name}\b\s*(?:is|of|=|:|to|：)?\s*(?:[\"'“]([^\"'”\n]+)[\"'”]|(\d[\d.:-]*\b(?!-)))"
    found = re.search(pattern, ask.turn_text, re.IGNORECASE)
    if not found:
        return None
    group = 1 if found.group(1) else 2
    return found.group(group).rstrip(".:"), ask.turn.start + found.start(group)


def _after_verb(ask: Ask, key: str, schema: Mapping[str, Any]) -> Found | None:
    """Return the number of "closes at 18" for the key "closes"."""
    if schema.get("type") not in {"integer", "number"} and not schema.get("guess"):
        return None
    stems = re.escape(re.sub(r"(?:es|s|ed|ing)$", "", key.lower()))
    pattern = rf"(?<![\"'“`\w]){stems}\w{{0,4}}\s+(?:\w+\s+){{0,2}}?(\d+(?:\.\d+)?)(?![\w:-])"
    found = re.search(pattern, ask.turn_text, re.IGNORECASE)
    return (found.group(1), ask.turn.start + found.start(1)) if found else None


def _subject(ask: Ask, asked: set[str]) -> Found | None:
    """Return whom the first statement is about, for the key "name"."""
    if not asked & {"name", "person", "who", "customer"}:
        return None
    found = _SUBJECT.search(ask.turn_text)
    if not found:
        return None
    group = 1 if found.group(1) else 2
    return found.group(group), ask.turn.start + found.start(group)


def _coded(ask: Ask, asked: set[str]) -> Found | None:
    if not asked & _CODE_KEYS:
        return None
    codes = list(re.finditer(rf"(?<![\w-])(?:{CODE})(?![\w-])", ask.turn_text))
    # "Book crate 31 under the code ab-cd": a plain number is the code only if nothing else is.
    found = next((code for code in codes if "-" in code.group()), codes[0] if codes else None)
    return (found.group(), ask.turn.start + found.start()) if found else None


def _enumeration(ask: Ask, key: str, schema: Mapping[str, Any]) -> Found | None:
    """Return the members of "the words are plum, cedar and lamp" for the key "words"."""
    if schema.get("type") != "array":
        return None
    name = re.escape(" ".join(re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", key).split()))
    pattern = rf"(?<![\"'“`\w]){name}\b\s*(?:are|were|is|=|:)?\s*:?\s*([^.;:\n\ue000-\ue03f]+)"
    found = re.search(pattern, ask.turn_text, re.IGNORECASE)
    return (found.group(1).strip(), ask.turn.start + found.start(1)) if found else None


def _field(ask: Ask, key: str, asked: set[str]) -> Found | None:
    name = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", key)
    for cue, patterns in extract.FIELDS:
        if re.search(cue, name, re.IGNORECASE) or asked & {cue}:
            anywhere = Ask(
                reading=ask.reading,
                clause=type(ask.clause)(start=ask.turn.end, end=ask.turn.end),
                turn=ask.turn,
                scopes=ask.scopes[:1],
            )
            found = extract.find(anywhere, patterns)
            if found:
                return found
    if asked & {"unit"}:
        return next(
            (
                (u, ask.turn.start + at)
                for u in _UNITS
                if (at := ask.turn_text.lower().find(u)) >= 0
            ),
            None,
        )
    return None


def _reckoned(asked: set[str], answers: list[list[Piece]]) -> Found | None:
    if not asked & _RESULT_KEYS or not answers:
        return None
    last = answers[-1]
    return "".join(piece.text for piece in last), last[0].at


def _numbered(ask: Ask, key: str, schema: Mapping[str, Any]) -> Found | None:
    if schema.get("type") not in {"integer", "number"}:
        return None
    numbers = list(re.finditer(r"(?<![\w-])-?\d+(?:\.\d+)?(?![\w-])", ask.turn_text))
    if not numbers:
        return None
    order = {"b": 1, "y": 1, "second": 1, "right": 1, "end": 1, "num2": 1, "to": 1, "c": 2}
    rank = next((n for part, n in order.items() if part in {key.lower(), *key_words(key)}), 0)
    found = numbers[min(rank, len(numbers) - 1)]
    return found.group(), ask.turn.start + found.start()


def _quoted(ask: Ask, asked: set[str]) -> Found | None:
    if not asked & _TEXT_KEYS:
        return None
    found = re.search("[\"“'‘]([^\"”'’\n]{2,})[\"”'’]", ask.turn_text) or re.search(
        r"\b(?:for|about|titled|called|saying)\s+([^.,\n?]+)", ask.turn_text
    )
    return (found.group(1).strip(), ask.turn.start + found.start(1)) if found else None


def _any_answer(answers: list[list[Piece]], schema: Mapping[str, Any]) -> Found | None:
    for answer in reversed(answers):
        text = "".join(piece.text for piece in answer)
        numeric = bool(re.fullmatch(r"-?\d+(?:\.\d+)?", text))
        if numeric == (schema.get("type") in {"integer", "number"}):
            return text, answer[0].at
    return None


def members(text: str) -> list[str]:
    """Return the members of a list found as a value."""
    return items(text)
