"""Every letter's script is the standard's own; what means nothing is damage, what is new is not."""

# ruff: noqa: RUF001 - look-alikes of other scripts are what is tested

from __future__ import annotations

import sys
import unicodedata
from collections import defaultdict

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from monitor.writing.scripts import CJK, is_damaged, script, scripts

LETTERS = "".join(
    chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code))[0] == "L"
)
# Scripts of the standard, by the names that we give them together.
CJK_SCRIPTS = ("Han", "Hiragana", "Katakana", "Bopomofo")


def of_standard(name: str) -> set[str]:
    return set(regex.findall(rf"\p{{Script={name}}}", LETTERS))


def test_two_letters_share_our_script_only_if_they_share_the_standards() -> None:
    """Signs of phonetics and mathematics may have none of ours; nothing is put together wrongly."""
    standard: dict[str, set[str]] = defaultdict(set)
    for letter in LETTERS:
        if ours := script(letter):
            standard[ours].add(letter)
    for ours, letters in standard.items():
        text = "".join(letters)
        first = regex.findall(r"\p{Script=Common}|\p{Script=Inherited}", text)
        if ours == CJK:
            rest = letters - set().union(*map(of_standard, CJK_SCRIPTS))
            assert rest <= set(first)
        else:
            assert len(first) <= 1, ours
            one = next(letter for letter in text if letter not in first)
            assert letters <= _same_script(one) | set(first), ours


def _same_script(letter: str) -> set[str]:
    for name in _scripts_of_standard():
        if regex.match(rf"\p{{Script={name}}}", letter):
            return of_standard(name)
    raise AssertionError(letter)


def _scripts_of_standard() -> list[str]:
    import regex._regex_core as core

    values = core.PROPERTIES["SCRIPT"][1]
    return [name for name in values if name not in ("COMMON", "INHERITED", "UNKNOWN")]


@pytest.mark.parametrize(
    ("letter", "name"),
    [
        *[("a", "LATIN"), ("é", "LATIN"), ("Ａ", "LATIN"), ("я", "CYRILLIC"), ("α", "GREEK")],
        *[("火", CJK), ("ひ", CJK), ("ｶ", CJK), ("ㄅ", CJK), ("기", "HANGUL"), ("ﾡ", "HANGUL")],
        *[
            ("ก", "THAI"),
            ("ट", "DEVANAGARI"),
            ("ᠮ", "MONGOLIAN"),
            ("𐌰", "GOTHIC"),
            ("𐎠", "OLD PERSIAN"),
        ],
        *[("ߊ", "NKO"), ("ᥐ", "TAI LE"), ("ᩒ", "TAI THAM"), ("ꀀ", "YI"), ("𒀀", "CUNEIFORM")],
        *[
            ("𗀀", "TANGUT"),
            ("ᐁ", "CANADIAN"),
            ("7", ""),
            ("𝐀", ""),
            ("ʰ", ""),
            ("µ", ""),
            ("!", ""),
        ],
    ],
)
def test_scripts_of_letters(letter: str, name: str) -> None:
    assert script(letter) == name


def test_letters_are_counted() -> None:
    assert scripts("Zug поезд 火车") == {"LATIN": 3, "CYRILLIC": 5, CJK: 2}


@pytest.mark.parametrize(
    "character",
    [
        *["\ufffd", "\ufffc", "\x00", "\x1b", "\x7f", "\x9b", "\ud800", "\udfff"],
        *["\ue000", "\U000f0000", "\ufdd0", "\uffff", "\U0001ffff", "\U000a1234", "\U000e1000"],
    ],
    ids=ascii,
)
def test_what_means_nothing_is_damaged(character: str) -> None:
    assert is_damaged(character)


@pytest.mark.parametrize(
    "character",
    [
        *[
            "a",
            "\t",
            "\n",
            "\r",
            "\x0c",
            "\x85",
            " ",
            "\u200b",
            "\u202e",
            "\ufeff",
            "é",
            "火",
            "🫨",
        ],
        # Given a meaning after Python 3.11's Unicode: a sign of money, an emoji, an ideograph.
        *["\u20c1", "\U0001fae9", "\U000323b0", "\U0001fa89", "\ua7dc"],
    ],
    ids=ascii,
)
def test_what_means_something_is_not(character: str) -> None:
    assert not is_damaged(character)


def test_what_newer_versions_assigned_for_living_use_is_not_damage() -> None:
    """Signs, emoji and letters for living languages stand close to what is known."""
    codes = [*range(0x2000, 0x2C00), *range(0xA700, 0xA800), *range(0x1F000, 0x1FB00)]
    codes += [*range(0x20000, 0x34000), *range(0x0370, 0x1000)]
    text = "".join(map(chr, codes))
    newer = [c for c in regex.findall(r"\P{Cn}", text) if unicodedata.category(c) == "Cn"]
    assert newer
    assert not [c for c in newer if is_damaged(c)]


@given(text=st.text(max_size=300))
def test_letters_are_never_more_than_there_are(text: str) -> None:
    assert scripts(text).total() <= sum(map(str.isalpha, text))
