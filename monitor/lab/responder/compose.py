"""From slots to an answer: find the turn to answer, answer it clause by clause, name the sources.

Whoever calls this hands over slots and nothing else. If the slots hold another request's words,
the answer is about those.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from monitor.lab.jobs import OutputToken
from monitor.lab.pages import Slots
from monitor.lab.responder.answering import answer_turn
from monitor.lab.responder.asking import Span
from monitor.lab.responder.draft import Draft, Piece, copied, known
from monitor.lab.responder.reading import Reading, Turn, mark, read, without_marks
from monitor.lab.responder.standing import keep_to
from monitor.lab.tokenizer import Special, Tokenizer

_CODE = re.compile(r"[a-z]{4,6}(?:-[a-z]{4,6})+|\b[A-Z0-9]{2,}(?:-[A-Z0-9]{2,})+")
_RUN = re.compile(f"[^{mark(Special.PAD)}-{mark(Special.END_THINK)}]+")
_ANSWER_BEGINS = mark(Special.END) + mark(Special.ASSISTANT)
_CONTINUED_CHARACTERS = 220
_UNSURE = "I am not certain."


class ModelResponder:
    """The stand-in for the model: reads slots, writes tokens."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def __call__(self, slots: Slots, reword: Callable[[Draft], Draft]) -> list[OutputToken]:
        """Return the whole answer to what the slots hold, each token with its source."""
        reading = read(slots, self._tokenizer)
        draft = reword(compose(reading))
        tokens = self._spell_thought(draft, reading)
        if draft.call:
            return tokens + self._spell_calls(draft, reading)
        for piece in draft.pieces:
            tokens += self._spell(piece, reading)
        return [*tokens, self._special(Special.END, draft, reading)]

    def _spell(self, piece: Piece, reading: Reading) -> list[OutputToken]:
        found, at = [], piece.at
        moves = piece.origin == "pages"
        for token in self._tokenizer.encode(piece.text):
            found.append(OutputToken(token=token, source=reading.source(at, piece.origin.value)))
            at += len(self._tokenizer.piece(token)) if moves else 0
        return found

    def _spell_thought(self, draft: Draft, reading: Reading) -> list[OutputToken]:
        if not draft.thought:
            return []
        at = draft.pieces[0].at if draft.pieces else 0
        return [
            self._special(Special.THINK, draft, reading),
            *self._spell(known(draft.thought, at), reading),
            self._special(Special.END_THINK, draft, reading),
        ]

    def _spell_calls(self, draft: Draft, reading: Reading) -> list[OutputToken]:
        tokens = [self._special(Special.CALL, draft, reading)]
        for piece in draft.pieces:
            tokens += self._spell(piece, reading)
        closing = [Special.END_CALL, Special.END]
        return tokens + [self._special(special, draft, reading) for special in closing]

    def _special(self, special: Special, draft: Draft, reading: Reading) -> OutputToken:
        at = draft.pieces[-1].at if draft.pieces else len(reading.text)
        return OutputToken(token=int(special), source=reading.source(at, "weights"))


def compose(reading: Reading) -> Draft:
    """Return the answer to a reading: to its last turn, to any whole turn, or its continuation."""
    turns = reading.turns()
    if reading.asks_for_an_answer:
        return _answer_last(reading, turns)
    # A stretch before an assistant turn was somebody's question, even if its beginning is lost.
    for run in reversed(list(_RUN.finditer(reading.text))):
        if reading.text.startswith(_ANSWER_BEGINS, run.end()):
            draft = answer_turn(reading, Span(start=run.start(), end=run.end()))
            if draft:
                return draft
    return continue_text(reading)


def _answer_last(reading: Reading, turns: list[Turn]) -> Draft:
    users = [turn for turn in turns if turn.role == "user"]
    # A prompt that lost its front has no beginning of a turn: what is left is the turn.
    end = reading.text.rfind(mark(Special.END))
    span = Span(start=users[-1].start, end=users[-1].end) if users else Span(start=0, end=end)
    if len(turns) > 1 and turns[-2].role == "tool":
        return keep_to(reading, span, _report_tool(reading, turns[-2]))
    draft = answer_turn(reading, span)
    return keep_to(reading, span, draft or Draft(pieces=(known(_UNSURE, max(0, span.end - 1)),)))


def _report_tool(reading: Reading, turn: Turn) -> Draft:
    """Return what a tool said, as the answer."""
    text = reading.text[turn.start : turn.end].strip()
    return Draft(pieces=(copied(text or "...", turn.start),))


def continue_text(reading: Reading) -> Draft:
    """Return a stretch of the text that was read, from its last code on if there is one."""
    runs = [run for run in _RUN.finditer(reading.text) if len(run.group().strip()) > 1]
    if not runs:
        return Draft(pieces=(known("...", 0),))
    marked = [run for run in runs if _CODE.search(run.group())]
    run = max(marked or runs, key=lambda found: min(len(found.group()), 400))
    codes = list(_CODE.finditer(run.group()))
    start = run.start() + (max(0, codes[-1].start() - 60) if codes else 0)
    stretch = reading.text[start : min(run.end(), start + _CONTINUED_CHARACTERS)]
    return Draft(pieces=(copied(without_marks(stretch), start),), plain=False)
