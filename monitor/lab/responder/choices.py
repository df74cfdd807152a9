"""Rules that choose among what the question offers: lettered options, and kinds of things."""

# ruff: noqa: E501, RUF001 (patterns read best whole; Chinese signs are meant)
from __future__ import annotations

import re
from dataclasses import dataclass

from monitor.lab.responder import facts
from monitor.lab.responder.arithmetic import reckon
from monitor.lab.responder.asking import Ask
from monitor.lab.responder.draft import Piece, copied, known
from monitor.lab.responder.knowledge import kinds_named, kinds_of, names_of
from monitor.lab.responder.wordplay import compare, items

_LABEL = re.compile(r"(?<![A-Za-z])[(（]?([A-Ha-h])(?:[).:、．：）]\s*|\s(?=[\u4e00-\u9fff]))")
_END = re.compile(r"[.。?？!！](?=\s|$|[\u4e00-\u9fff])|\n")
_WHICH = re.compile(r"\b(?:which|what|who)\b|哪|什么|谁|下面|下列|以下", re.IGNORECASE)
_NOT = re.compile(r"\bnot\b|\bisn't\b|\bodd one\b|不是|不属于", re.IGNORECASE)
_LETTER_ONLY = re.compile(r"\bletter\b|字母", re.IGNORECASE)
_LISTED = re.compile(
    r"[:：]\s*([^?？\n]+)|\bof\s+((?:[\w ]+,\s*)+[\w ]+?(?:,? (?:and|or) [\w ]+?))(?=\s+(?:is|are)\b)|(?:^|[，,])([^，,？?]+(?:、[^，,？?、中]+)+)"
)


@dataclass(frozen=True, slots=True)
class _Option:
    letter: str
    text: str
    at: int


def choose(ask: Ask) -> list[Piece] | None:
    """Answer "Which of these is an animal? A) hammer B) rabbit", and the same without letters."""
    if not _WHICH.search(ask.text):
        return None
    lettered = _lettered(ask)
    options = lettered or _unlettered(ask)
    if len(options) < 2:  # noqa: PLR2004 (a choice is between two)
        return None
    chosen = _of_kind(ask, options) or (_as_answered(ask, options) if lettered else None)
    if chosen is None:
        return None
    if not lettered:
        return [copied(chosen.text, chosen.at)]
    if _LETTER_ONLY.search(ask.turn_text):
        return [known(chosen.letter, chosen.at)]
    return [known(f"{chosen.letter}) ", chosen.at), copied(chosen.text, chosen.at)]


def _lettered(ask: Ask) -> list[_Option]:
    text = ask.reading.text
    labels = list(_LABEL.finditer(text, ask.clause.start, ask.turn.end))
    first = next((n for n, label in enumerate(labels) if label[1] in "Aa"), None)
    if first is None:
        return []
    run = [label for n, label in enumerate(labels[first:]) if ord(label[1].upper()) == ord("A") + n]
    options = []
    for number, label in enumerate(run):
        last = number == len(run) - 1
        stop = _END.search(text, label.end(), ask.turn.end) if last else None
        end = (stop.start() if stop else ask.turn.end) if last else run[number + 1].start()
        shown = text[label.end() : end].strip(" \n\t,;，；、.。?？")
        options.append(_Option(label[1], shown, label.end()))
    return [option for option in options if option.text]


def _unlettered(ask: Ask) -> list[_Option]:
    """Return the members of "Which of these is a tool: a, b, c?" and "a, b and c"."""
    found = _LISTED.search(ask.text)
    if not found:
        return []
    group = next(n for n in (1, 2, 3) if found.group(n))
    listed, base = found.group(group), ask.clause.start + found.start(group)
    names = [
        re.sub(r"^(?:or|and)\s+|^(?:还是|和)", "", name)
        for name in items(listed.replace(" or ", ", "))
    ]
    return [_Option("", name, base + max(0, listed.find(name))) for name in names]


def _of_kind(ask: Ask, options: list[_Option]) -> _Option | None:
    """Return the only option that is (or is not) of the kind the question names."""
    stem = ask.text
    for option in options:
        stem = stem.replace(option.text, " ")
    for kind in kinds_named(stem):
        fitting = [option for option in options if kind in kinds_of(option.text)]
        if _NOT.search(stem):
            fitting = [option for option in options if option not in fitting]
        if len(fitting) == 1:
            return fitting[0]
    return None


def _as_answered(ask: Ask, options: list[_Option]) -> _Option | None:
    """Return the option that says what the question's answer would be without options."""
    for rule in (reckon, facts.recite):
        said = "".join(piece.text for piece in rule(ask) or [])
        names = names_of(said) if said else set()
        fitting = [option for option in options if option.text.lower() in names]
        if len(fitting) == 1:
            return fitting[0]
    numbers = [option for option in options if re.fullmatch(r"-?\d+(?:\.\d+)?", option.text)]
    if len(numbers) == len(options):
        asked = ask.text + " " + ", ".join(option.text for option in numbers)
        largest = compare(ask, asked)
        return next((one for one in numbers if largest and one.text == largest[0].text), None)
    return None
