"""Rules that recite facts, asked in many words, both ways."""

from __future__ import annotations

import re
from functools import cache

from monitor.lab.responder.asking import Ask, stem
from monitor.lab.responder.draft import Piece, known
from monitor.lab.responder.knowledge import (
    BACK,
    CHINESE,
    CUES,
    Row,
    in_language,
    index,
    mentions,
    plain,
    rows,
)

_BEFORE = re.compile(r"\bbefore\b|\bprecedes?\b|前一天|之前")
_ABOUT_BEFORE = re.compile(
    r"\b(?:its|it|he|she|his|her|this|that|there)\b|它|他|她|该", re.IGNORECASE
)
# Relations whose names are sets of words, which a question may bring in any order.
_BY_WORDS = ("superlative", "process")
_ALIKE = {"biggest": "largest", "greatest": "largest", "tallest": "highest", "nearest": "closest",
          "furthest": "farthest", "littlest": "smallest"}  # fmt: skip
_SMALL_WORDS = {"the", "a", "an", "of", "in", "to", "on", "is", "from", "their", "its", "it", "by"}


def load() -> None:
    """Read the fact file now, so that the first question need not wait for it."""
    index()


def recite(ask: Ask) -> list[Piece] | None:
    """Answer a question about a fact, in the language of the question."""
    match = _chosen(ask.text) or _best(ask.text) or _by_words(ask.text)
    if match is None and _ABOUT_BEFORE.search(ask.text):
        before = ask.reading.text[max(ask.turn.start, ask.clause.start - 160) : ask.clause.start]
        match = _best(f"{before} {ask.text}")
    if match is None:
        return None
    return [known(in_language(match, chinese=ask.chinese), ask.clause.start)]


def _chosen(text: str) -> tuple[str, ...] | None:
    """Return which of several named things has the property that the question names."""
    if not re.search(r"\bwhich (?:one )?of\b|\bwhich (?:is|animal)\b", text.lower()):
        return None
    said = f" {plain(text)} "
    found = [
        row.entity
        for _, row in mentions(text, index()[0])
        if CUES[row.relation] and re.search(CUES[row.relation], text.lower())
        if any(f" {plain(value)} " in said for value in row.value)
    ]
    return found[0] if len(set(found)) == 1 else None


def _best(text: str) -> tuple[str, ...] | None:
    """Return the names of the answer: forth or back, whichever goes by the longer name."""
    forth, back = _forward(text), _backward(text)
    if forth and back:
        return back[1] if back[0] > forth[0] else forth[1]
    best = forth or back
    return best[1] if best else None


def _by_words(text: str) -> tuple[str, ...] | None:
    """Return the value of the row that has most words in a question, all of its name's."""
    low = text.lower()
    said = _telling_words(text)
    best, found = 1, None
    for relation, name, parts, row in _word_rows():
        if len(parts) <= best or not re.search(CUES[relation], low):
            continue
        places = (
            [low.find(part) for part in parts] if CHINESE.search(name) else _places(parts, said)
        )
        # What becomes what is told by the order; "which planet is largest" may stand as it likes.
        if min(places) >= 0 and (relation == "superlative" or places == sorted(places)):
            best, found = len(parts), row.value
    return found


def _places(parts: tuple[str, ...], said: list[str]) -> list[int]:
    """Return where the words of a name stand in a question, each behind the last if it can."""
    places: list[int] = []
    for part in parts:
        behind = places[-1] + 1 if places else 0
        here = [place for place, word in enumerate(said) if word == part]
        places.append(next((place for place in here if place >= behind), here[0] if here else -1))
    return places


@cache
def _word_rows() -> tuple[tuple[str, str, tuple[str, ...], Row], ...]:
    """Return relation, name and the name's words for the rows that are asked for by words."""
    return tuple(
        (row.relation, name, tuple(_parts(name)), row)
        for row in rows()
        if row.relation in _BY_WORDS
        for name in row.entity
    )


def _parts(name: str) -> list[str]:
    return re.split("[的 ]", name.lower()) if CHINESE.search(name) else _telling_words(name)


def _telling_words(text: str) -> list[str]:
    said = [stem(word) for word in re.findall(r"[a-z0-9]+", text.lower())]
    return [_ALIKE.get(word, word) for word in said if word not in _SMALL_WORDS]


def _forward(text: str) -> tuple[float, tuple[str, ...]] | None:
    low = text.lower()
    best: tuple[float, tuple[str, ...]] | None = None
    for name, row in mentions(text, index()[0]):
        cue = CUES[row.relation]
        if (cue and not re.search(cue, low)) or _asks_back(row, low):
            continue
        # The longest name wins; of equals, the relation with the most particular cue.
        score = len(name) + (2 if row.relation in {"date", "end year", "start year"} else 0)
        if best is None or score > best[0]:
            best = (score, row.value)
    return best


def _asks_back(row: Row, low: str) -> bool:
    return row.relation in {"next day", "next month"} and bool(_BEFORE.search(low))


def _backward(text: str) -> tuple[float, tuple[str, ...]] | None:
    low = text.lower()
    for name, row in mentions(text, index()[1]):
        if row.relation in {"next day", "next month"}:
            if _BEFORE.search(low):
                return len(name), row.entity
            continue
        cue = CUES[row.relation]
        if not name or not re.search(BACK[row.relation], low):
            continue
        if not cue or re.search(cue, low) or row.relation in {"planet order", "month number"}:
            return len(name), row.entity
    for row in rows():
        if row.relation != "symbol" or not re.search(BACK["symbol"], low):
            continue
        if re.search(rf"(?<![\w]){re.escape(row.value[0])}(?![\w])", text):
            return 0, row.entity
    return None
