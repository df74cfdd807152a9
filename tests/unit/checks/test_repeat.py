"""REPEAT: loops, runs, repeated sentences; rulers, lists, code and what was asked are healthy."""

# ruff: noqa: RUF001 - signs of other scripts are what is tested

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.checks import judge_trial
from monitor.checks.repeat import CHECK
from monitor.longtext import SENTENCES
from monitor.model import SAID_CHARACTERS, Status, ToolCall, VerdictClass
from monitor.prompts import GoldenPrompt
from monitor.writing.repetition import (
    LEAST_COPY,
    LEAST_DIFFERENT,
    copies,
    smallest_period,
    stutters,
)
from tests.builders import Bench, a_trial, an_exchange

PROSE = " ".join(SENTENCES)
BENCH = Bench()


def signal(answer: str, prompt: str = "Tell me more.", **fields):
    exchange = an_exchange(prompt, answer, **fields)
    [only] = CHECK.judge(a_trial(exchange), exchange, BENCH.history)
    return only


def variant(answer: str, prompt: str = "Tell me more.", **fields) -> str:
    found = signal(answer, prompt, **fields)
    return found.variant if found.status is Status.FAIL else ""


@pytest.mark.parametrize(
    "answer",
    [
        "!" * 40,
        "a- " * 64,
        f"{PROSE} {'and so on ' * 9}",
        f"{PROSE}{chr(10) * 300}",
        "{" + " " * 400,
    ],
    ids=["b16 marks alone", "b09 a token", "a phrase", "line breaks", "spaces in JSON"],
)
def test_an_answer_that_ends_in_a_loop(answer: str) -> None:
    assert variant(answer) in ("tail_loop", "run")
    assert BENCH.judge(an_exchange("Hi", answer)).verdict_class <= VerdictClass.WRONG


@pytest.mark.parametrize("answer", ["!!!!", "?" * 11, "a- a- a- a- a- a- a-", "的" * 12, "0" * 20])
def test_b16_an_answer_that_is_one_token_alone_however_short(answer: str) -> None:
    assert variant(answer) == "run"


@pytest.mark.parametrize(
    "answer",
    ["....", "-----", "*****", "★★★★★★★★★★", "111111111", "haha", "no no no", "!", "Yes!!!", ""],
)
def test_short_answers_of_few_characters_are_healthy(answer: str) -> None:
    assert variant(answer) == ""


def test_a_run_in_the_middle_of_an_answer() -> None:
    assert variant(f"{PROSE} {'very ' * 40}{PROSE}") == "run"
    assert variant(f"The answer is{'!' * 300} or so, I think. {PROSE}") == "run"
    assert variant(f"{PROSE} Haha, hahahahaha, that is very very very good!!!!! So be it.") == ""


HEALTHY = {
    "a ruler": f"{PROSE}\n\n{'-' * 80}\nThat was it.\n{'=' * 100}",
    "a ruler at the end": f"{PROSE}\n{'_' * 120}",
    "dots": "\n".join(f"Chapter {n} {'.' * 70} {n * 12}" for n in range(9)),
    "a table": "| a | b |\n|---|---|\n" + "".join(f"| yes | {n} | no |\n" for n in range(40)),
    "zeros": f"The matrix is\n{[[0] * 20] * 20}",
    "a fraction": "1/3 = 0." + "3" * 150,
    "code": "def f(x):\n" + "".join(f"    if x == {n}:\n        return {n}\n" for n in range(60)),
    "json": json.dumps([{"name": "train", "left": True, "station": n} for n in range(60)]),
    "a list": "".join(f"- item {n} of the list is a train\n" for n in range(60)),
    "a box": "┌" + "─" * 150 + "┐",
}


@pytest.mark.parametrize("answer", HEALTHY.values(), ids=HEALTHY)
def test_healthy_text_that_repeats_itself(answer: str) -> None:
    assert variant(answer) == ""


def test_sentences_said_again_and_again_in_any_order() -> None:
    again = [SENTENCES[n * n % 5] for n in range(12)]
    assert variant(f"{PROSE} {' '.join(again)}") == "ngrams"
    assert variant(PROSE) == ""


def test_chinese_sentences_said_again_and_again() -> None:
    one, two = (
        "列车准时离开了老车站，船在长长的木码头旁等待。",
        "面包师在柜台上放了六个热面包，老师画了一个圆。",
    )
    assert variant(one + two + one + two + two + one) == "ngrams"


def test_what_was_asked_for_may_be_said_again() -> None:
    line = "I will not talk in class while the teacher draws a circle on the board. "
    assert variant(line * 10) != ""
    assert variant(line * 10, f"Write this as often as here: {line * 10}") == ""
    mixed = " ".join(f"Verse {n}: {SENTENCES[n % 3]}" for n in range(12))
    assert variant(mixed) == "ngrams"
    assert variant(mixed, f"Write twelve verses of these: {' '.join(SENTENCES[:3])}") == ""


def test_what_a_reference_repeats_may_be_repeated() -> None:
    song = "Row your boat along the stream and sing with all of us today. " * 8
    golden = GoldenPrompt(
        suite="songs",
        id="row",
        language="en",
        prompt="Sing.",
        expectations=(),
        max_output_tokens=200,
        references=(song,),
    )
    bench = Bench()
    object.__setattr__(bench.history, "golden", {"songs/row": golden})
    exchange = an_exchange("Sing.", song, golden="songs/row")
    [found] = judge_trial(a_trial(exchange), bench.history, [CHECK])
    assert found.status is Status.PASS


def test_each_part_of_an_answer_is_looked_at_and_the_place_is_told() -> None:
    loop = "and so on " * 20
    reasoned = signal(PROSE, response={"reasoning_text": f"Well. {loop}"})
    call = ToolCall(name="find", arguments=f'{{"q": "{loop}')
    called = signal(PROSE, response={"tool_calls": (call,)})
    for found in (reasoned, called):
        assert found.variant == "tail_loop"
        [(start, end)] = found.spans
        assert start > len(PROSE)
        assert end - start >= len(loop) - 12
    looped = signal(
        f"{PROSE} {loop}", response={"tool_calls": (ToolCall(name="a", arguments="{}"),)}
    )
    assert looped.variant == "tail_loop"


def test_reasoning_may_go_over_things_again() -> None:
    again = " ".join(SENTENCES[n * n % 5] for n in range(12))
    assert variant(PROSE, response={"reasoning_text": f"{PROSE} {again} So be it."}) == ""


@given(st.text(max_size=400) | st.text(alphabet="ab \n-!", max_size=400))
def test_any_text_is_judged_and_places_are_within(text: str) -> None:
    found = signal(text)
    assert found.status in (Status.PASS, Status.FAIL)
    assert all(0 <= start < end <= len(text) for start, end in found.spans)


@pytest.mark.parametrize(
    "unit", ["a", "ab ", "x" * 499 + "y", "a\n", "abcdefgh" + "q" * 30, "的", " ", "\ud800"]
)
def test_five_megabytes_are_cut_to_what_is_looked_at(unit: str) -> None:
    found = signal(unit * (5_000_000 // len(unit)))
    assert found.status is Status.FAIL
    assert all(end <= SAID_CHARACTERS for _, end in found.spans)


SENTENCE = "The capital of France is Paris, on the river Seine."


@pytest.mark.parametrize("between", ["", " ", "\n", "\r\n\r\n"])
@pytest.mark.parametrize("times", [2, 3])
def test_a_whole_answer_that_came_more_than_once(between: str, times: int) -> None:
    assert variant(between.join([SENTENCE] * times)) == "doubled"
    assert (
        variant(between.join(["法国的首都是巴黎，它位于塞纳河畔，人口众多。"] * times)) == "doubled"
    )


@given(st.text(alphabet="abcdefghijklmnop qrstuvwxyz,.", min_size=60, max_size=200))
def test_doubling_shows_whatever_the_answer(answer: str) -> None:
    found = copies(answer + answer)
    whole = "".join(answer.split())
    if found is None:
        assert len(set(whole)) < LEAST_DIFFERENT or copies(answer + "~" + answer) is None
        assert smallest_period(whole + whole) < LEAST_COPY or len(set(whole)) < LEAST_DIFFERENT
    else:
        assert found.part * found.times == whole + whole


@pytest.mark.parametrize(
    "answer",
    [
        "yes yes",
        "New York, New York",
        "Baden-Baden",
        "4242",
        "1010101010101010 1010101010101010",
        "No. No. No.",
        "bafot-gitiz-lusab-dunor\nThe sum is 42.",
        f"{SENTENCE}\n\n{SENTENCE} So it is.",
        "The code is bafot. The code was bafot.",
        "very, very, very good",
        "See /huggingface/huggingface and torch.Tensor, torch.Tensor, at once.",
        "| red green blue | red green blue | red green blue |",
        "x_train, x_test, x_train, x_test = split(first, second, first, second)",
    ],
)
def test_what_is_said_twice_for_a_reason(answer: str) -> None:
    assert variant(answer) == ""


@pytest.mark.parametrize(
    "prompt",
    ["Say it twice.", "Write the sentence three times.", "请把这句话写两遍。", SENTENCE * 2],
)
def test_who_asks_for_copies_gets_them(prompt: str) -> None:
    assert variant(SENTENCE * 2, prompt) == ""
    assert variant(SENTENCE + "\n" + SENTENCE, prompt) == ""


@given(st.integers(0, len(PROSE) - 40), st.integers(12, 40))
def test_a_piece_of_prose_that_was_sent_twice(start: int, size: int) -> None:
    end = start + size
    text = PROSE[:end] + PROSE[start:]
    found = variant(text)
    piece = PROSE[start:end]
    if (
        " " in piece
        and not set(piece) & set('"*')
        and len({*filter(str.isalpha, piece.lower())}) > 8
    ):
        assert found == "stutter"
    assert variant(PROSE) == ""


def test_a_piece_of_chinese_that_was_sent_twice() -> None:
    text = "下一班火车将在十分钟之后从三号站台出发，请各位旅客带好自己的行李物品。"
    assert variant(text[:20] + text[5:]) == "stutter"
    assert variant(text) == ""


def test_looking_for_pieces_takes_linear_time() -> None:
    hostile = ["0123456789AB" * 3000, "ab cd ef gh ij kl " * 2000, "a" * 36_000, "- " * 18_000]
    for text in hostile:
        found = list(stutters(text))
        assert len(found) <= 1


def test_the_end_of_a_code_that_was_sent_twice() -> None:
    assert variant("bunaj-dinut-hizap-nurat\nhizap-nurat\nThe sum is 42.") == "stutter"
    assert variant("bunaj-dinut-hizap-nurat hizap-nurat is it.") == "stutter"
    assert variant("bunaj-dinut-hizap-nurat\nbunaj-dinut-hizap-nurat\nThe sum is 42.") == ""
