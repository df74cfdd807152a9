"""The small jobs a probe gives: repeat a code, add, look something up. Each has one right answer.

The wordings were chosen by measuring how often a 135M-parameter model follows them
(``tests/real_model/wording.py``); larger models follow any of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from monitor.model import Fact

_ITEMS = ("parcel", "locker", "ticket", "crate", "folder", "pallet", "bottle", "drawer")
_ECHO = {
    "en": 'The reference code of this ticket is "{nonce}". Please repeat the reference code.',
    "zh": "本工单的参考编号是“{nonce}”。请重复参考编号。",
}
_ECHO_AND_ANSWER = {
    "en": (
        "Please answer both questions.\n"
        '1. The reference code of this ticket is "{nonce}". What is the reference code?\n'
        "2. {question}"
    ),
    "zh": ("请回答这两个问题。\n1. 本工单的参考编号是“{nonce}”。参考编号是什么?\n2. {question}"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A question with its own right answer. ``answer_bits`` is log2 of the answer's space."""

    kind: str
    question: str
    answers: tuple[Fact, ...]
    answer_bits: float = 0.0


def ask_to_repeat(nonce: str, question: str = "", *, language: str = "en") -> str:
    """Return a prompt that asks for the nonce and then, if given, for a question's answer."""
    wordings = _ECHO_AND_ANSWER if question else _ECHO
    return wordings.get(language, wordings["en"]).format(nonce=nonce, question=question)


def addition(rng: Random) -> Task:
    """Return a sum of two numbers of two digits."""
    a, b = rng.randint(12, 79), rng.randint(12, 79)
    return Task(
        kind="sum",
        question=f"What is {a} + {b}?",
        answers=(Fact(name="the sum", any_of=(str(a + b),)),),
        answer_bits=7.0,
    )


def lookup(rng: Random, codes: tuple[str, ...]) -> Task:
    """Return a list of items with their shelf codes and the question for one of them.

    ``codes`` are registered markers of the exchange, so another exchange's answer is recognised
    wherever it turns up: the answer's space has 64 bits.
    """
    item = rng.choice(_ITEMS)
    numbers = rng.sample(range(11, 99), len(codes))
    wanted = rng.randrange(len(codes))
    rows = "\n".join(f"{item} {n}: {c}" for n, c in zip(numbers, codes, strict=True))
    question = (
        f"Here is a list of {item}s and their shelf codes:\n{rows}\n"
        f"Which shelf code belongs to {item} {numbers[wanted]}?"
    )
    return Task(
        kind="lookup",
        question=question,
        answers=(Fact(name="the shelf code", any_of=(codes[wanted],)),),
        answer_bits=64.0,
    )
