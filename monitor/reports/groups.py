"""Which answers of a pass may be broken by themselves, and are counted by themselves. Pure.

A fault of one part of the traffic drowns in the whole: a third of one tenant's answers is a tenth
of all, and every probe asks every tenant.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from monitor.model import Exchange, ExchangeVerdict, Trial
from monitor.passes import Done
from monitor.streams import groups_of_stratum
from monitor.writing.scripts import scripts

# Fewer letters of another script are a name or a sign in a Latin question, not its language.
SCRIPT_LETTERS = 8
# The lengths of strata are those of their longest prompts; a burst or a conversation mixes them.
LONG_CHARACTERS = 1500
_LATIN = "LATIN"

Judged = tuple[Done, Exchange, ExchangeVerdict]


def groups_of(judged: Sequence[Judged]) -> dict[str, list[Judged]]:
    """Return everything that may be broken by itself, by name.

    That is each probe; each length, concurrency and state of the cache of the coverage map, and
    eight or more at once together; each tenant; all that was asked after the first turn; all long
    prompts; each suite of golden prompts; questions in each script but Latin; all streams; and all
    of each form: tool calls, what answers a tool's result, JSON answers. Forms in streams are read
    by a parser of their own, so they are a group of their own as well. In which groups an answer is
    depends on nothing but itself, so that a calibration and a pass mean the same by a name. Who
    counts aloud is in none: who cannot count fails all of them, which says nothing of a part.
    """
    groups: dict[str, list[Judged]] = defaultdict(list)
    for entry in judged:
        item, exchange, _ = entry
        if exchange.expectation.counts_to:
            continue
        for name in (*questions_of(item.trial, exchange), *_ways(exchange)):
            groups[name].append(entry)
    return groups


def questions_of(trial: Trial, exchange: Exchange) -> tuple[str, ...]:
    """Return the groups of an exchange by what it asks, and amid what: all but who and how."""
    form = _form(exchange)
    kinds = (*_kinds(exchange), form) if form else _kinds(exchange)
    return (trial.probe, *groups_of_stratum(trial.stratum), *kinds)


def _kinds(exchange: Exchange) -> Iterator[str]:
    """Yield where in a conversation, how long, from which suite and in which script."""
    if any(message.role == "assistant" for message in exchange.request.messages):
        yield "later turns"
    if sum(len(message.content) for message in exchange.request.messages) > LONG_CHARACTERS:
        yield f"over {LONG_CHARACTERS} characters"
    if exchange.expectation.golden:
        yield f"{exchange.expectation.golden.partition('/')[0]} suite"
    if script := _script(exchange):
        yield f"{script} questions"


def _script(exchange: Exchange) -> str:
    """Return the script that a question is written in, or nothing for Latin."""
    asked = [message.content for message in exchange.request.messages if message.role == "user"]
    if not asked or asked[-1].isascii():
        return ""
    found = scripts(asked[-1])
    del found[_LATIN]
    name, letters = max(found.items(), key=lambda each: (each[1], each[0]), default=("", 0))
    return name if letters >= SCRIPT_LETTERS else ""


def _form(exchange: Exchange) -> str:
    """Return the form that an answer is to have, or answers; nothing for plain text."""
    if exchange.expectation.tool:
        return "tool calls"
    if exchange.request.messages[-1].role == "tool":
        return "tool results"
    return "JSON answers" if exchange.request.json_schema else ""


def _ways(exchange: Exchange) -> Iterator[str]:
    """Yield who asked, and how the answer comes."""
    yield f"tenant {exchange.tenant}"
    if exchange.request.stream:
        yield "streams"
        if form := _form(exchange):
            yield f"{form} in streams"
