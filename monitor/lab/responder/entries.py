"""Definitions in the text: "the A of B is X" sentences and "KEY: VALUE" lines."""

# ruff: noqa: E501, RUF001 (patterns read best whole; Chinese signs are meant)
from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from monitor.lab.responder.asking import Span, stem, words

_SENTENCE_END = (
    r"(?=\s*(?:$|[\ue000-\ue03f;\n(])|[.!?](?:[\"')\]]?\s|[\"')\]]?$|[\ue000-\ue03f])"
    r"|,\s|\s(?:and|but)\s)"
)
_DEFINED = re.compile(
    r"\b(?P<article>[Tt]he|[Mm]y|[Oo]ur|[Yy]our|[Ii]ts|[Tt]his|[Hh]is|[Hh]er|[Ss]uch)\s+"
    r"(?P<a>[A-Za-z][\w'-]*(?: [A-Za-z0-9][\w'-]*){0,5}?)"
    r"(?:\s+(?:of|for|to|on|at|in)\s+(?P<b>[\w'-]+(?: [\w'-]+){0,6}?))?"
    r"\s*(?:\bis\b|\bwas\b|\breads\b|=|:(?!(?<=\d:)\d\d\b))(?:\s+now|\s+the following)?\s*[:=]?\s*"
    r"(?P<q>[\"'`«“]?)(?P<x>[^\n\"'`“”\ue000-\ue03f]{1,90}?)(?P=q)?[\"'`»”]?" + _SENTENCE_END,
    re.MULTILINE,
)
_DEFINED_ZH = re.compile(
    r"(?P<b>[\u4e00-\u9fffA-Za-z0-9 ]{0,14}?的)?(?P<a>(?!请?记[住下]|请?注意)[\u4e00-\u9fff]{2,10}?)(?:是|为|：|:|＝|=)\s*"
    r"[“\"'「]?(?P<x>[A-Za-z0-9][\w\-]*|[\u4e00-\u9fff]{1,12}|\d+)[”\"'」]?(?=[。，；,;.\s]|$)",
    re.MULTILINE,
)
_LINE = re.compile(
    r"[ \t]*(?:[-*•]|\d+[.)](?=\s))?[ \t]*(?P<key>[^\n:=|\t，：]{1,60}?)[ \t]*"
    r"(?::|：|=>|->|→|=|\||\t|,(?=\s*\S+$)|，| – | - )[ \t]*(?P<value>[^\n]{1,90}?)[ \t]*[.;,]?[ \t]*$"
)
_SHORT_LINE = re.compile(r"[^\n]{3,160}")
_SENTENCE = re.compile(r"(?<=\w)[.!?]\s+(?=[A-Z])")
_EVENT = re.compile(r"(?:\w+ed|not|very|now)\s+\S+\s+\S")
_ASKED = re.compile(r"(?:what|which|who|whose|when|where|how)\b", re.IGNORECASE)
# The colon of a time of day, 6:40, is no sign.
_SIGN = re.compile(r":(?!(?<=\d:)\d\d\b)|=|->|→")
_INLINE = re.compile(
    r"(?P<key>[\w][\w '-]{0,30}?)\s*(?::|=|->|→|=>)\s*(?P<value>[\w][\w.@+-]*)(?=[,;.\n]|\s*$|\s+and\b)",
    re.MULTILINE,
)
_WORD = re.compile(r"[a-z0-9]+|[\u4e00-\u9fff]")
_EMPTY = {"the", "a", "an", "of", "for", "to", "thi", "this", "that", "our", "your", "my", "in",
          "on", "at", "following", "new", "secret", "its", "is"}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Something defined: what of it, whose, its value, and where the value stands."""

    attribute: str
    owner: str
    value: str
    at: int


@lru_cache(maxsize=64)
def definitions(text: str, span: Span) -> tuple[Entry, ...]:
    """Return the "A of B is X" sentences of a span, in order."""
    found = []
    for pattern in (_DEFINED, _DEFINED_ZH):
        for match in pattern.finditer(text, span.start, span.end):
            value, at = match["x"].strip(), match.start("x")
            # "The meeting was moved to room 12" tells what happened; it defines nothing.
            if value and not (_EVENT.match(value) or _ASKED.match(text, match.start("x"))):
                owner = (match["b"] or "").rstrip("的")
                attribute = match["a"].removesuffix(" code is")
                found.append(Entry(attribute=attribute, owner=owner, value=value, at=at))
    return tuple(sorted(found, key=lambda entry: entry.at))


@lru_cache(maxsize=64)
def lines(text: str, span: Span) -> tuple[Entry, ...]:
    """Return the "KEY: VALUE" lines of a span, in order."""
    found = []
    for line in _SHORT_LINE.finditer(text, span.start, span.end):
        match = _LINE.match(text, line.start(), line.end())
        if match is None:
            continue
        quoted = _SENTENCE.split(match["value"])[0].strip("\"'`“”")
        at = match.start("value") + match["value"].find(quoted)
        key = match["key"].strip(" \"'`“”*")
        if quoted and key:
            found.append(Entry(attribute="", owner=key, value=quoted, at=at))
    return tuple(found)


@lru_cache(maxsize=64)
def inline(text: str, span: Span) -> tuple[Entry, ...]:
    """Return "key = value" pairs that stand within sentences."""
    found = []
    for sign in _SIGN.finditer(text, span.start, span.end):
        near = (max(span.start, sign.start() - 32), min(span.end, sign.end() + 60))
        pairs = _INLINE.finditer(text, *near)
        match = next((pair for pair in pairs if pair.start("value") > sign.start()), None)
        if match:
            value, key = match["value"].rstrip("."), match["key"].strip()
            found.append(Entry(attribute="", owner=key, value=value, at=match.start("value")))
    return tuple(found)


def content_words(text: str) -> set[str]:
    """Return the words that tell one thing from another."""
    return words(text) - _EMPTY


def place_of(name: str, clause: str) -> int:
    """Return where a clause first speaks of a name that all its words are in; -1 if not."""
    wanted = content_words(name)
    places = {stem(m.group()): m.start() for m in reversed(list(_WORD.finditer(clause.lower())))}
    if not wanted or not wanted <= places.keys():
        return -1
    # "the head, the middle and the tail gate": the last word may stand far behind.
    last = stem(name.lower().split()[-1])
    return min(places[word] for word in (wanted - {last} or wanted))
