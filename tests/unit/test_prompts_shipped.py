"""The golden prompts that come with Davylamp keep their own rules."""

from collections import Counter
from dataclasses import replace

import pytest

from monitor.prompts import (
    AnyOf,
    GoldenPrompt,
    NumberIs,
    load_suites,
    missing_facts,
    shipped_folder,
)

PROMPTS = load_suites(shipped_folder())
CODE = "bafot-gitiz-lusab-dunor"
# In these the answer must stand in the question; `none`, `json` or `pattern` tell an echo.
ANSWER_IN_QUESTION = {"extraction", "json", "instructions"}

RIGHT = {
    "facts/capital-france": "The capital of France is **Paris**.",
    "facts/formula-water": "H₂O",
    "facts/moon-landing-year": "In 1969.",
    "facts/boiling-water": "100°C",
    "facts/metres-kilometre": "1,000 metres",
    "facts/hexagon-sides": "A hexagon has six sides.",
    "facts/bits-byte": "8",
    "facts/capital-china-zh": "北京",
    "facts/capital-japan-zh": "日本的首都是东京。",
    "facts/months-year-zh": "一年有\uff11\uff12个月。",
    "arithmetic/subtract-below-zero": "5 \u2212 9 = \u22124",
    "arithmetic/add-two-digits": "17 + 25 = 42.",
    "arithmetic/pencils-zh": "15元",
    "extraction/lunch-time": "Lunch is at 12:40.",
    "extraction/order-number-zh": "7340",
    "extraction/bag-colour-zh": "蓝色",
    "json/name-and-age": '```json\n{"name": "Maria", "age": 34}\n```',
    "json/null-phone": '{"name":"Omar","phone":null}',
    "json/nested-price-zh": '{"item": {"name": "茶", "price": 30}}',
    "instructions/one-word-yes": "Yes.",
    "instructions/capital-letters": "LANTERN",
    "instructions/option-letter": "B)",
    "instructions/option-letter-zh": "B。",
}

each_prompt = pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.name)


def named(name: str) -> GoldenPrompt:
    return next(prompt for prompt in PROMPTS if prompt.name == name)


def test_every_suite_is_there_in_both_languages() -> None:
    counts = Counter((prompt.suite, prompt.language) for prompt in PROMPTS)
    suites = {"facts", "arithmetic", "extraction", "json", "instructions"}

    assert set(counts) == {(suite, language) for suite in suites for language in ("en", "zh")}
    assert len(PROMPTS) >= 48
    assert sum(prompt.language == "zh" for prompt in PROMPTS) >= len(PROMPTS) * 0.3


@each_prompt
@pytest.mark.parametrize("wrapped", ["{}", "Code: " + CODE + "\n{}", "{} " + CODE])
def test_an_echo_of_the_question_does_not_pass(prompt: GoldenPrompt, wrapped: str) -> None:
    assert missing_facts(prompt, wrapped.format(prompt.prompt))


@each_prompt
@pytest.mark.parametrize("answer", ["", " \n", CODE, CODE.upper(), f"Reference code: {CODE}."])
def test_nothing_but_the_code_does_not_pass(prompt: GoldenPrompt, answer: str) -> None:
    assert missing_facts(prompt, answer)


@pytest.mark.parametrize(
    "prompt",
    [prompt for prompt in PROMPTS if prompt.suite not in ANSWER_IN_QUESTION],
    ids=lambda prompt: prompt.name,
)
def test_no_expected_fact_stands_in_the_question(prompt: GoldenPrompt) -> None:
    for fact in prompt.expectations:
        if isinstance(fact, AnyOf | NumberIs):
            alone = replace(prompt, expectations=(fact,))
            assert missing_facts(alone, prompt.prompt)


@each_prompt
def test_no_prompt_is_answered_by_another_question(prompt: GoldenPrompt) -> None:
    passed = [other.name for other in PROMPTS if not missing_facts(prompt, other.prompt)]

    assert passed == []


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize(
    "wrapped",
    [
        "{}",
        CODE + "\n{}",
        CODE + " {}",
        "{}\n" + CODE,
        "{}\n\nReference code: `" + CODE + "`.",
        "Reference code: " + CODE + "\nAnswer: {}",
        "参考码\uff1a" + CODE + "\n答案\uff1a{}",
    ],
)
def test_a_right_answer_passes_wherever_the_code_stands(name: str, wrapped: str) -> None:
    assert missing_facts(named(name), wrapped.format(RIGHT[name])) == ()


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_answer_to_another_question_does_not_pass(name: str) -> None:
    passed = [other for other in RIGHT if not missing_facts(named(name), RIGHT[other])]

    # Two formula questions and two letter questions share their answers.
    assert passed == [name] or {one.removesuffix("-zh") for one in passed} == {
        name.removesuffix("-zh")
    }
