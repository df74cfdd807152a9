"""Loops are found where they are, whatever their period; n-grams count what is said again."""

# ruff: noqa: RUF001 - look-alikes of other scripts are what is tested

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.writing.repetition import (
    LEAST_CHARACTERS,
    LEAST_REPETITIONS,
    loops,
    repeated,
    smallest_period,
    tail_loop,
)

UNLIKE = "The quick brown fox, having jumped over 13 lazy dogs, sat down by the mill-pond: why?"
WORDS = st.lists(st.sampled_from(["train", "boat", "the", "a", "mill"]), min_size=1, max_size=8)


@pytest.mark.parametrize("unit", ["!", "a- ", "and so on ", "\n- Paris", "好的。", "🫨 ", UNLIKE])
def test_a_loop_at_the_end_is_found(unit: str) -> None:
    loop = unit * max(6, LEAST_CHARACTERS // len(unit) + 1)
    assert tail_loop(f"Well then: {loop}") >= len(loop)


@pytest.mark.parametrize("text", ["", "a", UNLIKE, UNLIKE * 3, "haha " * 5, "-" * 59])
def test_what_is_no_loop(text: str) -> None:
    assert tail_loop(text) == 0
    assert not list(loops(text))


@given(unit=st.text(alphabet="abc d", min_size=1, max_size=40), times=st.integers(4, 80))
def test_a_loop_inside_is_found_unless_it_is_all_spaces(unit: str, times: int) -> None:
    loop = unit * times
    found = list(loops(f"{UNLIKE}{loop}{UNLIKE}"))
    long_enough = len(loop) >= max(LEAST_CHARACTERS, (LEAST_REPETITIONS + 1) * len(unit))
    if long_enough and unit.strip() and smallest_period(loop) == smallest_period(unit * 2):
        assert any(each.start <= len(UNLIKE) + 1 + len(loop) // 2 <= each.end for each in found)


@given(text=st.text(alphabet="ab", max_size=600))
def test_what_is_found_is_a_loop(text: str) -> None:
    for each in loops(text):
        assert each.length >= max(LEAST_CHARACTERS, LEAST_REPETITIONS * each.period)
        body = text[each.start : each.end]
        assert body[each.period :] == body[: -each.period]


@given(unit=st.text(alphabet="ab", min_size=1, max_size=9), times=st.integers(2, 9))
def test_the_smallest_period_divides_repetitions(unit: str, times: int) -> None:
    assert len(unit) % smallest_period(unit * times) == 0


def test_what_is_said_three_times_counts_and_what_is_given_does_not() -> None:
    sentence = "The morning train left the old station exactly on time today."
    found = repeated(f"{sentence} {UNLIKE} {sentence} {sentence}")
    assert found.twice >= found.thrice > 0.5
    assert repeated(f"{sentence} {UNLIKE} {sentence}").thrice == 0
    assert repeated(f"{sentence} {UNLIKE} " * 3, [f"Say: {sentence}"]).thrice < 0.7
    assert repeated(f"{sentence} " * 9, [f"Say nine times: {sentence}"]).twice == 0
    assert repeated(f"{sentence} " * 9, ["Say nine times: the morning train"]).twice > 0.8


def test_scripts_without_spaces_are_counted_by_characters() -> None:
    sentence = "列车准时离开了老车站，船在长长的木码头旁等待。"
    found = repeated(sentence * 4)
    assert found.words == len(sentence * 4)
    assert found.thrice == 1.0


@given(words=WORDS)
def test_nothing_is_said_again_in_a_few_words(words: list[str]) -> None:
    assert repeated(" ".join(words)).twice == 0


@pytest.mark.parametrize(
    "unit",
    [
        "words that are said again, one by one, and then go on ",
        "好的是的对的不是这样的话说了又说了吗",
    ],
)
def test_what_was_given_is_read_piece_by_piece(unit: str) -> None:
    # A prompt of a million tokens as a list of n-grams took 800 MB.
    given_text = "".join(f"{n} " if unit.isascii() else chr(0x4E00 + n) for n in range(20_000))
    answer = unit * 4
    tracemalloc.start()
    found = repeated(answer, [given_text])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.twice > 0.9
    assert repeated(answer, [given_text + answer]).twice == 0.0
    assert peak < 120 * 20_000
