"""Planted values in answers: whose they are, however they are written; nothing where nothing is."""

from __future__ import annotations

import json
from datetime import timedelta
from random import Random
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.canaries import (
    LEAK_BITS,
    InstallationKey,
    MarkerRegistry,
    MatchKind,
    Minter,
    accumulate,
    scan_answer,
)
from monitor.canaries.candidates import MOST_PLACES, candidates
from monitor.canaries.evidence import PartialEvidence
from monitor.canaries.values import draw
from monitor.model import Marker, ValueKind
from tests.unit.canaries.test_scan import NOW, owner

KEY = InstallationKey(bytes(range(32)))
PROVE = (ValueKind.EMAIL, ValueKind.CARD, ValueKind.ACCOUNT)
NUMBERS = (ValueKind.CARD, ValueKind.PHONE, ValueKind.ACCOUNT)
# What people and models write between the digits of a number.
SEPARATORS = ("", " ", "-", "\u2011", "\u00a0", "\n", " - ", "\u200b", "**", ".", "\\n", "%20")


def planted(count: int, seed: int = 1) -> tuple[MarkerRegistry, dict[ValueKind, list[Marker]]]:
    registry = MarkerRegistry(KEY)
    minter = Minter(KEY, registry, random_bits=Random(seed).getrandbits)
    values = {
        kind: [
            minter.mint(owner(f"tenant-{i % 7}", i, f"trial-{i}"), NOW, kind=kind)
            for i in range(count)
        ]
        for kind in ValueKind
    }
    return registry, values


REGISTRY, VALUES = planted(200)
kinds = st.sampled_from(list(ValueKind))
places = st.integers(0, 199)


@given(kinds, places, st.sampled_from(["{}", "It is {}.", "账号是{}。", "<b>{}</b>", "({})"]))
def test_a_foreign_value_names_its_owner(kind: ValueKind, place: int, answer: str) -> None:
    value = VALUES[kind][place]
    text = answer.format(value.text)
    [match] = scan_answer(text, "Please say hello.", REGISTRY).matches
    assert (match.marker_id, match.owner, match.expired) == (value.id, value.owner, False)
    assert (match.net_bits >= LEAK_BITS) == (kind in PROVE)
    [(start, end)] = match.spans
    assert text[start:end] in value.text
    assert end - start >= len(value.text) - 2


@given(st.sampled_from(NUMBERS), places, st.sampled_from(SEPARATORS), st.booleans())
def test_a_number_is_read_through_whatever_stands_between_its_digits(
    kind: ValueKind, place: int, separator: str, wide: bool
) -> None:
    value = VALUES[kind][place]
    digits = value.text.replace("+", "")
    if wide:
        digits = digits.translate({ord("0") + digit: 0xFF10 + digit for digit in range(10)})
    text = separator.join(digits.split())
    [match] = scan_answer(f"number {text}", "hello", REGISTRY).matches
    assert match.owner == value.owner
    assert match.kind is MatchKind.VALUE


@pytest.mark.parametrize("kind", ValueKind)
def test_a_value_is_found_whatever_its_case_and_escapes(kind: ValueKind) -> None:
    value = VALUES[kind][3]
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in value.text)
    for text in (
        value.text.upper(),
        value.text.lower(),
        wide,
        value.text.replace(" ", "\n    "),
        json.dumps({"value": value.text}),
        json.dumps(json.dumps(wide)),
        quote(value.text),
        value.text.replace(".", r"\.").replace("@", r"\@"),
        "".join(f"&#{ord(character)};" for character in value.text),
        "\u200b".join(value.text),
        "\u00ad".join(value.text),
    ):
        found = scan_answer(text, "hello", REGISTRY).matches
        assert [match.owner for match in found] == [value.owner], ascii(text)


@given(kinds, places, st.text(max_size=40))
def test_what_the_request_holds_is_no_leak(kind: ValueKind, place: int, around: str) -> None:
    text = VALUES[kind][place].text
    answer = f"{around} {text} {text[:15]} {text[5:]}"
    for request in (f"The customer: {text}.", text.upper(), json.dumps(text)):
        assert scan_answer(answer, request, REGISTRY).matches == ()


def test_another_value_beside_the_own_one_is_foreign() -> None:
    own, other = VALUES[ValueKind.CARD][:2]
    matches = scan_answer(f"{own.text} or {other.text}", own.text, REGISTRY).matches
    assert [match.owner for match in matches] == [other.owner]


@pytest.mark.parametrize("kind", [ValueKind.CARD, ValueKind.ACCOUNT])
def test_twelve_digits_from_either_end_are_a_hint(kind: ValueKind) -> None:
    value = VALUES[kind][7]
    digits = "".join(filter(str.isdigit, value.text))
    for part, words in ((digits[:12], "first 12 of"), (digits[-13:], "last 12 of")):
        [match] = scan_answer(f"It is {part}", "hello", REGISTRY).matches
        assert (match.owner, match.kind) == (value.owner, MatchKind.VALUE_PART)
        assert 0 < match.net_bits < LEAK_BITS
        assert match.words.startswith(words)


@pytest.mark.parametrize("kind", NUMBERS)
def test_eleven_digits_or_the_last_four_are_nothing(kind: ValueKind) -> None:
    digits = "".join(filter(str.isdigit, VALUES[kind][7].text))
    for part in (digits[:11], digits[-11:], digits[-4:], f"**** **** **** {digits[-4:]}"):
        assert scan_answer(part, "hello", REGISTRY).matches == ()


def test_the_whole_of_a_value_counts_not_its_parts_as_well() -> None:
    value = VALUES[ValueKind.CARD][7]
    [match] = scan_answer(f"{value.text}, I mean {value.text[:14]}", "hello", REGISTRY).matches
    assert match.kind is MatchKind.VALUE


@pytest.mark.parametrize("kind", [ValueKind.NAME, ValueKind.EMAIL])
def test_half_a_name_or_address_is_nothing(kind: ValueKind) -> None:
    text = VALUES[kind][7].text
    one, two = text.replace(".", " ", 1).split(" ")[:2]
    for part in (one, two, f"{two} {one}", f"{one} and {two}"):
        assert scan_answer(part, "hello", REGISTRY).matches == ()


def test_a_hint_says_what_it_is_in_codes_and_numbers() -> None:
    words = {
        kind: scan_answer(VALUES[kind][0].text, "", REGISTRY).matches[0].words for kind in ValueKind
    }
    assert words == {
        "name": "name of two words (exact)",
        "email": "e-mail address (exact)",
        "card": "card number of 16 digits (exact)",
        "phone": "phone number of 13 digits (exact)",
        "account": "account number of 18 digits (exact)",
    }


def test_more_places_that_could_be_one_are_worth_less() -> None:
    value = VALUES[ValueKind.CARD][0]
    others = " | ".join(draw(ValueKind.CARD, Random(9).getrandbits) for _ in range(7))
    [alone] = scan_answer(value.text, "", REGISTRY).matches
    [among] = scan_answer(f"{value.text} | {others}", "", REGISTRY).matches
    assert among.net_bits <= alone.net_bits - 3


def test_an_expired_value_is_still_recognised_by_its_hashes() -> None:
    registry, values = planted(2)
    gone = registry.expire(NOW + timedelta(days=31))
    assert len(gone) == len(registry) == 10
    for kind, [value, _] in values.items():
        assert registry.entry(value.id).groups is None
        [match] = scan_answer(value.text, "hello", registry).matches
        assert match.expired
        assert (match.net_bits >= LEAK_BITS) == (kind in PROVE)


def test_two_weak_values_of_one_owner_prove_together_but_not_the_same_one_twice() -> None:
    name, phone = VALUES[ValueKind.NAME][4], VALUES[ValueKind.PHONE][4]
    assert name.owner == phone.owner
    matches = scan_answer(f"{name.text}: {phone.text}", "hello", REGISTRY).matches
    parts = [PartialEvidence(m.marker_id or "", m.places, m.net_bits) for m in matches]
    assert len(parts) == 2
    assert all(part.net_bits < LEAK_BITS for part in parts)
    assert accumulate(parts, 1) >= LEAK_BITS
    assert accumulate([parts[0], parts[0]], 1) < LEAK_BITS
    digits = "".join(filter(str.isdigit, VALUES[ValueKind.CARD][4].text))
    ends = scan_answer(f"{digits[:12]} or {digits[-12:]}", "hello", REGISTRY).matches
    assert len(ends) == 1


@pytest.mark.parametrize("text", ["", "joe@example.com", "4111 1111 1111 1111"])
def test_what_nobody_planted_is_nothing(text: str) -> None:
    assert scan_answer(text, "hello", REGISTRY).matches == ()


@pytest.mark.parametrize("kind", ValueKind)
def test_an_installation_that_planted_nothing_finds_nothing(kind: ValueKind) -> None:
    assert scan_answer(VALUES[kind][0].text, "hello", MarkerRegistry(KEY)).matches == ()


@given(st.text(max_size=300))
def test_ordinary_text_matches_nothing_and_never_crashes(text: str) -> None:
    assert scan_answer(text, "", REGISTRY).matches == ()


HOSTILE = {
    "zeros": "0" * 200_000,
    "phone prefixes": "89 " * 70_000,
    "digits in lines": "1\n" * 100_000,
    "words of names": "tazgim." * 30_000,
    "names": "tazgim " * 30_000,
    "beginnings of addresses": "tazgim.dovkul4821@" * 11_000,
    "escapes": "\\u0030" * 33_000,
    "backslashes": "\\" * 200_000,
    "digits of another plane": "\U0001d7d8" * 100_000,
    "brackets": "((((((0" * 28_000,
    "domains": "example" * 28_000,
    "surrogates": "\ud800" * 100_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_searched_in_bounds(name: str) -> None:
    text = HOSTILE[name]
    assert sum(1 for _ in candidates(text)) <= 7 * MOST_PLACES
    assert scan_answer(text, text[:1000], REGISTRY).matches == ()
