"""The golden prompts that come with Davylamp keep their own rules."""

import calendar
from collections import Counter
from dataclasses import replace

import pytest

from monitor.prompts import (
    AllOf,
    AnyOf,
    DateIs,
    GoldenPrompt,
    NumberIs,
    broken_forms,
    load_suites,
    missing_facts,
    shipped_folder,
)

PROMPTS = load_suites(shipped_folder())
CODE = "bafot-gitiz-lusab-dunor"
# In these the answer must stand in the question; `none`, `json` or `pattern` tell an echo.
ANSWER_IN_QUESTION = {"extraction", "json", "instructions"}
# Their right answers are sentences: TOPIC compares answers with these in other words.
HAVE_REFERENCES = {"facts", "arithmetic", "extraction", "dates"}
WRAPPED = [
    "{}",
    CODE + "\n{}",
    CODE + " {}",
    "{}\n" + CODE,
    "{}\n\nReference code: `" + CODE + "`.",
    "Reference code: " + CODE + "\nAnswer: {}",
    "参考码\uff1a" + CODE + "\n答案\uff1a{}",
    "1. " + CODE + "\n2. {}",
    "1. The reference code is " + CODE + ".\n\n2. {}",
    "1、" + CODE + "\n2、{}",
]

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
    "dates/bastille-date": "The Bastille was stormed on **July 14th, 1789**.",
    "dates/waterloo-date": "18/06/1815",
    "dates/us-independence-date": "the fourth of July, 1776",
    "extraction/end-of-contract": "2024-06-30",
    "dates/founding-prc-zh": "一九四九年十月一日",
    "dates/beijing-olympics-zh": "\uff12\uff10\uff10\uff18年8月8号",
    "extraction/end-of-contract-zh": "2022/9/17",
    "code/add": "```python\ndef add(a, b):\n    return a + b\n```",
    "code/area": "def area(width: float, height: float) -> float:\n    return width*height",
    "code/square": "Here it is:\n```\ndef square(n):\n    return n ** 2\n```\nIt squares n.",
    "code/reverse-text": "```py\ndef reverse_text(text):\n    return ''.join(reversed(text))\n```",
    "lists/days-of-week": "\n".join(
        f"{number}. {day}" for number, day in enumerate(calendar.day_name, 1)
    ),
    "lists/months-of-year": "\n".join(
        f"{number}. **{calendar.month_name[number]}**" for number in range(1, 13)
    ),
    "lists/seasons": "1) Spring\n2) Summer\n3) Fall\n4) Winter",
    "lists/squares": "\n".join(f"{n}. {n}² = {n * n}" for n in range(1, 11)),
    "lists/seasons-zh": "1、春季\n2、夏季\n3、秋季\n4、冬季",
    "lists/days-of-week-zh": "周一、周二、周三、周四、周五、周六、周日",
}

each_prompt = pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.name)


def named(name: str) -> GoldenPrompt:
    return next(prompt for prompt in PROMPTS if prompt.name == name)


def test_every_suite_is_there_in_both_languages() -> None:
    counts = Counter((prompt.suite, prompt.language) for prompt in PROMPTS)
    suites = {"facts", "arithmetic", "extraction", "json", "instructions", "dates", "lists"}
    both = {(suite, language) for suite in suites for language in ("en", "zh")}

    assert set(counts) == both | {("code", "en")}
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
        if isinstance(fact, AnyOf | AllOf | NumberIs | DateIs) and prompt.structure != "code":
            alone = replace(prompt, expectations=(fact,))
            assert missing_facts(alone, prompt.prompt)


@each_prompt
def test_no_prompt_is_answered_by_another_question(prompt: GoldenPrompt) -> None:
    passed = [other.name for other in PROMPTS if not missing_facts(prompt, other.prompt)]

    assert passed == []


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("wrapped", WRAPPED)
def test_a_right_answer_passes_wherever_the_code_stands(name: str, wrapped: str) -> None:
    answer = wrapped.format(RIGHT[name])

    assert missing_facts(named(name), answer) == ()
    assert broken_forms(named(name), answer) == {}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_answer_to_another_question_does_not_pass(name: str) -> None:
    # A list of squares and a date hold numbers that are answers to other questions.
    others = [other for other in RIGHT if other.split("/")[0] not in {"lists", "dates"}]
    passed = [other for other in {name, *others} if not missing_facts(named(name), RIGHT[other])]

    # Two formula questions and two letter questions share their answers.
    assert passed == [name] or {one.removesuffix("-zh") for one in passed} == {
        name.removesuffix("-zh")
    }


@pytest.mark.parametrize("prompt", [p for p in PROMPTS if p.references], ids=lambda p: p.name)
def test_every_reference_is_right_beside_the_code_too(prompt: GoldenPrompt) -> None:
    for reference in prompt.references:
        for wrapped in WRAPPED:
            answer = wrapped.format(reference)
            assert missing_facts(prompt, answer) == (), answer
            assert broken_forms(prompt, answer) == {}, answer


@each_prompt
def test_sentences_have_references_in_their_language(prompt: GoldenPrompt) -> None:
    assert bool(prompt.references) == (prompt.suite in HAVE_REFERENCES)
    if prompt.references:
        assert len(prompt.references) >= 3
        assert max(map(len, prompt.references)) >= (8 if prompt.language == "zh" else 15)
    chinese = any("\u4e00" <= sign <= "\u9fff" for sign in "".join(prompt.references))
    assert not prompt.references or chinese == (prompt.language == "zh")


@each_prompt
def test_no_reference_answers_another_prompt_of_its_suite(prompt: GoldenPrompt) -> None:
    others = [p for p in PROMPTS if p.suite == prompt.suite and p.name != prompt.name]
    same = {other.name: other for other in others if other.expectations != prompt.expectations}
    wrong = {
        name
        for name, other in same.items()
        for reference in other.references
        if not missing_facts(prompt, reference)
    }

    assert wrong == set()
