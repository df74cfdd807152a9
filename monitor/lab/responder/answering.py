"""The grammar: a table of rules, and the answer to one turn, clause by clause in order."""

from __future__ import annotations

from collections.abc import Callable

from monitor.lab.responder import arithmetic, extract, facts, recall, shape, structure, wordplay
from monitor.lab.responder.asking import Ask, Span, clauses, may_ask
from monitor.lab.responder.draft import Draft, Piece
from monitor.lab.responder.reading import Reading

Rule = Callable[[Ask], list[Piece] | None]

# One rule is one form of task. The first rule with an answer to a clause gives it.
RULES: tuple[Rule, ...] = (
    recall.next_line_literally,
    wordplay.transform,
    wordplay.count,
    wordplay.translate,
    recall.listed,
    recall.several_fields,
    recall.defined,
    recall.say_literally,
    arithmetic.reckon,
    facts.recite,
    arithmetic.story,
    wordplay.compare,
    extract.field,
    facts.enumerate_kind,
    wordplay.greet,
    recall.told_earlier,
)


def answer_turn(reading: Reading, turn: Span) -> Draft | None:
    """Return the answer to a turn, or ``None`` if nothing in it is understood."""
    scopes = (turn, Span(start=0, end=turn.start))
    whole = Ask(reading=reading, clause=turn, turn=turn, scopes=scopes)
    structured = structure.call_tool(whole, answer_clauses) or structure.fill(whole, answer_clauses)
    if structured:
        return structured
    answers = answer_clauses(whole)
    if not answers:
        return None
    return shape.apply(whole, answers)


def answer_clauses(whole: Ask) -> list[list[Piece]]:
    """Return one answer for every clause of a turn that asks for something."""
    answers = []
    for clause in clauses(whole.reading.text, whole.turn):
        ask = Ask(reading=whole.reading, clause=clause, turn=whole.turn, scopes=whole.scopes)
        if not may_ask(ask.text):
            continue
        pieces = next((found for rule in RULES if (found := rule(ask))), None)
        if pieces:
            answers.append(pieces)
    return answers
