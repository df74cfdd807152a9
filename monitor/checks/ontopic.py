"""ONTOPIC: the answer to the exchange's own task is there; another member's is not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from random import Random

from monitor.canaries import Echo, Echoes, is_code
from monitor.checks.base import Check, Specimen, failed, passed, skipped
from monitor.checks.specimen import Scene, an_exchange
from monitor.history import History
from monitor.model import (
    SAID_CHARACTERS,
    Exchange,
    Expectation,
    Fact,
    Response,
    Signal,
    Trial,
)
from monitor.prompts.text import contains, normalise

CODE = "ONTOPIC"
# Another member's answer proves a crossing only if it cannot well be a wrong answer of our own.
DISJOINT_SPACE_BITS = 32.0
_EMPHASIS = str.maketrans("_*`", "   ")
_JSON = ("{", "[", '"')


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail hard on another member's answer, tolerated on a wrong or missing own answer."""
    response = exchange.response
    if response is None or not exchange.expectation.answers:
        return [skipped(CODE, exchange, "no task was set")]
    said = Said(readable(response))
    other = next((o for o in _others(trial, exchange) if _holds_all(said, o)), None)
    if other is not None:
        explanation = f"the answer is that of exchange {other.index} of the same trial"
        return [failed(CODE, exchange, "other_member", explanation)]
    missing = [fact.name for fact in exchange.expectation.answers if not said.holds(fact)]
    if missing:
        return [failed(CODE, exchange, "wrong", f"not found: {', '.join(missing)}")]
    return [passed(CODE, exchange, "the task was answered rightly")]


def readable(response: Response) -> str:
    """Return the answer, and once more what stands escaped in JSON: in calls, or as the text.

    An escaped line break would otherwise hide the code it stands before.
    """
    written = response.answer()
    whole = [call.arguments for call in response.tool_calls] + [response.text]
    escaped = [text[:SAID_CHARACTERS] for text in whole if "\\" in text and text[:1] in _JSON]
    return "\n".join([written, *(string for text in escaped for string in _strings(text))])


def _strings(text: str) -> list[str]:
    """Return all strings of a JSON text; none if it is no JSON."""
    try:
        waiting = [json.loads(text)]
    except (ValueError, RecursionError):
        return []
    found = []
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            found.append(each)
        elif isinstance(each, dict):
            waiting.extend([*each.keys(), *each.values()])
        elif isinstance(each, list):
            waiting.extend(each)
    return found


def _others(trial: Trial, exchange: Exchange) -> list[Exchange]:
    """Return the other exchanges whose answers are long random strings, all unlike ours."""
    own = {text for fact in exchange.expectation.answers for text in fact.any_of}
    request = exchange.request.text()
    return [
        other
        for other in trial.exchanges
        if other.index != exchange.index
        and other.expectation.answer_bits >= DISJOINT_SPACE_BITS
        and not any(t in own or t in request for f in other.expectation.answers for t in f.any_of)
    ]


def _holds_all(said: Said, other: Exchange) -> bool:
    return all(said.holds(fact) for fact in other.expectation.answers)


def holds(text: str, fact: Fact) -> bool:
    """True if one of the fact's strings stands in ``text`` on its own, however it is written."""
    return Said(text).holds(fact)


class Said:
    """A text in which facts are looked for. It is folded once, however many they are.

    A burst asks of each answer whether it is one of dozens.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _plain(self) -> str:
        # Once for all facts: escaped line breaks and emphasis do not hide one.
        spaced = self._text.replace("\\n", "\n").translate(_EMPHASIS)
        return normalise(spaced)

    @cached_property
    def _codes(self) -> Echoes:
        return Echoes(self._text)

    def holds(self, fact: Fact) -> bool:
        """True if one of the fact's strings stands here on its own, however it is written.

        Codes are looked for as codes are, so a copy error, other hyphens or a line break between
        groups do not hide one.
        """
        return any(
            self._codes.of(wanted) is not Echo.ABSENT
            if is_code(wanted)
            else contains(self._plain, normalise(wanted))
            for wanted in fact.any_of
        )


def _specimens(rng: Random) -> Sequence[Specimen]:
    scene = Scene(rng)
    one, two = (
        Expectation(answers=(Fact(name="the code", any_of=(scene.mint(),)),), answer_bits=64.0)
        for _ in range(2)
    )
    says = {each: f"It is {each.answers[0].any_of[0]}." for each in (one, two)}
    first = an_exchange(says[one], expects=one)
    return [
        scene.specimen(first, an_exchange(says[one], expects=two), fails="other_member"),
        scene.specimen(first, an_exchange("It is unknown.", expects=two), fails="wrong"),
        scene.specimen(first, an_exchange(says[two], expects=two)),
    ]


CHECK = Check(code=CODE, judge=judge, specimens=_specimens)
