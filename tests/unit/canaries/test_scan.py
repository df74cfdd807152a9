"""Matching: own, near-own, foreign, partial, unknown; and nothing where nothing is."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.canaries import (
    LEAK_BITS,
    Echo,
    InstallationKey,
    MarkerRegistry,
    MatchKind,
    Minter,
    echo,
    net_bits,
    scan_answer,
)
from monitor.canaries.evidence import near_strings
from monitor.canaries.proquint import CONSONANTS, VOWELS, chains, dictionary_words, encode
from monitor.model import Marker, Owner

NOW = datetime(2026, 11, 2, tzinfo=UTC)
KEY = InstallationKey(bytes(range(32)))


def owner(tenant: str, exchange: int = 0, trial: str = "trial-1") -> Owner:
    return Owner(
        target="glm",
        tenant=tenant,
        isolation=tenant,
        trial=trial,
        exchange=exchange,
        epoch="2026-11-02",
        stratum_key="tenant/short",
    )


def minted(count: int, seed: int = 1) -> tuple[MarkerRegistry, list[Marker]]:
    registry = MarkerRegistry(KEY)
    minter = Minter(KEY, registry, random_bits=Random(seed).getrandbits)
    markers = [minter.mint(owner(f"tenant-{i % 7}", i, f"trial-{i}"), NOW) for i in range(count)]
    return registry, markers


REGISTRY, MARKERS = minted(500)
SEPARATORS = ["-", " ", "\n", "\u200b", "\u2011", "--", "** **", "", "\\n", " - "]
# As URLs, JSON in JSON, Markdown and HTML write a hyphen.
ESCAPED = ["%2D", "%E2%80%91", "\\\\u2011", "\\-", "&#45;", "&#x2011;"]


@given(st.integers(0, 0xFFFF))
def test_a_group_has_five_letters_of_its_alphabet(value: int) -> None:
    letters = encode(value)
    assert [c in CONSONANTS for c in letters] == [True, False, True, False, True]
    assert letters[1] in VOWELS
    assert letters[3] in VOWELS


def test_encode_is_one_to_one() -> None:
    assert len({encode(value) for value in range(1 << 16)}) == 1 << 16


def test_minted_markers_keep_the_promises_of_the_minter() -> None:
    pairs: set[tuple[str, str]] = set()
    for marker in MARKERS:
        groups = marker.text.split("-")
        assert not dictionary_words().intersection(groups)
        assert REGISTRY.has_valid_tag(tuple(groups))
        for pair in pairwise(groups):
            assert pair not in pairs
            pairs.add(pair)


@given(
    st.integers(0, len(MARKERS) - 1),
    st.lists(st.sampled_from(SEPARATORS), min_size=3, max_size=3),
    st.sampled_from([str.lower, str.upper, str.title]),
    st.sampled_from(["", "The code is ", "参考编号是", '{"code": "', "é "]),
)
def test_a_foreign_marker_is_proven_however_it_is_written(index, separators, case, before) -> None:
    marker = MARKERS[index]
    a, b, c, d = marker.text.split("-")
    written = case(f"{a}{separators[0]}{b}{separators[1]}{c}{separators[2]}{d}")
    scan = scan_answer(f"{before}{written}.", "Please say hello.", REGISTRY)
    assert scan.matches[0].marker_id == marker.id
    assert scan.matches[0].owner == marker.owner
    assert scan.matches[0].net_bits >= LEAK_BITS


@pytest.mark.parametrize("hyphen", ESCAPED)
def test_a_marker_is_read_through_escapes(hyphen: str) -> None:
    marker = MARKERS[3]
    written = marker.text.replace("-", hyphen)
    for text in (written, written.upper()):
        [match] = scan_answer(f"It is {text}!", "Please say hello.", REGISTRY).matches
        assert (match.marker_id, match.kind) == (marker.id, MatchKind.NEIGHBOURS)
        assert echo(text, marker.text) is Echo.OWN
        assert match.places == (0, 1, 2, 3)
        assert (match.spans[0][0], match.spans[-1][1]) == (6, 6 + len(text))


def test_a_marker_is_read_where_each_letter_is_escaped() -> None:
    marker = MARKERS[3]
    for text in (
        "".join(f"&#{ord(letter)};" for letter in marker.text),
        "".join(f"%{ord(letter):02x}" for letter in marker.text),
        "".join(f"\\u{ord(letter):04x}" for letter in marker.text),
    ):
        [match] = scan_answer(text, "Please say hello.", REGISTRY).matches
        assert (match.marker_id, match.places) == (marker.id, (0, 1, 2, 3))


@given(st.integers(0, len(MARKERS) - 1), st.text(max_size=40), st.text(max_size=40))
def test_a_marker_that_the_request_contains_is_never_foreign(index, before, after) -> None:
    marker = MARKERS[index]
    request = f"The reference code of this ticket is {marker.text}."
    scan = scan_answer(f"{before} {marker.text} {after}", request, REGISTRY)
    assert all(match.marker_id != marker.id for match in scan.matches)


@given(st.text(max_size=300))
def test_ordinary_text_matches_nothing_and_never_crashes(text: str) -> None:
    assert not [m for m in scan_answer(text, "", REGISTRY).matches if m.net_bits >= LEAK_BITS]


def substitute(text: str, places: list[int], rng: Random) -> str:
    letters = list(text)
    for place in places:
        alphabet = CONSONANTS if letters[place] in CONSONANTS else VOWELS
        letters[place] = rng.choice([c for c in alphabet if c != letters[place]])
    return "".join(letters)


@given(st.integers(0, len(MARKERS) - 1), st.integers(1, 2), st.randoms(use_true_random=False))
def test_copy_errors_of_the_own_marker_are_near_own_not_foreign(index, edits, rng) -> None:
    text = MARKERS[index].text
    places = rng.sample([i for i, c in enumerate(text) if c != "-"], edits)
    answer = substitute(text, places, rng)
    scan = scan_answer(answer, f"code {text}", REGISTRY)
    if dictionary_words().intersection(answer.split("-")):
        return
    assert echo(answer, text) is Echo.NEAR_OWN
    assert scan.matches == ()
    assert len(scan.near_own) == 4


@given(st.integers(0, len(MARKERS) - 1), st.integers(1, 2), st.randoms(use_true_random=False))
def test_a_foreign_marker_with_copy_errors_still_names_its_owner(index, edits, rng) -> None:
    marker = MARKERS[index]
    places = rng.sample([i for i, c in enumerate(marker.text) if c != "-"], edits)
    answer = substitute(marker.text, places, rng)
    if dictionary_words().intersection(answer.split("-")):
        return
    scan = scan_answer(answer, "hello", REGISTRY)
    assert scan.matches[0].marker_id == marker.id


def test_three_adjacent_groups_suffice_up_to_thirteen_groups_at_ten_thousand_markers() -> None:
    assert net_bits(MatchKind.NEIGHBOURS, 3, markers=10_000, groups=13) >= LEAK_BITS
    assert net_bits(MatchKind.NEIGHBOURS, 3, markers=10_000, groups=14) < LEAK_BITS
    assert net_bits(MatchKind.NEIGHBOURS, 4, markers=10_000, groups=10_000) >= LEAK_BITS


def test_two_groups_are_a_hint_not_a_proof() -> None:
    a, b, _, _ = MARKERS[7].text.split("-")
    match = scan_answer(f"the code {a}-{b} again", "hello", REGISTRY).matches[0]
    assert match.owner == MARKERS[7].owner
    assert 0 < match.net_bits < LEAK_BITS


def test_one_group_among_many_markers_is_worth_nothing() -> None:
    registry, markers = minted(20_000, seed=3)
    assert scan_answer(markers[5].text.split("-")[2], "hello", registry).matches == ()


def test_parts_scattered_over_the_answer_add_up_for_one_owner() -> None:
    a, _, c, d = MARKERS[9].text.split("-")
    scan = scan_answer(f"first {a}, then some words, {c} and at the end {d}", "x", REGISTRY)
    assert scan.matches[0].kind is MatchKind.SCATTERED
    assert len(scan.matches[0].places) == 3


def test_a_marker_of_ours_that_the_registry_does_not_know_is_only_a_hint() -> None:
    other, markers = minted(1, seed=99)
    scan = scan_answer(markers[0].text, "hello", REGISTRY)
    assert len(other) == 1
    assert scan.matches[0].kind is MatchKind.UNREGISTERED
    assert scan.matches[0].owner is None
    assert scan.matches[0].net_bits < LEAK_BITS


def test_an_expired_marker_is_still_recognised_by_its_hashes() -> None:
    registry, markers = minted(3)
    gone = registry.expire(NOW + timedelta(days=31))
    assert len(gone) == 3
    assert all(registry.entry(m.id).groups is None for m in markers)
    match = scan_answer(markers[1].text, "hello", registry).matches[0]
    assert match.expired
    assert match.net_bits >= LEAK_BITS


def test_words_of_the_language_are_no_groups() -> None:
    assert chains("A human robot has a limit, a total and a final habit.") == []


@pytest.mark.parametrize("edits", [0, 1, 2])
def test_the_ball_of_near_strings_is_counted_exactly(edits: int) -> None:
    sizes = [15] * 12 + [3] * 8
    expected = 1
    if edits >= 1:
        expected += sum(sizes)
    if edits >= 2:
        expected += sum(sizes[i] * sizes[j] for i in range(20) for j in range(i))
    assert near_strings(edits) == expected


def test_unsaved_markers_are_handed_over_once() -> None:
    registry, markers = minted(4)
    assert list(registry.take_unsaved()) == markers
    assert registry.take_unsaved() == ()


def test_the_key_is_never_shown() -> None:
    assert "01" not in repr(KEY)
    assert repr(replace(MARKERS[0])) != ""
