"""Where a healthy lab refuses, to the token."""

from __future__ import annotations

import pytest

from monitor.lab.service import RefusedError, Service
from monitor.lab.settings import Mode
from tests.unit.lab.helpers import FILLER, ask, finish, lab, send

POOL = {"lab": {"prefill_share": 0.5}}
# <|begin|> <|user|> ... <|end|> <|assistant|>
TEMPLATE_TOKENS = 4


def _words(tokens: int) -> str:
    return " cat" * (tokens - TEMPLATE_TOKENS)


def _message(service: Service, tokens: int, max_new_tokens: int = 1) -> str:
    with pytest.raises(RefusedError) as caught:
        ask(service, _words(tokens), max_new_tokens=max_new_tokens)
    assert caught.value.refusal.status == 400
    return caught.value.refusal.message


def test_the_scheduler_accepts_up_to_its_limit_and_no_further() -> None:
    service = lab(context_tokens=1024)
    assert ask(service, _words(1017), max_new_tokens=1).usage.prompt_tokens == 1017
    assert _message(service, 1018) == (
        "Input length (1018 tokens) exceeds the maximum allowed length (1018 tokens). "
        "Use a shorter input or enable --allow-auto-truncate."
    )


@pytest.mark.parametrize("mode", list(Mode))
def test_a_small_pool_lowers_the_limit(mode: Mode) -> None:
    service = lab(values=POOL, mode=mode, context_tokens=1024)
    assert ask(service, _words(505), max_new_tokens=1).usage.prompt_tokens == 505
    assert "maximum allowed length (506 tokens)" in _message(service, 506)


def test_the_door_knows_the_context() -> None:
    assert _message(lab(context_tokens=1024), 1024) == (
        "The input (1024 tokens) is longer than the model's context length (1024 tokens)."
    )


def test_the_door_counts_what_was_asked_for() -> None:
    service = lab(context_tokens=1024)
    assert ask(service, _words(924), max_new_tokens=100).usage.prompt_tokens == 924
    message = _message(service, 925, max_new_tokens=100)
    assert message.startswith("Requested token count exceeds the model's maximum context length")


def test_no_answer_is_cut_because_others_took_the_room() -> None:
    service = lab(context_tokens=512)
    prompts = [f"Logbook {number}. {FILLER} Count from 1 to 60 in digits." for number in range(24)]
    answers = [send(service, prompt, max_new_tokens=300) for prompt in prompts]
    finish(service, *answers)
    assert {answer.finish_reason for answer in answers} == {"stop"}
    assert all(answer.parser.content.endswith("60") for answer in answers)
