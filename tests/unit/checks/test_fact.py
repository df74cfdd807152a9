"""FACT: the key facts of a golden prompt are in the answer."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from monitor.checks.fact import CHECK, prompt_as_asked
from monitor.model import Signal, Status, VerdictClass
from monitor.prompts import (
    AllOf,
    AnyOf,
    DateIs,
    Expectation,
    GoldenPrompt,
    ListHas,
    NumberIs,
)
from tests.builders import Bench, a_trial, an_exchange


def a_golden(*expectations: Expectation, **fields: Any) -> GoldenPrompt:
    base = {"suite": "s", "id": "i", "language": "en", "prompt": "?", "max_output_tokens": 64}
    return GoldenPrompt(expectations=expectations, **(base | fields))


PARIS = a_golden(AnyOf(strings=("Paris",)))


def judged(prompt: GoldenPrompt, answer: str, **expectation: Any) -> Signal:
    exchange = an_exchange("?", answer, **({"golden": prompt.name} | expectation))
    history = replace(Bench().history, golden={prompt.name: prompt})
    [signal] = CHECK.judge(a_trial(exchange), exchange, history)
    return signal


@pytest.mark.parametrize(
    ("prompt", "right", "wrong"),
    [
        (PARIS, "It is Paris.", "It is Lyon."),
        (PARIS, "Not Lyon, but Paris.", "It is not Paris."),
        (a_golden(AllOf(fragments=("red", "blue"))), "blue and red", "blue"),
        (
            a_golden(DateIs(day=date(1969, 7, 20))),
            "On the 20th of July, 1969.",
            "On the 21st of July, 1969.",
        ),
        (
            a_golden(DateIs(day=date(1949, 10, 1)), language="zh"),
            "一九四九年十月一日",
            "1949年10月2日",
        ),
        (a_golden(NumberIs(value=Decimal(1200))), "twelve hundred", "twelve thousand"),
        (a_golden(NumberIs(value=Decimal("1234.5")), language="de"), "1.234,5", "1.234"),
        (
            a_golden(NumberIs(value=Decimal(35000), units=("元",)), language="zh"),
            "一共3万5千元",
            "一共3万5千个",
        ),
    ],
)
def test_facts_in_the_answers_language(prompt: GoldenPrompt, right: str, wrong: str) -> None:
    assert judged(prompt, right).status is Status.PASS
    signal = judged(prompt, wrong)
    assert (signal.status, signal.variant) == (Status.FAIL, "missing")


def test_a_prompt_that_is_gone_or_edited_cannot_be_judged() -> None:
    assert judged(PARIS, "Paris", golden_version=PARIS.version).status is Status.PASS
    assert judged(PARIS, "Paris", golden_version="000000000000").status is Status.ERROR
    assert judged(PARIS, "Paris", golden="s/other").status is Status.ERROR


def test_what_is_no_golden_prompt_is_skipped() -> None:
    assert judged(PARIS, "Paris", golden=None).status is Status.SKIP
    exchange = an_exchange("?", "Paris")
    assert prompt_as_asked(exchange, Bench().history) is None


def test_the_length_of_a_list_is_no_fact() -> None:
    assert judged(a_golden(AnyOf(strings=("red",)), ListHas(items=3)), "red").status is Status.PASS


def test_a_missing_fact_is_tolerated_and_told_without_quoting() -> None:
    bench = Bench()
    history = replace(bench.history, golden={PARIS.name: PARIS})
    verdict = bench.judge(an_exchange("?", "Lyon of course", golden=PARIS.name), history=history)
    assert verdict.verdict_class is VerdictClass.WRONG
    [signal] = [s for s in verdict.signals if s.code == "FACT"]
    assert signal.explanation == "fact 1 of 1 (any of 1 string) not found"
