"""Folding undoes what hides a value, and every place leads back."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.scoring.pii.folding import PIECE_MARK, bare, digits, fold, is_made_up
from tests.bench.personal import draw, wide


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        (wide("4539 1488"), "4539 1488"),
        ("45\u200b39\u00ad14\ufeff88", "45391488"),
        ("4539\u00a01488\u20111111", "4539 1488-1111"),
        ("٤٥٣٩ and ४५", "4539 and 45"),
        ("a\uff20b\uff0ecom", "a@b.com"),
        ("naïve 中文", "naïve 中文"),
        ("\ud800x", "\ufffdx"),
    ],
)
def test_what_hides_a_value_is_undone(text: str, folded: str) -> None:
    assert fold(text).text == folded


def test_a_place_leads_back_over_what_was_dropped() -> None:
    text = "tel\u200b: 1\u00ad2\u200b\u200b3 end"
    folded = fold(text)
    start = folded.text.index("123")
    assert folded.origin(start, start + 3) == (text.index("1"), text.index("3") + 1)


@given(st.text(alphabet=st.characters(codec=None), max_size=300))
def test_every_kept_character_is_found_again(text: str) -> None:
    folded = fold(text)
    assert PIECE_MARK not in folded.text
    places = [folded.origin(i, i + 1) for i in range(len(folded.text))]
    assert all(end == start + 1 for start, end in places)
    assert [start for start, _ in places] == sorted({start for start, _ in places})
    assert all(
        fold(text[start:end]).text in (c, "")
        for (start, end), c in zip(places, folded.text, strict=True)
    )


@given(st.text(max_size=300))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text).text).text == fold(text).text


def test_values_compare_by_letters_and_digits() -> None:
    assert bare("GB82 west-1234") == bare(wide("gb82WEST1234")) == "gb82west1234"
    assert digits("+44 (0)20-7183") == "440207183"


@pytest.mark.parametrize(
    "shown", ["1234567", "98765432", "11111", "4242424242", "789012", "abcdef"]
)
def test_runs_and_few_characters_look_made_up(shown: str) -> None:
    assert is_made_up(f"{shown}")


@pytest.mark.parametrize("drawn", ["4539148803436467", "12375", "1357924680", "x8Kd93jf"])
def test_other_characters_do_not(drawn: str) -> None:
    assert not is_made_up(drawn)


def test_few_random_numbers_look_made_up() -> None:
    rng = Random(3)
    looks = sum(is_made_up(draw(rng, "0123456789", 10)) for _ in range(20_000))
    assert 0 < looks < 20_000 / 200
