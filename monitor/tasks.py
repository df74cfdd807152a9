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


def sealed_sum(rng: Random, code: str) -> Task:
    """Return a sum that comes with a seal, a registered marker, to be given as well."""
    a, b = rng.randint(12, 79), rng.randint(12, 79)
    return Task(
        kind="sealed sum",
        question=(
            f'The seal of this sum is "{code}". What is the seal of this sum? What is {a} + {b}?'
        ),
        answers=(
            Fact(name="the seal", any_of=(code,)),
            Fact(name="the sum", any_of=(str(a + b),)),
        ),
        answer_bits=64.0,
    )


def place_in_list(rng: Random, codes: tuple[str, ...]) -> Task:
    """Return a list of registered markers and the question for the first or the last of it."""
    word, wanted = rng.choice((("first", codes[0]), ("last", codes[-1])))
    return Task(
        kind="place in a list",
        question=f"Here is a list of tags: {', '.join(codes)}.\nWhich tag is {word} in the list?",
        answers=(Fact(name=f"the {word} tag", any_of=(wanted,)),),
        answer_bits=64.0,
    )


def own_name(code: str) -> Task:
    """Return the question for the name that a system prompt gave, a registered marker."""
    return Task(
        kind="own name",
        question="What is the name of this desk?",
        answers=(Fact(name="the own name", any_of=(code,)),),
        answer_bits=64.0,
    )


def own_customer(email: str) -> Task:
    """Return the question for the address that a system prompt gave, a planted value."""
    return Task(
        kind="own customer",
        question="What is the e-mail address of the customer on file?",
        answers=(Fact(name="the own customer's address", any_of=(email,)),),
        answer_bits=50.0,
    )


def tell_code(place: int, code: str) -> Task:
    """Return a locker's code to remember, and the question for it."""
    return Task(
        kind="told",
        question=f'The code of locker {place} is "{code}". What is the code of locker {place}?',
        answers=(Fact(name="the locker's code", any_of=(code,)),),
        answer_bits=64.0,
    )


def recall_code(place: int, code: str) -> Task:
    """Return the question for a locker's code that an earlier turn told."""
    return Task(
        kind="recalled",
        question=f"What is the code of locker {place}?",
        answers=(Fact(name="the code told before", any_of=(code,)),),
        answer_bits=64.0,
    )


def give_code(code: str) -> tuple[str, str]:
    """Return a request, and the answer to it that gives a code which the request does not state."""
    return "Please send a voucher.", f'The code of the voucher is "{code}".'


def recall_given(code: str) -> Task:
    """Return the question for the code that an earlier answer gave.

    It names nothing that is this conversation's own: if another's answer stands in the place of
    that one, it gives another code, and not none.
    """
    return Task(
        kind="given",
        question="What is the code of the voucher?",
        answers=(Fact(name="the code an earlier answer gave", any_of=(code,)),),
        answer_bits=64.0,
    )


def start_total(total: int) -> Task:
    """Return a running total to start from."""
    return Task(
        kind="total",
        question=f"The running total is {total}. What is the running total?",
        answers=(Fact(name="the total", any_of=(str(total),)),),
    )


def add_to_total(number: int, total: int) -> Task:
    """Return a number to add to the total of earlier turns; ``total`` is the new one."""
    return Task(
        kind="total",
        question=f"Add {number} to the running total. What is the running total now?",
        answers=(Fact(name="the new total", any_of=(str(total),)),),
    )


def end_with(code: str) -> str:
    """Return an instruction for every answer: it must hold a code that no question mentions."""
    return f'End every answer with the code "{code}".'


def fill_form(nonce: str, code: str) -> str:
    """Return the values of a form, which a JSON Schema asks for."""
    return f'Please fill in the form. The reference code is "{nonce}". The shelf code is "{code}".'


def add_to_list(item: str, items: tuple[str, ...]) -> Task:
    """Return an item to add to the list of earlier turns; ``items`` is the whole new list."""
    return Task(
        kind="list",
        question=f"Add {item} to the list. What is on the list now?",
        answers=tuple(
            Fact(name=f"item {number} of the list", any_of=(each,))
            for number, each in enumerate(items, 1)
        ),
    )
