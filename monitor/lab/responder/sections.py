"""One turn cut into its tasks: "1. ... 2. ..." and "... Then answer: ..."."""

# ruff: noqa: RUF001 (Chinese signs are meant)
from __future__ import annotations

import re

from monitor.lab.responder.asking import Ask, Span, clauses, may_ask

_NUMBERED = re.compile(r"^[ \t]*\(?(\d{1,2})[.)、](?=\s|[\u4e00-\u9fff])\s*", re.MULTILINE)
_THEN = re.compile(
    r"^[ \t]*(?:(?:and|then|next|after that|finally|now)[, ]+)+(?:please )?"
    r"(?:answer|solve|reply to|respond to|do)\b[^\n:：]{0,30}[:：]\s*"
    r"|^[ \t]*(?:然后|再|接着|最后)(?:请)?(?:回答|完成)[^\n:：]{0,8}[:：]\s*",
    re.IGNORECASE | re.MULTILINE,
)


def sections(whole: Ask) -> list[Ask]:
    """Return an ask for every task of a turn, in order; the turn itself if it is one task.

    A task looks things up in itself first, then in what stands before it, then behind it.
    """
    text, turn = whole.reading.text, whole.turn
    spans = _numbered(text, turn) or _then(text, turn)
    before = [turn.start, *(span.end for span in spans)]
    return [_section(whole, span, end) for span, end in zip(spans, before, strict=False)] or [whole]


def _section(whole: Ask, span: Span, before: int) -> Ask:
    turn = whole.turn
    around = (Span(start=turn.start, end=before), *whole.scopes[1:])
    after = Span(start=span.end, end=turn.end)
    return Ask(reading=whole.reading, clause=span, turn=span, scopes=(span, *around, after))


def _numbered(text: str, turn: Span) -> list[Span]:
    found = list(_NUMBERED.finditer(text, turn.start, turn.end))
    found = [mark for number, mark in enumerate(found, 1) if int(mark[1]) == number]
    spans = _between(found, turn)
    # A numbered list of things is no list of tasks.
    whole_tasks = all(
        any(may_ask(text[clause.start : clause.end]) for clause in clauses(text, span))
        for span in spans[1:]
    )
    return spans if len(found) > 1 and whole_tasks else []


def _then(text: str, turn: Span) -> list[Span]:
    found = _THEN.search(text, turn.start, turn.end)
    return _between([found], turn) if found else []


def _between(marks: list[re.Match[str]], turn: Span) -> list[Span]:
    starts = [turn.start, *(mark.end() for mark in marks)]
    ends = [*(mark.start() for mark in marks), turn.end]
    return [Span(start=start, end=end) for start, end in zip(starts, ends, strict=True)]
