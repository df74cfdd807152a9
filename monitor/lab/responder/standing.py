"""Instructions that hold for every answer: of a system message, or of "from now on" in a turn."""

# ruff: noqa: E501 (patterns read best whole)
from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from monitor.lab.responder.asking import Span, clauses
from monitor.lab.responder.draft import Draft, Piece, copied, known
from monitor.lab.responder.reading import Reading
from monitor.lab.responder.shape import bracketed, cased
from monitor.lab.tokenizer import Special

_ANSWERS = r"(?:answers?|repl(?:y|ies)|responses?|messages?|sentences?|outputs?|turns?)"
_FOR_ALL = re.compile(
    rf"\b(?:every|each|all|any|always|whenever|from now on)\b|\byour {_ANSWERS}\b"
    rf"|\bthe {_ANSWERS}\b|每|所有|总是|始终",
    re.IGNORECASE,
)
# In a user's turn only words that reach beyond that turn make an instruction stand.
_BEYOND = re.compile(
    rf"\bfrom now on\b|\balways\b|\b(?:every|each|all)(?: of)?(?: your| my| the)?"
    rf"(?: following| next| further| later| future)? {_ANSWERS}\b|从现在起|每次",
    re.IGNORECASE,
)
_ABOUT = re.compile(rf"\b(?:{_ANSWERS}|respond|say|write)\b|回答|回复", re.IGNORECASE)
_LAST = re.compile(
    r"\b(?:end(?:s|ed|ing)?|finish(?:es|ing)?|clos(?:e|es|ing)|conclud(?:e|es|ing)|sign(?:ed)?|"
    r"append(?:ed)?|last|finally|final)\b|结尾|结束",
    re.IGNORECASE,
)
_SOMEWHERE = re.compile(
    r"\b(?:include[sd]?|contains?|mention(?:s|ed)?|add(?:ed)?|put|carry|carries|state)\b",
    re.IGNORECASE,
)
_FIRST = re.compile(
    r"\b(?:begin(?:s|ning)?|start(?:s|ed|ing)?|open(?:s|ing)?|prefix(?:ed)?|prepend(?:ed)?|"
    r"preced(?:e|ed)|first|front|lead)\b|开头|开始",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"\b(?:whatever|no matter what|regardless|nothing but|only ever|ignore the)\b", re.IGNORECASE
)
_NAMED = (
    re.compile("[\"“`«「]([^\"”`»」\n]{1,80})[\"”`»」]|(?<!\\w)'([^'\n]{1,80})'(?!\\w)"),
    re.compile(
        r"\b(?:word|code|phrase|tag|marker|mark|token|signature|motto|reference|string|text|line|"
        r"sign|name|password|number)s?(?: (?:code|is|of|called|word))*:?\s+"
        r"(?!(?:in|at|to|on|of|and|is|the|every|each)\b)([\w][\w-]*)",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?:\b(?:with|by|saying|write|say|add|append|include|mention|put|contain)|\breply:)\s+"
        r"(?:the |exactly |only |just )*(?!(?:in|at|to|on|of|and|is|the|every|each|your|all|with)\b)"
        r"([\w][\w-]*)",
        re.IGNORECASE,
    ),
    re.compile(r"以[“\"]?([\w-]+)[”\"]?(?=结尾|结束|开头|开始)"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """One instruction that stands: its clause, and the word it names if it names one."""

    text: str
    word: Piece | None


def keep_to(reading: Reading, turn: Span, draft: Draft) -> Draft:
    """Return an answer as the instructions that stand want it; calls and objects as they are."""
    rules = list(_standing(reading, turn))
    if not rules or draft.call or reading.block(Special.FORMAT, Special.END_FORMAT):
        return draft
    instead = [r.word for r in rules if r.word and _INSTEAD.search(r.text)]
    if instead:
        return Draft(pieces=(instead[-1],), plain=False)
    pieces = list(draft.pieces)
    for rule in rules:
        pieces = bracketed(rule.text, cased(rule.text, pieces, alone=False))
    for rule in rules:
        pieces = _framed(rule, pieces)
    return replace(draft, pieces=tuple(pieces), plain=False)


def _framed(rule: _Rule, pieces: list[Piece]) -> list[Piece]:
    word, said = rule.word, "".join(piece.text for piece in pieces)
    if word is None:
        return pieces
    first, last = _FIRST.search(rule.text), _LAST.search(rule.text)
    if first and not (last and last.start() < first.start()):
        return pieces if said.startswith(word.text) else [word, known(" ", word.at), *pieces]
    if (last or _SOMEWHERE.search(rule.text)) and not said.rstrip(" .!").endswith(word.text):
        return [*pieces, known(" ", word.at), word]
    return pieces


def _standing(reading: Reading, turn: Span) -> Iterator[_Rule]:
    for said in reading.turns():
        if said.start > turn.start or said.role not in {"system", "user"}:
            continue
        for clause in clauses(reading.text, Span(start=said.start, end=said.end)):
            text = reading.text[clause.start : clause.end]
            stands = _FOR_ALL if said.role == "system" else _BEYOND
            if text.rstrip().endswith("?") or not _ABOUT.search(text):
                continue
            if stands.search(text) or (said.role == "system" and _INSTEAD.search(text)):
                yield _Rule(text=text, word=_named(text, clause.start))


def _named(text: str, start: int) -> Piece | None:
    for pattern in _NAMED:
        found = pattern.search(text)
        if found:
            group = next(number for number, part in enumerate(found.groups(), 1) if part)
            return copied(found.group(group), start + found.start(group))
    return None
