"""What an answer begins with, by text alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.prompts.first_token import MAX_CHARACTERS, first_token


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("", ""),
        (" \n\t", ""),
        ("Hello there", "Hello"),
        ("hello there", "hello"),
        ("42nd street", "42"),
        ("1,234", "1"),
        ("**Bold**", "*"),
        ("Don't", "Don"),
        ("你好", "你"),
        ("สวัสดี", "ส"),
        ("नमस्ते दुनिया", "नमस्ते"),
        ("e\u0301clair", "\xe9clair"),
        ("\ud800x", "x"),
        ("\U0001f600 hi", "\U0001f600"),
    ],
)
def test_what_an_answer_begins_with(text: str, begins: str) -> None:
    assert first_token(text) == begins


@pytest.mark.parametrize("lead", [" ", "\n\n", "\u200b", "\ufeff ", "\t"])
def test_a_leading_space_is_a_change_of_format_not_of_model(lead: str) -> None:
    assert first_token(f"{lead}Sure, I can") == "Sure"


def test_full_width_is_folded() -> None:
    assert first_token("\uff28\uff49!") == "Hi"


def test_megabytes_are_cut_not_read() -> None:
    assert first_token("a" * 5_000_000) == "a" * MAX_CHARACTERS
    assert first_token("\u0301" * 5_000_000) == "\u0301"


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_any_text_has_a_short_first_token_that_is_its_own(text: str) -> None:
    token = first_token(text)
    assert len(token) <= MAX_CHARACTERS
    assert token == token.strip()
    assert first_token(token) == token
