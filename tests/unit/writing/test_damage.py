"""Damage is found where it is; typography of languages is none."""

# ruff: noqa: RUF001 - look-alikes of other scripts are what is tested

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.writing.damage import damaged

NOTHING: frozenset[str] = frozenset()


@pytest.mark.parametrize(
    "text",
    [
        "It’s “right” — really…",
        "café déjà vu",
        "Grüße aus Köln",
        "привет мир",
        "你好，世界",
        "🙂👍",
    ],
)
def test_utf8_read_byte_by_byte_is_found(text: str) -> None:
    wrong = "".join(
        bytes([byte]).decode("cp1252", errors="ignore") or chr(byte) for byte in text.encode()
    )
    assert damaged(wrong, NOTHING)
    assert not damaged(text, NOTHING)


@pytest.mark.parametrize(
    "text",
    [
        "Il a dit : « C’est l’été\u00a0», puis « voilà\u00a0» et « blessé…\u00a0»",
        "»SÅ« og »CAFÉ«, 5 Å², 3 µm, 20 °C, ½ Ø, 10 × Ñ",
        "Tiếng Việt có nhiều dấu: Ễ ữ ậ",
        "ﷺ שָׁלוֹם عَرَبِيّ ཨོཾ་མ ကြောင်",
        "𝐀𝛼 ∑ √2 ≤ π — naïve coöperation, Ångström, piñata",
        "👨‍👩‍👧‍👦 🏴\U000e0067\U000e0062\U000e007f 👍🏽",
    ],
)
def test_typography_is_no_damage(text: str) -> None:
    assert not damaged(text, NOTHING)


def test_stacked_marks_are_one_place_a_letter() -> None:
    assert damaged("H" + "\u0300\u0310\u0320\u0330\u0340" + "e" + "\u0301" * 2, NOTHING) == [(1, 6)]


def test_each_damaged_character_is_a_place() -> None:
    assert damaged("ab\ufffd\ufffdc\ue001", NOTHING) == [(2, 3), (3, 4), (5, 6)]


@given(st.text(max_size=300))
def test_what_was_known_is_never_damage(text: str) -> None:
    assert damaged(text, frozenset(text)) == []


@given(st.text(max_size=300))
def test_places_are_within(text: str) -> None:
    assert all(0 <= start < end <= len(text) for start, end in damaged(text, NOTHING))
