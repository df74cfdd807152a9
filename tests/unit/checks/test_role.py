"""ROLE: what a system or developer message asks is done, and a dropped message is told apart."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.checks.role import CHECK
from monitor.longtext import filler
from monitor.model import Exchange, Fact, Message, Request, Status, VerdictClass
from tests.builders import Bench, a_trial, an_exchange, failures

CODE = "gufal-bidor-kanis-popum"
TEXT = " ".join(filler(16))
RULES = f"Notebook 000000001.\n{TEXT}\nEnd every answer with the code {CODE}."
QUESTION = "What is 12 + 30?"
OBEY = Fact(name="the code", any_of=(CODE,))


def asked(
    index: int,
    *messages: tuple[str, str],
    tokens: int | None,
    cached: int | None = None,
    answer: str = "42",
    role: str = "",
) -> Exchange:
    exchange = an_exchange(
        QUESTION,
        answer,
        index=index,
        usage={"input_tokens": tokens, "cached_tokens": cached},
        obey=OBEY if role else None,
        obey_role=role,
    )
    sent = tuple(Message(role=each, content=content) for each, content in messages)
    return replace(exchange, request=Request(messages=sent, max_output_tokens=64))


def measured(system_tokens: int | None, **changes) -> list[Exchange]:
    """Bare, the text in the user message, and the text in the system message."""
    options = {"bare": 20, "user": 250, "role": "system", "cached": None, "answer": "42"} | changes
    role = options["role"]
    return [
        asked(0, ("user", QUESTION), tokens=options["bare"]),
        asked(1, ("user", f"{RULES}\n\n{QUESTION}"), tokens=options["user"]),
        asked(
            2,
            (role, RULES),
            ("user", QUESTION),
            tokens=system_tokens,
            cached=options["cached"],
            answer=options["answer"],
            role=role,
        ),
    ]


def judged(exchanges: list[Exchange]) -> set[str]:
    signals = CHECK.judge(a_trial(*exchanges), exchanges[-1], Bench().history)
    return {s.variant if s.status is Status.FAIL else s.status.value for s in signals}


def test_an_obeyed_message_passes_and_a_disobeyed_one_is_tolerated() -> None:
    assert judged(measured(252, answer=f"42\n{CODE}")) == {"pass"}
    assert judged(measured(252)) == {"disobeyed"}
    verdict = Bench().judge(*measured(252))
    assert verdict.verdict_class is VerdictClass.WRONG
    assert failures(verdict) == {("ROLE", "disobeyed")}


@pytest.mark.parametrize("role", ["system", "developer"])
def test_a_message_that_the_count_lacks_was_dropped(role: str) -> None:
    verdict = Bench().judge(*measured(21, role=role))
    assert verdict.verdict_class is VerdictClass.WRONG_INPUT
    assert ("ROLE", "dropped") in failures(verdict)


def test_without_an_instruction_nothing_is_judged() -> None:
    assert judged([asked(0, ("user", QUESTION), tokens=20)]) == {"skip"}


@pytest.mark.parametrize(
    "exchanges",
    [
        measured(21)[2:],
        measured(21)[1:],
        [measured(21)[0], measured(21)[2]],
        measured(21, bare=None),
        measured(21, user=None),
        measured(None),
        measured(21, user=60),
        measured(21, user=19),
        measured(21, user=50_000),
        measured(21, cached=230),
        measured(140),
    ],
    ids=[
        "alone",
        "no bare",
        "no ruler",
        "bare uncounted",
        "ruler uncounted",
        "uncounted",
        "ruler too short",
        "ruler shrinks",
        "ruler beyond any tokenizer",
        "cached apart",
        "more than half",
    ],
)
def test_without_a_ruler_it_is_only_disobeyed(exchanges: list[Exchange]) -> None:
    assert judged(exchanges) == {"disobeyed"}


@given(per_token=st.floats(1.2, 12.0), template=st.integers(0, 60), noise=st.integers(-12, 12))
def test_no_honest_count_looks_dropped(per_token: float, template: int, noise: int) -> None:
    """Whatever the tokenizer and the template, a count that holds the text is never dropped."""

    def count(text: str) -> int:
        return 24 + round(len(text) / per_token)

    bare, user = count(QUESTION), count(f"{RULES}\n\n{QUESTION}")
    system = count(QUESTION) + round(len(RULES) / per_token) + template + noise
    assert judged(measured(system, bare=bare, user=user)) == {"disobeyed"}
