"""The grammar: a table of rules, and the answer to one turn, task by task and clause by clause."""

from __future__ import annotations

from collections.abc import Callable

from monitor.lab.responder import (
    arithmetic,
    choices,
    coding,
    confirming,
    conversation,
    enumerating,
    extract,
    facts,
    recall,
    sequences,
    shape,
    statements,
    structure,
    units,
    wordplay,
    writing,
)
from monitor.lab.responder.asking import Ask, Span, clauses, may_ask
from monitor.lab.responder.draft import Draft, Piece, joined
from monitor.lab.responder.forms import says_only_how
from monitor.lab.responder.reading import Reading
from monitor.lab.responder.sections import sections
from monitor.lab.tokenizer import Special

_OPENINGS = (Special.FORMAT, Special.TOOLS)
Rule = Callable[[Ask], list[Piece] | None]

# One rule is one form of task. The first rule with an answer to a clause gives it.
RULES: tuple[Rule, ...] = (
    recall.next_line_literally,
    conversation.acknowledge,
    conversation.of_a_message,
    conversation.total,
    choices.choose,
    writing.several_times,
    writing.dated,
    writing.bracketed,
    sequences.recite_letters,
    sequences.powers,
    sequences.count_off,
    wordplay.transform,
    wordplay.count,
    wordplay.translate,
    units.convert,
    sequences.in_list,
    conversation.kept_list,
    recall.listed,
    enumerating.enumerate_in_chinese,
    recall.several_fields,
    recall.defined,
    conversation.beside_name,
    recall.say_literally,
    arithmetic.reckon,
    statements.told,
    statements.told_zh,
    confirming.confirm,
    facts.recite,
    arithmetic.story,
    wordplay.compare,
    extract.field,
    enumerating.enumerate_kind,
    wordplay.greet,
    recall.told_earlier,
)


def answer_turn(reading: Reading, turn: Span) -> Draft | None:
    """Return the answer to a turn, or ``None`` if nothing in it is understood."""
    scopes = (turn, *_earlier(reading, turn))
    whole = Ask(reading=reading, clause=turn, turn=turn, scopes=scopes)
    said = conversation.tool_said(whole)
    if said and not structure.has_format(whole):
        return shape.apply(whole, [said])
    structured = structure.call_tool(whole, answer_clauses)
    if structured is None and structure.has_format(whole):
        structured = structure.fill(whole, answer_clauses)
    if structured:
        return structured
    drafts = [draft for task in sections(whole) if (draft := _answer_task(task))]
    if not drafts:
        told = any(
            conversation.only_tells(reading.text[clause.start : clause.end])
            for clause in clauses(reading.text, turn)
        )
        return Draft(pieces=tuple(conversation.noted(whole))) if told else None
    pieces = joined([list(draft.pieces) for draft in drafts], "\n", max(turn.start, turn.end - 1))
    return Draft(pieces=tuple(pieces), plain=all(draft.plain for draft in drafts))


def _earlier(reading: Reading, turn: Span) -> list[Span]:
    """Return what stands before a turn, the nearest first; schemas are no statements."""
    ends = (Special.END_FORMAT, Special.END_TOOLS)
    blocks = [reading.block(opening, end) for end, opening in zip(ends, _OPENINGS, strict=True)]
    spans, end = [], turn.start
    for block in blocks:
        if block and block[1] <= end:
            spans.append(Span(start=block[1], end=end))
            end = block[0]
    return [*spans, Span(start=0, end=end)]


def _answer_task(task: Ask) -> Draft | None:
    structured = structure.fill(task, answer_clauses) or coding.fill(task)
    if structured:
        return structured
    answers = answer_clauses(task)
    return shape.apply(task, answers) if answers else None


def answer_clauses(whole: Ask) -> list[list[Piece]]:
    """Return one answer for every clause of a turn that asks for something."""
    answers: list[list[Piece]] = []
    for task in sections(whole):
        answers += _answer_each(task)
    return answers


def _answer_each(task: Ask) -> list[list[Piece]]:
    answers: list[list[Piece]] = []
    for clause in clauses(task.reading.text, task.turn):
        ask = Ask(reading=task.reading, clause=clause, turn=task.turn, scopes=task.scopes)
        if _only_tells(ask) or not may_ask(ask.text):
            continue
        if says_only_how(ask.text, answered=bool(answers)):
            continue
        pieces = next((found for rule in RULES if (found := rule(ask))), None)
        if pieces:
            answers.append(pieces)
    return answers


def _only_tells(ask: Ask) -> bool:
    return conversation.only_tells(ask.text) or conversation.only_changes(ask)
