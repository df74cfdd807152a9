"""What is read of an answer before any model, and when a model would say nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.scoring.topic.reading import (
    LEAST_CHARACTERS,
    READ_CHARACTERS,
    answer_proper,
    foreign_share,
    why_not,
)
from monitor.scoring.topic.refusals import PHRASES, declines
from tests.builders import Bench

NONCE = Bench().mint()
THREE = ("Paris is the capital of France.", "The capital is Paris.", "It is called Paris.")
RIGHT = "The capital of France is Paris, on the river Seine."


@pytest.mark.parametrize(
    "answer",
    [
        f"1. {NONCE}\n2. {RIGHT}",
        f"1. The reference code is {NONCE}.\n2. {RIGHT}",
        f"{NONCE}\n\n{RIGHT}",
        f"{RIGHT}\n\nReference code: **{NONCE}**",
        f"Reference code: {NONCE} - {RIGHT}",
        RIGHT,
    ],
)
def test_code_and_numbers_are_taken_out(answer: str) -> None:
    assert answer_proper(answer, NONCE) == RIGHT


def test_a_code_of_another_shape_is_taken_out_by_its_name() -> None:
    assert "ticket-77" not in answer_proper(f"1. ticket-77\n2. {RIGHT}", "ticket-77")
    assert answer_proper("1. ticket-77\nParis", "ticket-77") == "Paris"


@given(st.text(st.characters(codec=None), max_size=400))
def test_whatever_the_text_is_it_is_bounded_and_fit_for_a_tokenizer(text: str) -> None:
    for large in (text, text * 200):
        read = answer_proper(large, NONCE)
        assert len(read) <= READ_CHARACTERS
        read.encode("utf-8")
        assert 0 <= foreign_share(read, ("latin",)) <= 1
        declines(read, large)


def test_megabytes_are_cut_before_anything_looks_at_them() -> None:
    for unit in ("\ufdfa", "1. ", "\n2)", "a" * 7 + "\n", f"{NONCE} ", "\ud800", "i can't "):
        assert len(answer_proper(unit * 1_000_000, NONCE)) <= READ_CHARACTERS


@pytest.mark.parametrize(
    ("text", "scripts", "share"),
    [
        ("", ("latin",), 0),
        ("12 + 30 = 42", ("latin",), 0),
        ("plain words", ("cjk",), 1),
        ("Größe, façade, Łódź and Việt Nam", ("latin",), 0),
        ("\uff30\uff41\uff52\uff49\uff53", ("latin",), 0),  # full width
        ("法国的首都是巴黎", ("latin",), 1),
        ("法国的首都是巴黎", ("latin", "cjk"), 0),
        ("パリはフランスの首都です", ("cjk",), 0),
        ("파리는 프랑스의 수도이다", ("cjk",), 0),
        ("Париж", ("latin", "cyrillic"), 0),
        ("باريس", ("arabic",), 0),
        ("ปารีส", ("any",), 0),
        ("ab\u043f\u043f", ("latin",), 0.5),
    ],
)
def test_the_share_of_letters_in_other_scripts(
    text: str, scripts: tuple[str, ...], share: float
) -> None:
    assert foreign_share(text, scripts) == share


def test_a_name_in_another_script_is_no_reason_to_skip() -> None:
    text = "The capital of Japan is Tokyo (東京), the largest city of the country."
    assert not why_not(text, THREE, ("latin",))


@pytest.mark.parametrize(
    ("text", "references", "scripts", "why"),
    [
        (RIGHT, THREE, ("latin",), ""),
        ("x" * LEAST_CHARACTERS, THREE, ("latin",), ""),
        ("x" * (LEAST_CHARACTERS - 1), THREE, ("latin",), "fewer than 20 characters"),
        ("", THREE, ("latin",), "fewer than 20 characters"),
        (RIGHT, THREE[:2], ("latin",), "2 of 3 reference answers"),
        (
            "法国的首都是巴黎。位于塞纳河畔。人口众多。历史悠久。",
            THREE,
            ("latin",),
            "100% of the letters",
        ),
        (RIGHT, ("巴黎是法国的首都", *THREE), ("latin",), "the references are in scripts"),
        ("I cannot help with that.", THREE[:1], ("latin",), "the answer declines"),
    ],
)
def test_why_likeness_would_say_nothing(
    text: str, references: tuple[str, ...], scripts: tuple[str, ...], why: str
) -> None:
    assert why_not(text, references, scripts).startswith(why)
    assert bool(why_not(text, references, scripts)) == bool(why)


@pytest.mark.parametrize(
    "answer",
    [
        "I'm sorry, but I can't help with that.",
        "I\u2019m sorry, but I can\u2019t assist with this request.",
        "Sorry. I am unable to answer questions of this kind.",
        "As an AI language model, I cannot provide this information.",
        "I  cannot\nfulfill this request.",
        "很抱歉。我无法回答这个问题。",
        "Es tut mir leid, dabei kann ich nicht helfen.",
        "Je suis désolé, mais je ne peux pas répondre à cette question.",
        "Lo siento, no puedo ayudar con eso.",
        "Não posso ajudar com isso.",
        "Mi dispiace, non posso aiutarti.",
        "Извините, я не могу помочь.",
        "申し訳ありませんが、お答えできません。",
        "죄송하지만 답변할 수 없습니다.",
    ],
)
def test_refusals_in_several_languages(answer: str) -> None:
    assert declines(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        RIGHT,
        "Sorry, the last train has left; the next one goes at nine.",
        "You cannot divide by zero.",
        "The theory cannot provide an answer without more data.",
        "He said he could not help it.",
        "无论如何。答案是四十二。",
        f"{RIGHT} {'More of it follows here. ' * 20} I cannot help with that.",
    ],
)
def test_what_only_sounds_like_a_refusal(answer: str) -> None:
    assert not declines(answer)


@pytest.mark.parametrize("phrase", PHRASES)
def test_every_phrase_is_found_whatever_its_case_but_not_where_it_was_given(phrase: str) -> None:
    answer = f"Well: {phrase.upper()} this."
    assert declines(answer)
    assert not declines(answer, f"Say: {phrase}.")
