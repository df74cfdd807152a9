"""Judges for tests: they read a question as a model would, and answer by a rule."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from monitor.engines.base import Reply
from monitor.engines.scripted import answered
from monitor.model import Request, Response, Usage

_PARTS = re.compile(
    r"====== (?P<mark>\w+) ====== question\n(?P<question>.*)\n"
    r"====== (?P=mark) ====== answer A\n(?P<a>.*)\n"
    r"====== (?P=mark) ====== answer B\n(?P<b>.*)\n"
    r"====== (?P=mark) ====== end\n"
    r"Answer (?P<known>[AB]) is known to be right.*"
    r"If it (?P<first>does|does not), reply with the one word (?P<word>\w+)\.\n"
    r"If it (?:does|does not), reply with the one word (?P<other>\w+)\.",
    re.DOTALL,
)


@dataclass(frozen=True)
class Read:
    """A question as it was read."""

    question: str
    reference: str
    answer: str
    same: str
    different: str
    first: str
    reference_first: bool


def read(request: Request) -> Read:
    """Return what a request asks."""
    [message] = request.messages
    found = _PARTS.search(message.content)
    assert found, message.content
    known_first = found["known"] == "A"
    does = found["first"] == "does"
    return Read(
        question=found["question"],
        reference=found["a"] if known_first else found["b"],
        answer=found["b"] if known_first else found["a"],
        same=found["word"] if does else found["other"],
        different=found["other"] if does else found["word"],
        first=found["word"],
        reference_first=known_first,
    )


def replying(text: str, *, tokens: tuple[int, int] = (200, 5)) -> Reply:
    """Return a judge's reply."""
    usage = Usage(input_tokens=tokens[0], output_tokens=tokens[1])
    return answered(Response(text=text, finish_reason="stop", usage=usage))


def knowing(right: Callable[[str, str], bool]) -> Callable[[Request], Reply]:
    """Return the script of a judge that knows whether an answer to a question is right."""

    def script(request: Request) -> Reply:
        asked = read(request)
        word = asked.same if right(asked.question, asked.answer) else asked.different
        return replying(word)

    return script
