"""CHARSET: several scripts at once are damage; a stray word is a slip; languages are no fault."""

# ruff: noqa: RUF001 - look-alikes of other scripts are what is tested

from __future__ import annotations

import string
from dataclasses import replace
from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.checks.charset import CHECK, unexpected_scripts
from monitor.longtext import SENTENCES
from monitor.model import SAID_CHARACTERS, Calibration, Status, ToolCall, VerdictClass
from tests.builders import Bench, an_exchange, failures

ENGLISH = "The train left the old station on time and the boat waited by the pier. "
PROSE = " ".join(SENTENCES)


def said(answer: str, prompt: str = "Where is the train?", bench: Bench | None = None, **fields):
    tokens = {"output_tokens": len(answer) // 3 + 1}
    return (bench or Bench()).judge(an_exchange(prompt, answer, usage=tokens, **fields))


def charset(answer: str, prompt: str = "Where is the train?", **fields) -> str:
    """Return the variant that CHARSET fails an answer with."""
    signals = [s for s in said(answer, prompt, **fields).signals if s.code == "CHARSET"]
    [signal] = signals
    assert signal.status is not Status.ERROR, signal.explanation
    return signal.variant if signal.status is Status.FAIL else ""


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
        "Ο επόμενος σταθμός είναι η Αθήνα.",
    ],
    ids=["Japanese", "Korean", "Russian and Chinese", "Greek"],
)
def test_another_language_is_never_corrupt(answer: str) -> None:
    assert said(answer).verdict_class <= VerdictClass.WRONG
    assert charset(answer) == "script_share"


def test_what_the_prompt_holds_is_expected() -> None:
    prompt = "Translate train: รถไฟ, поезд, 기차, 火车, ट्रेन"
    assert not failures(said("รถไฟ поезд 기차 火车 ट्रेन", prompt))


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("What is train in Russian, Thai and Korean?", "поезд, รถไฟ, 기차"),
        ("用俄语、泰语、韩语怎么说火车？", "поезд、รถไฟ、기차"),
        ("Say hello in some languages.", "Russian: привет, Thai: สวัสดี, Korean: 안녕하세요"),
        ("Say hello in some languages.", 'It is "привет", (สวัสดี) and «안녕하세요».'),
        ("Link it.", "<a>한국어</a> <a>हिन्दी</a> <a>Русский</a>"),
        ("What is the capital of Japan?", "Tokyo, 東京都です"),
    ],
)
def test_languages_that_are_named_and_names_in_brackets_are_expected(prompt, answer) -> None:
    assert charset(answer, prompt) == ""


def test_a_salad_in_brackets_or_with_languages_named_in_it_is_still_one() -> None:
    assert charset('{"train": "it поезд รถไฟ 기차 left"}') == "many_scripts"
    assert charset(ENGLISH + "汉语 和 日语 поезд รถไฟ 기차") == "many_scripts"


@pytest.mark.parametrize(
    "answer",
    [
        "Hello! 你好! Привет! مرحبا! नमस्ते! How can I help you today?",
        "Choose: English | 中文 | Русский | العربية | 한국어 | हिन्दी",
        "Moscow / Москва; Cairo / القاهرة; Delhi / दिल्ली; Seoul / 서울",
        "1. спасибо\n2. 감사합니다\n3. धन्यवाद\n4. شكرا",
    ],
)
def test_scripts_in_phrases_of_their_own_are_no_damage(answer: str) -> None:
    assert said(answer, "Hello!").verdict_class <= VerdictClass.WRONG
    assert charset(answer, "Hello!") == "script_share"


@pytest.mark.parametrize(
    "answer",
    [
        "Hello! 你好! The train поезд left, รถไฟ was on 기차 time.",
        "火车离开了поезд，然后รถไฟ在，老车站기차。",
        "The поезд left, then 기차 came, รถไฟ.",
    ],
)
def test_a_greeting_or_punctuation_hides_no_salad(answer: str) -> None:
    assert charset(answer) == "many_scripts"


def test_a_share_of_letters_is_more_than_a_slip() -> None:
    assert charset(ENGLISH + "它是一列火车") == "script_share"
    assert charset(ENGLISH * 3 + "它是一列火车") == "odd"


def test_what_a_model_does_when_healthy_is_no_fault() -> None:
    bench = Bench()
    calibration = Calibration(
        id="c1",
        target="glm",
        model="glm-5.3",
        made_at=datetime(2026, 1, 1, tzinfo=UTC),
        made_by="a test",
        reason="a test",
        subject="s",
        checks_version="2",
        tolerance=0.1,
        scripts=("CJK", "CYRILLIC"),
    )
    bench.history = replace(bench.history, calibration=calibration)
    assert charset(ENGLISH + "它是一列火车 поезд", bench=bench) == ""
    assert charset(ENGLISH * 3 + "它是一列火车 поезд รถไฟ 기차", bench=bench) == "odd"


def test_reasoning_may_be_in_another_language_but_not_in_many() -> None:
    chinese = {"reasoning_text": "用户问火车在哪里。火车在老车站，已经准时离开了。"}
    assert charset(ENGLISH, response=chinese) == ""
    salad = {"reasoning_text": "用户问火车 поезд รถไฟ 기차"}
    assert charset(ENGLISH, response=salad) == "many_scripts"


def test_tool_calls_are_looked_at_too() -> None:
    call = ToolCall(name="find", arguments='{"train": "поезд รถไฟ 기차"}')
    assert charset("", response={"tool_calls": (call,)}) == "many_scripts"


@pytest.mark.parametrize(
    ("damage", "variant"),
    [
        ("\ufffd", "odd"),
        ("\ufffd" * 4, "damaged"),
        ("\ue001\ue002\ue003", "damaged"),
        ("\U000a0000\U000b0001\U000c0002", "damaged"),
        ("itâ€™s â€œnewâ€\u009d Ã©tÃ©", "damaged"),
        ("".join(letter + "\u0301\u0308\u0323\u0330" for letter in "harm"), "damaged"),
    ],
    ids=["one", "several", "private use", "unassigned", "bytes", "stacked marks"],
)
def test_damaged_characters(damage: str, variant: str) -> None:
    assert ("CHARSET", variant) in failures(said(ENGLISH + damage))


def test_a_few_damaged_characters_in_a_long_answer_are_no_damaged_state() -> None:
    assert ("CHARSET", "odd") in failures(said(ENGLISH * 20 + "\ufffd" * 3))


def test_the_places_of_damage_are_told() -> None:
    [signal] = [s for s in said("ab\ufffd\ufffd\ufffd").signals if s.variant == "damaged"]
    assert signal.spans == ((2, 3), (3, 4), (4, 5))


def test_words_half_in_another_alphabet_are_no_slip() -> None:
    mixed = "The stаtion hаs а nеw trаin."  # its a and e are Cyrillic
    assert charset(mixed) == "mixed_words"
    assert charset(ENGLISH * 3 + "The stаtiоn.") == "odd"
    assert charset(mixed, "Was ist поезд? It is Russian.") == ""


def test_words_in_letters_of_mathematics_are_odd_formulas_are_not() -> None:
    assert charset(ENGLISH * 3 + "𝘄𝗼𝗿𝗱𝘀 are") == "odd"
    assert charset("𝘄𝗼𝗿𝗱𝘀") == "script_share"
    assert charset("With 𝐀𝐁 = 𝛼𝛽 and ‖𝑥‖ ≤ 1, f(𝑥) = Δμ/σ²") == ""


def test_letters_of_no_language_have_an_entropy_of_their_own() -> None:
    rng = Random(1)
    noise = "".join(rng.choice(string.printable[:94] + " " * 6) for _ in range(400))
    assert charset(noise) == "entropy"
    assert charset(" ".join(rng.choice(("abba", "baab", "bbaa")) for _ in range(90))) == "entropy"
    assert charset(PROSE) == ""


def test_words_drawn_at_random_are_salad_and_a_list_of_words_is_not() -> None:
    words = ["".join(Random(n).choices(string.ascii_lowercase, k=7)) for n in range(150)]
    assert charset(f"{PROSE} {' '.join(words)}") == "salad"
    assert charset(", ".join(words)) == ""


@given(text=st.text(alphabet=st.characters(max_codepoint=0x24F), max_size=300))
def test_latin_letters_signs_and_digits_are_never_unexpected(text: str) -> None:
    assert unexpected_scripts(text, "") == frozenset()


@given(text=st.text(max_size=200), more=st.text(max_size=100))
def test_what_was_expected_is_never_unexpected(text: str, more: str) -> None:
    assert unexpected_scripts(text, text + more) == frozenset()


@given(words=st.text(alphabet="ﬁ²₃ⁿ™µªº𝐀𝛼 αβπΩÅ①🫨👍🏽—“”…√≤", max_size=60))
def test_signs_of_mathematics_and_print_are_no_scripts(words: str) -> None:
    assert unexpected_scripts(words, "") <= {"MATHEMATICAL"}


@pytest.mark.parametrize(
    "unit",
    ["\U0010ffff", "รпх기火", "â€™", "о" + "o", "e\u0301\u0301\u0301\u0301", "(я) ж", "\ud800"],
)
def test_five_megabytes_are_cut_to_what_is_looked_at(unit: str) -> None:
    answer = unit * (5_000_000 // len(unit))
    verdict = said(answer)
    for signal in verdict.signals:
        assert all(end <= SAID_CHARACTERS for _, end in signal.spans)
    assert CHECK.code in {code for code, _ in failures(verdict)}


def test_what_nobody_sees_is_a_slip_and_no_damage() -> None:
    verdict = said("The tra\u200b\u200bin left the station.")
    assert failures(verdict) == {("CHARSET", "invisible")}
    assert verdict.verdict_class is VerdictClass.WRONG


def test_what_nobody_sees_in_the_request_may_be_in_the_answer() -> None:
    answer = "The tra\u200bin left."
    assert charset(answer, "Where is the tra\u200bin?") == ""
    assert charset(answer, "Put a zero-width space into train.") == ""


def test_lost_spaces_are_a_slip() -> None:
    glued = PROSE[:150].replace(" ", "")
    verdict = said(glued)
    assert ("CHARSET", "run_together") in failures(verdict)
    assert verdict.verdict_class is VerdictClass.WRONG
    assert charset(glued, f"Part this into words: {glued}") == ""


@pytest.mark.parametrize(
    "answer",
    [
        "\ufeffThe train left.\r\nSo it did.\r\n",
        "It\u2019s \u201cthe train\u201d \u2013 non\u2011stop,\u00a0really\u2026",
        "## Answer\n\n**The train** \\(x = 2\\) `left` \U0001f468\u200d\U0001f469\u200d\U0001f467",
        "Let me know if you need anything else! \U0001f60a\ufe0f",
    ],
)
def test_odd_but_healthy_characters_stay_quiet(answer: str) -> None:
    assert charset(answer) == ""
