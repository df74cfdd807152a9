"""The healthy lab answers every shipped golden prompt rightly, as the probe asks it."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from monitor.prompts import (
    GoldenPrompt,
    broken_forms,
    load_suites,
    missing_facts,
    shipped_folder,
)
from monitor.tasks import ask_to_repeat
from tests.unit.lab.helpers import code, lab, repeat, text_of

if TYPE_CHECKING:
    from monitor.lab.service import Service

SHIPPED = tuple(load_suites(shipped_folder()))
CODE_TOKENS = 24  # room for the echo, beside the answer's own
NONCE = "bafot-gitiz-lusab-dunor"
HARMLESS = ("nondeterminism", "leading_space")


def assert_right(service: Service, golden: GoldenPrompt, nonce: str) -> None:
    prompt = ask_to_repeat(nonce, golden.prompt, language=golden.language)
    answer = text_of(service, prompt, max_new_tokens=golden.max_output_tokens + CODE_TOKENS)
    assert nonce in answer, answer
    assert missing_facts(golden, answer) == (), answer
    assert broken_forms(golden, answer) == {}, answer


@pytest.fixture(
    scope="module", params=[(), *((null,) for null in HARMLESS), HARMLESS], ids="+".join
)
def service(request: pytest.FixtureRequest) -> Service:
    """One lab for all prompts: healthy, or with peculiarities that are not wrong."""
    return lab(*request.param, values={"nondeterminism": {"rate": 1.0}})


@pytest.mark.parametrize("golden", SHIPPED, ids=lambda golden: golden.name)
def test_a_shipped_prompt_is_answered(service: Service, golden: GoldenPrompt) -> None:
    assert_right(service, golden, code(Random(golden.name)))


@pytest.mark.parametrize("golden", SHIPPED, ids=lambda golden: golden.name)
def test_another_wording_of_the_echo(golden: GoldenPrompt) -> None:
    answer = text_of(lab(), repeat(NONCE, golden.prompt))
    assert NONCE in answer
    assert missing_facts(golden, answer) == (), answer
    assert broken_forms(golden, answer) == {}, answer


def test_the_questions_are_answered_without_a_code_too() -> None:
    service = lab()
    wrong = {
        golden.name: answer
        for golden in SHIPPED
        if missing_facts(golden, answer := text_of(service, golden.prompt))
    }
    assert not wrong
