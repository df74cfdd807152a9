"""Folding: what is read, and where each character of it stands in the original."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.canaries.folding import fold


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Tazgim", "tazgim"),
        ("\uff10\uff14\uff18\uff11", "0481"),
        ("٣٤", "34"),
        ("04\u200b81", "0481"),
        ('a\\u0040b\\nc\\/d\\"e', 'a@b\nc/d"e'),
        ("a%40b", "a@b"),
        (r"a\.b\_1\@c \\. \(1\)", "a.b_1@c . (1)"),
        ("a&#64;b&#x2E;c &#9999999; &#x;", "a@b.c \ufffd &#x;"),
        ("ﬁ", "fi"),
        ("\ud800\\ud800", "\ud800\ud800"),
        ("100 % \\x", "100 % \\x"),
        ("", ""),
    ],
)
def test_what_is_read(text: str, read: str) -> None:
    assert fold(text).text == read


def test_a_place_covers_a_whole_escape() -> None:
    text = "mail: a\\u0040b, ﬁn"
    folded = fold(text)
    start = folded.text.index("a@b")
    assert text[slice(*folded.span(start, start + 3))] == "a\\u0040b"
    start = folded.text.index("fi")
    assert text[slice(*folded.span(start, start + 2))] == "ﬁ"


@given(st.text(max_size=200))
def test_every_character_has_a_place_and_places_never_go_back(text: str) -> None:
    folded = fold(text)
    places = [folded.span(at, at + 1) for at in range(len(folded.text))]
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert places == sorted(places)
