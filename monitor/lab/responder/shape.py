"""The outer form of an answer: case, bullets, separators, first and last words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from monitor.lab.responder.asking import Ask
from monitor.lab.responder.draft import Draft, Origin, Piece, copied, joined, known
from monitor.lab.responder.writing import brackets

_ABOUT_ANSWER = (
    r"\b(?:answer|reply|respond|response|write|everything|output|it|in|use|only)\b[^.\n]*"
)
_UPPER = re.compile(
    _ABOUT_ANSWER + r"\b(?:upper ?case|all caps|capital letters|capitals)\b|大写", re.IGNORECASE
)
_LOWER = re.compile(_ABOUT_ANSWER + r"\b(?:lower ?case|small letters)\b|小写", re.IGNORECASE)
_ONE_WORD = re.compile(r"\b(?:one|single|exactly one) word\b|一个词", re.IGNORECASE)
_ABOUT_BRACKETS = re.compile(
    r"\b(?:answer|it|result|reply)\b[^.\n]*\b(?:brackets?|parenthes[ei]s|braces|quotes|quotation)\b"
    r"|(?:答案|结果)[^。\n]*(?:括号|引号)",
    re.IGNORECASE,
)
_BULLETS = re.compile(r"\bbullet(?:ed)?\b|\bdashes\b|项目符号", re.IGNORECASE)
_NUMBERED = re.compile(r"\bnumbered list\b|编号列表", re.IGNORECASE)
_COMMAS = re.compile(r"\bcomma|on one line\b|in one line\b|逗号", re.IGNORECASE)
_WITH = (
    r"(?: your \w+| the \w+| it)? with(?: the)?(?: reference| ticket| support| session)?"
    r"(?: words?| phrase| code)?(?:[:,.]|\s)\s*[\"'“]?([\w-]*)"
)
_FIRST = re.compile(r"\b(?:start|begin)(?:ning)?" + _WITH, re.IGNORECASE)
_LAST = re.compile(r"\b(?:end|finish|close)(?:ing)?" + _WITH, re.IGNORECASE)
_A_CODE = re.compile(r"\b\w+(?:-\w+){1,7}\b")
_STRICT = re.compile(
    r"\b(?:only|exactly|just|nothing else|nothing but|one word|verbatim|no other)\b|只|仅|不要",
    re.IGNORECASE,
)


def apply(whole: Ask, answers: list[list[Piece]]) -> Draft:
    """Return the draft of all answers in the form that the turn (or the system) asks for."""
    text = whole.turn_text
    at = whole.turn.end - 1 if whole.turn.end > whole.turn.start else whole.turn.start
    pieces = joined(answers, ", " if _COMMAS.search(text) else "\n", at)
    shaped = cased(text, pieces, alone=len(answers) == 1)
    if _ONE_WORD.search(text) and len(answers) == 1:
        shaped = _first_word(shaped)
    if _BULLETS.search(text):
        shaped = _itemised(shaped, at, lambda _: "- ")
    elif _NUMBERED.search(text):
        shaped = _itemised(shaped, at, lambda number: f"{number}. ")
    shaped = _framed(text, bracketed(text, shaped), whole)
    free = shaped == pieces and not _STRICT.search(text) and not _COMMAS.search(text)
    return Draft(pieces=tuple(shaped), plain=free)


def cased(text: str, pieces: list[Piece], *, alone: bool) -> list[Piece]:
    """Return the pieces in the case asked for; a code beside another answer stays as it is."""
    change = str.upper if _UPPER.search(text) else str.lower if _LOWER.search(text) else None
    if change is None:
        return pieces
    return [
        piece if not alone and _is_code(piece) else replace(piece, text=change(piece.text))
        for piece in pieces
    ]


def _is_code(piece: Piece) -> bool:
    return piece.origin is Origin.PAGES and bool(_A_CODE.fullmatch(piece.text))


def bracketed(text: str, pieces: list[Piece]) -> list[Piece]:
    """Return the pieces inside the brackets that "Put your answer in brackets" asks for."""
    signs = brackets(text) if _ABOUT_BRACKETS.search(text) else ""
    if not signs or not pieces or any(signs[0] in piece.text for piece in pieces):
        return pieces
    return [known(signs[0], pieces[0].at), *pieces, known(signs[1], pieces[-1].at)]


def _first_word(pieces: list[Piece]) -> list[Piece]:
    words = pieces[0].text.split()
    return [replace(pieces[0], text=words[0].strip(",.;"))] if len(words) > 1 else pieces


def _itemised(pieces: list[Piece], at: int, label: Callable[[int], str]) -> list[Piece]:
    number = 1
    marked = [known(label(number), at)]
    for piece in pieces:
        parts = re.split(r"(\n)|, (?=\S)", piece.text) if "\n" in piece.text else [piece.text]
        place = 0
        for part in (part for part in parts if part):
            if part == "\n":
                number += 1
                marked.append(known("\n" + label(number), at))
            else:
                offset = piece.text.find(part, place) if piece.origin == "pages" else 0
                marked.append(replace(piece, text=part, at=piece.at + max(0, offset)))
            place += len(part)
    return marked


def _framed(text: str, pieces: list[Piece], whole: Ask) -> list[Piece]:
    first, last = _frame(_FIRST.search(text), whole), _frame(_LAST.search(text), whole)
    said = "".join(piece.text for piece in pieces)
    if first and first.text not in said:
        pieces = [first, known(" ", first.at), *pieces]
    if last and last.text not in said:
        pieces = [*pieces, known(" ", last.at), last]
    return pieces


def _frame(found: re.Match[str] | None, whole: Ask) -> Piece | None:
    """Return the word to begin or end with: the one named, or the code of the turn."""
    if found is None:
        return None
    code = _A_CODE.search(whole.turn_text)
    named = re.search(r"\bcode\b", found.group(), re.IGNORECASE) and "-" not in found.group(1)
    if code and named:
        return copied(code.group(), whole.turn.start + code.start())
    word = found.group(1)
    return copied(word, whole.turn.start + found.start(1)) if word else None
