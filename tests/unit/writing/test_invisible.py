"""Invisible characters: none between plain letters, all that scripts, emoji and directions need."""

# ruff: noqa: RUF001 - signs of other scripts are what is tested

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.writing.invisible import invisible

HIDDEN = "\u00ad\u200b\u200c\u200d\u200e\u202e\u2060\u2066\ufe00\ufe0f\ufeff\U000e0041\U000e0100"


@pytest.mark.parametrize("character", HIDDEN, ids=lambda each: f"U+{ord(each):04X}")
@pytest.mark.parametrize("word", ["capital", "капитал", "首都北京", "수도서울", "κεφάλαιο"])
def test_nothing_hides_between_plain_letters(character: str, word: str) -> None:
    if character in "\ufe00\ufe0f\U000e0100" and word == "首都北京":
        return  # a variant of an ideograph
    half = len(word) // 2
    assert invisible(word[:half] + character + word[half:]) == [(half, half + 1)]


@pytest.mark.parametrize(
    "text",
    [
        "می\u200cخواهم کتاب\u200cها را بخوانم",
        "क्\u200dष और श्री\u200cमान",
        "മലയാളം അവന്\u200d വന്നു",
        "ภาษา\u200bไทย\u200bง่าย",
        "ភាសា\u200bខ្មែរ",
        "The word \u200fשלום\u200e means peace",
        "He said \u2067مرحبا\u2069 to me",
        "family \U0001f468\u200d\U0001f469\u200d\U0001f467 here",
        "love \u2764\ufe0f\u200d\U0001f525 and 1\ufe0f\u20e3 or *\ufe0f\u20e3 too",
        "a doctor \U0001f469\U0001f3fd\u200d\u2695\ufe0f here",
        "Scotland \U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f wins",
        "info \u2139\ufe0f and \u2714\ufe0f and \u00a9\ufe0f and \u203c\ufe0f so",
        "葛\U000e0100城市 and 辻\ufe00さん",
        "f\u2061(x) = 2\u2062x",
        "ᠮᠣᠩᠭᠣᠯ\u180eᠠ ᠪᠢᠴᠢᠭ\u180b ᠤ",
        "\ufeffA mark of the byte order at the beginning.",
        "What keeps a connection comes last.\u200b\u200b\r\n",
        "no\u00a0break, thin\u202fspace, dash\u2011dash",
    ],
    ids=lambda text: ascii(text)[:24],
)
def test_what_a_script_an_emoji_or_a_direction_needs(text: str) -> None:
    assert invisible(text) == []


def test_what_was_there_before_is_known() -> None:
    assert invisible("a\u200bb", frozenset("x\u200b")) == []
    assert invisible("a\u200b\u200db", frozenset("x\u200b")) == [(1, 3)]


def test_a_message_hidden_behind_an_emoji_is_long() -> None:
    hidden = "".join(chr(0xE0100 + n) for n in range(20))
    assert invisible(f"so \U0001f642{hidden} it is") == [(4, 24)]


@given(st.text(alphabet="abc \n\u200b\u200d\ufe0f\u202eéü", max_size=60))
def test_each_run_between_latin_letters_is_found_once(text: str) -> None:
    hidden = set("\u200b\u200d\ufe0f\u202e")
    places = invisible(text)
    inside = [i for start, end in places for i in range(start, end)]
    shown = [i for i, c in enumerate(text) if c not in hidden and not c.isspace()]
    wanted = [i for i, c in enumerate(text) if c in hidden and shown and shown[0] < i < shown[-1]]
    ends = {i for i in wanted if text[i] == "\ufe0f" and text[i - 1] in "éü"}
    assert set(inside) <= set(wanted)
    assert set(wanted) - ends <= set(inside)


@given(st.text(max_size=200))
def test_any_text_has_its_places_within_it(text: str) -> None:
    for start, end in invisible(text):
        assert 0 < start < end < len(text)
