"""CHARSET: several scripts at once are damage; a stray word is a slip; languages are no fault."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.checks.charset import unexpected_scripts
from monitor.model import VerdictClass
from tests.builders import Bench, an_exchange, failures

ENGLISH = "The train left the old station on time and the boat waited by the pier. "


def said(answer: str, prompt: str = "Where is the train?"):
    return Bench().judge(an_exchange(prompt, answer, usage={"output_tokens": len(answer) // 3 + 1}))


def test_b04_thai_cyrillic_and_hangul_in_english_is_corrupt() -> None:
    verdict = said(ENGLISH + "รถไฟ поезд 기차 left.")
    assert ("CHARSET", "many_scripts") in failures(verdict)
    assert verdict.verdict_class is VerdictClass.CORRUPT


def test_one_chinese_word_in_english_is_a_slip() -> None:
    verdict = said(ENGLISH + "It is a 火车.")
    assert failures(verdict) == {("CHARSET", "odd")}
    assert verdict.verdict_class is VerdictClass.WRONG


@pytest.mark.parametrize(
    "answer",
    [
        "次の駅は東京です。コーヒーはいかがですか。",
        "다음 역은 서울(首爾)입니다.",
        "Следующая станция. 下一站是北京。",
    ],
    ids=["Japanese", "Korean", "Russian and Chinese"],
)
def test_another_language_is_never_corrupt(answer: str) -> None:
    assert said(answer).verdict_class <= VerdictClass.WRONG


def test_what_the_prompt_holds_is_expected() -> None:
    prompt = "Translate train: รถไฟ, поезд, 기차, 火车, ट्रेन"
    assert not failures(said("รถไฟ поезд 기차 火车 ट्रेन", prompt))


@pytest.mark.parametrize(
    ("damage", "variant"),
    [("\ufffd", "odd"), ("\ufffd" * 4, "damaged"), ("\ue001\ue002\ue003", "damaged")],
    ids=["one", "several", "private use"],
)
def test_damaged_characters(damage: str, variant: str) -> None:
    assert ("CHARSET", variant) in failures(said(ENGLISH + damage))


def test_a_few_damaged_characters_in_a_long_answer_are_no_damaged_state() -> None:
    assert ("CHARSET", "odd") in failures(said(ENGLISH * 20 + "\ufffd" * 3))


@given(text=st.text(alphabet=st.characters(max_codepoint=0x24F), max_size=300))
def test_latin_letters_signs_and_digits_are_never_unexpected(text: str) -> None:
    assert unexpected_scripts(text, "") == frozenset()


@given(text=st.text(max_size=200), more=st.text(max_size=100))
def test_what_was_expected_is_never_unexpected(text: str, more: str) -> None:
    assert unexpected_scripts(text, text + more) == frozenset()


@given(words=st.text(alphabet="ﬁ²₃ⁿ™µªº𝐀𝛼αβπΩÅ①🫨👍🏽—“”…√≤", max_size=60))
def test_signs_of_mathematics_and_print_are_no_scripts(words: str) -> None:
    assert unexpected_scripts(words, "") == frozenset()
