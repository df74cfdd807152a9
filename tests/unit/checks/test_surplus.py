"""SURPLUS: what a server put into an answer, and what only looks like it."""

# ruff: noqa: RUF001 - Chinese punctuation is part of what is tested

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from monitor.checks.surplus import CHECK
from monitor.model import Fact, Status, VerdictClass
from monitor.prompts import load_suites, shipped_folder
from tests.builders import Bench, a_trial, an_exchange, failures

BENCH = Bench()
ANSWER = "The capital of France is Paris."
CODE = "kulob-fisag-novat-tipum"
PROMPT = f"The reference code of this ticket is {CODE}. What is the capital of France?"
KNOWN = (Fact(name="the capital", any_of=("Paris",)),)


def variants(answer: str, prompt: str = PROMPT, **fields: Any) -> set[str]:
    exchange = an_exchange(prompt, answer, **({"answers": KNOWN} | fields))
    signals = CHECK.judge(a_trial(exchange), exchange, BENCH.history)
    return {signal.variant for signal in signals if signal.status is Status.FAIL}


@pytest.mark.parametrize(
    ("answer", "variant"),
    [
        (f"{ANSWER}\n\n[ERROR: stream interrupted by its source]", "server_error"),
        (f"{ANSWER}\nTraceback (most recent call last):\n", "server_error"),
        ("Error: upstream request failed with status 502.", "server_error"),
        ("服务器繁忙，请稍后再试。", "server_error"),
        (f"Okay, so the user is asking me for a city. {ANSWER}", "thoughts"),
        (f"We need to answer with a city. {ANSWER}", "thoughts"),
        (f"analysisThe user wants a city.assistantfinal{ANSWER}", "thoughts"),
        (f"A city. Simple.assistantfinal {ANSWER}", "thoughts"),
        (f"好的，用户想知道首都。{ANSWER}", "thoughts"),
        (f"{ANSWER}\n\nPowered by [Lantern](https://lantern.example/free).", "advert"),
        (f"{ANSWER} ![](https://collect.example/p.gif?q=kulob)", "advert"),
        (f"{ANSWER} Sponsored: 40 % off every mattress!", "advert"),
        ("It&#x27;s Paris &amp; nothing else.", "escaped"),
        (f"{PROMPT}\n{ANSWER}", "prompt_echoed"),
        (f"{PROMPT.replace(' ', chr(10))} {ANSWER}", "prompt_echoed"),
    ],
)
def test_what_nobody_asked_for_is_wrong(answer: str, variant: str) -> None:
    assert variants(answer) == {variant}
    verdict = BENCH.judge(an_exchange(PROMPT, answer, answers=KNOWN))
    assert ("SURPLUS", variant) in failures(verdict)
    assert verdict.verdict_class is VerdictClass.WRONG


FAILURES = {
    "gpu": f"{ANSWER}\n\n[ERROR: CUDA out of memory. Tried to allocate 2.00 GiB]",
    "library": f"{ANSWER} RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:1275",
    "page": "<html><body><h1>502 Bad Gateway</h1></body></html>",
    "proxy": "upstream connect error or disconnect/reset before headers. reset reason: timeout",
}


@pytest.mark.parametrize("name", FAILURES)
def test_the_serving_stacks_own_error_is_no_success(name: str) -> None:
    assert variants(FAILURES[name]) == {"server_failure"}
    verdict = BENCH.judge(an_exchange(PROMPT, FAILURES[name], answers=KNOWN))
    assert verdict.verdict_class is VerdictClass.CONTRACT


@pytest.mark.parametrize("name", FAILURES)
def test_of_a_weak_model_it_is_tolerated_and_who_asks_about_errors_gets_them(name: str) -> None:
    exchange = an_exchange(PROMPT, FAILURES[name], answers=KNOWN)
    history = replace(BENCH.history, weak_model=True)
    found = {each.variant for each in CHECK.judge(a_trial(exchange), exchange, history)}
    assert found <= {"server_error", ""}
    assert variants(FAILURES[name], "Which error does a busy server give?") == set()


def test_who_asks_what_a_status_means_gets_its_name() -> None:
    said = "It means 502 Bad Gateway."
    assert variants(said, "What does a 502 mean?") == set()
    assert variants(said, answers=(Fact(name="it", any_of=("502",)),)) == set()


@pytest.mark.parametrize(
    ("answer", "prompt"),
    [
        ("It raises ValueError: no such city.", "Which error does this function raise?"),
        ("The user wants a city.", "What does the user want?"),
        ("See https://example.com/paris.", "Which page is it? https://example.com/london is not."),
        ("It is https://example.com/paris.", "Give me a link to a page about Paris."),
        ("The coat is 30 % off now.", "A coat is 20 % off. How much is that?"),
        ("Use &amp; for the sign.", "How is & written in HTML?"),
        ("<p>Paris &amp; Lyon</p>", PROMPT),
        ("Let me know if you need more.", PROMPT),
        ("First, fill the kettle. Then wait.", PROMPT),
        ("I need a map for that.", PROMPT),
        (f"The reference code of this ticket is {CODE}. Paris.", PROMPT),
        ("Hello.", "Hello."),
        ("", PROMPT),
    ],
)
def test_what_was_asked_for_or_is_said_so_is_none(answer: str, prompt: str) -> None:
    assert variants(answer, prompt) == set()


def test_a_piece_of_a_long_prompt_is_the_prompt_wherever_it_begins() -> None:
    prompt = " ".join(f"sentence{number} says nothing" for number in range(200))
    for start in range(300, 500, 7):
        assert variants(f"Yes: {prompt[start : start + 161]}.", prompt) == {"prompt_echoed"}
        assert variants(f"Yes: {prompt[start : start + 155]}.", prompt) == set()


def test_what_a_right_answer_holds_may_stand_in_the_prompt_too() -> None:
    whole = "The quick brown fox jumps over the lazy dog, and the lazy dog does not mind it at all."
    assert variants(whole, whole) == {"prompt_echoed"}
    assert variants(whole, whole, answers=(Fact(name="it", any_of=(whole,)),)) == set()


def test_reasoning_and_reported_answers_are_not_looked_at() -> None:
    thought = {"reasoning_text": "Okay, the user wants a city. See https://example.com/paris."}
    assert variants(ANSWER, response=thought) == set()
    assert variants(f"Okay, the user wants a city. {ANSWER}", answers=()) == set()


def test_right_answers_to_the_shipped_prompts_have_none() -> None:
    for prompt in load_suites(shipped_folder()):
        for text in prompt.references:
            assert variants(text, prompt.prompt) == set(), prompt.name
