"""Which answers of a pass may be broken by themselves, and are counted by themselves. Pure.

A fault of one part of the traffic drowns in the whole: a third of one tenant's answers is a tenth
of all, and every probe asks every tenant.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from monitor.model import Exchange, ExchangeVerdict
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
    depends on nothing but itself, so that a calibration and a pass mean the same by a name.
    """
    groups: dict[str, list[Judged]] = defaultdict(list)
    for entry in judged:
        item, exchange, _ = entry
        groups[item.trial.probe].append(entry)
        for name in (*groups_of_stratum(item.trial.stratum), *_kinds(exchange), *_forms(exchange)):
            groups[name].append(entry)
    return groups


def _kinds(exchange: Exchange) -> Iterator[str]:
    """Yield who asked, where in a conversation, from which suite and in which script."""
    yield f"tenant {exchange.tenant}"
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


def _forms(exchange: Exchange) -> Iterator[str]:
    """Yield how an answer comes, and the form it is to have or answers; plain text has none."""
    form = ""
    if exchange.expectation.tool:
        form = "tool calls"
    elif exchange.request.messages[-1].role == "tool":
        form = "tool results"
    elif exchange.request.json_schema:
        form = "JSON answers"
    if form:
        yield form
    if exchange.request.stream:
        yield "streams"
        if form:
            yield f"{form} in streams"
