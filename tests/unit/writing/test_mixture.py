"""Entropy, and words as if drawn at random."""

from __future__ import annotations

import string
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.longtext import SENTENCES
from monitor.writing.mixture import SALAD_WORDS, entropy, word_salad

LETTERS = string.ascii_lowercase


def word(number: int) -> str:
    return f"{LETTERS[number % 26]}{LETTERS[number // 26 % 26]}{LETTERS[number // 7 % 26]}x"


DIFFERENT = [word(number) for number in range(300)]


def test_entropy_of_equally_many_characters_is_their_log() -> None:
    assert entropy("abcd" * 25) == pytest.approx(2)
    assert entropy("aaaa") == 0
    assert entropy("") == 0


def test_words_of_which_none_comes_back_are_salad_and_their_place_is_told() -> None:
    good = " ".join(SENTENCES)
    text = f"{good} {' '.join(DIFFERENT[:150])}"
    place = word_salad(text)
    assert place is not None
    assert place[1] > len(good)


@pytest.mark.parametrize(
    "text",
    [
        " ".join(SENTENCES) * 3,
        ", ".join(DIFFERENT),
        "\n".join(DIFFERENT),
        str(DIFFERENT),
        " ".join(DIFFERENT[: SALAD_WORDS - 1]),
        " ".join(Random(1).sample(SENTENCES * 20, 160)),
        "слово " * 200,
    ],
    ids=["prose", "commas", "lines", "a list in code", "too few", "sentences", "no Latin letter"],
)
def test_what_is_no_salad(text: str) -> None:
    assert word_salad(text) is None


@given(st.text(max_size=400))
def test_any_text_has_an_entropy(text: str) -> None:
    assert 0 <= entropy(text) <= 21
    word_salad(text)
