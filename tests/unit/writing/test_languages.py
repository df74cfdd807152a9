"""Languages are known by code and by name."""

# ruff: noqa: RUF001 - look-alikes of other scripts are what is tested

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lingua import Language

from monitor.writing.languages import CODES, SCRIPTS, named, named_in_english, same
from monitor.writing.scripts import script


def test_the_codes_are_those_that_lingua_knows() -> None:
    assert {each.iso_code_639_1.name.lower() for each in Language.all()} == CODES


def test_every_script_is_one() -> None:
    letters = {"LATIN": "a", "ARABIC": "ع", "CYRILLIC": "я", "BENGALI": "ক", "GREEK": "α"}
    letters |= {"GUJARATI": "ક", "HEBREW": "ש", "DEVANAGARI": "क", "ARMENIAN": "ա", "CJK": "中"}
    letters |= {"GEORGIAN": "ა", "HANGUL": "한", "GURMUKHI": "ਕ", "TAMIL": "க", "TELUGU": "క"}
    letters |= {"THAI": "ก"}
    assert set(SCRIPTS.values()) == set(letters)
    assert all(script(letter) == name for name, letter in letters.items())


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Translate this into French.", {"fr"}),
        ("请用日语和俄文回答", {"ja", "ru"}),
        ("What is the capital of Japan?", {"ja"}),
        ("Say it in Cantonese, then in Thai.", {"zh", "th"}),
        ("a polish remover for english-style doors", set()),
        ("the Frenchman and the Thais", set()),
        ("", set()),
    ],
)
def test_languages_are_named(text: str, codes: set[str]) -> None:
    assert named(text) == codes


def test_names_in_english_are_those_in_english_alone() -> None:
    assert named_in_english("法语 and Korean") == {"ko"}


def test_near_languages_are_taken_for_one() -> None:
    assert same("nn", "nb")
    assert same("sr", "hr")
    assert not same("de", "nl")


@given(st.text(max_size=200))
def test_any_text_may_name_a_language(text: str) -> None:
    assert named(text) <= CODES
