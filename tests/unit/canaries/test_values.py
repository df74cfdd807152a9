"""Planted values: nobody can own them, each of a kind is as likely as any other, and short."""

from __future__ import annotations

import re
from itertools import count
from math import log2
from random import Random

import phonenumbers
import pytest
from stdnum import iban, luhn
from stdnum.iso7064 import mod_97_10

from monitor.canaries import InstallationKey, MarkerRegistry, Minter
from monitor.canaries.evidence import LEAK_BITS, LEAST_ENTRIES, value_bits
from monitor.canaries.parts import PartsHasher
from monitor.canaries.proquint import CONSONANTS, VOWELS, chains
from monitor.canaries.values import (
    CLUSTERS,
    PART_DIGITS,
    SHAPES,
    Form,
    draw,
    has_iban_check,
    has_luhn,
    key_of,
    part_of,
)
from monitor.model import ValueKind
from tests.unit.canaries.test_scan import NOW, owner

KEY = InstallationKey(bytes(range(32)))
RNG = Random(5)
DRAWN = {kind: [draw(kind, RNG.getrandbits) for _ in range(2000)] for kind in ValueKind}
# Alone these prove a leak in a registry of a million entries, the others only add up.
PROVE = {ValueKind.EMAIL, ValueKind.CARD, ValueKind.ACCOUNT}


def digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def test_no_card_number_can_be_issued() -> None:
    for card in DRAWN[ValueKind.CARD]:
        assert re.fullmatch(r"0\d{3}( \d{4}){3}", card)
        assert not luhn.is_valid(digits(card))


def test_an_address_is_in_a_domain_that_is_reserved_for_examples() -> None:
    domains = {address.partition("@")[2] for address in DRAWN[ValueKind.EMAIL]}
    assert domains == {"example.com", "example.net", "example.org"}


def test_no_phone_number_can_be_dialled() -> None:
    spare = set(map(str, range(890, 900)))
    assert not spare & {str(code) for code in phonenumbers.COUNTRY_CODE_TO_REGION_CODE}
    for number in DRAWN[ValueKind.PHONE]:
        assert re.fullmatch(r"\+89\d \d{3} \d{3} \d{4}", number)
        with pytest.raises(phonenumbers.NumberParseException):
            phonenumbers.parse(number)


def test_no_account_number_is_an_iban() -> None:
    for account in DRAWN[ValueKind.ACCOUNT]:
        assert re.fullmatch(r"ZZ00( \d{4}){4}", account)
        assert not iban.is_valid(account, check_country=False)
        assert not mod_97_10.is_valid(f"{digits(account)[2:]}ZZ00")


def test_a_name_is_two_words_around_consonants_that_no_name_has() -> None:
    word = rf"[{CONSONANTS}][{VOWELS}](?:{'|'.join(CLUSTERS)})[{VOWELS}][{CONSONANTS}]"
    for name in DRAWN[ValueKind.NAME]:
        assert re.fullmatch(f"{word} {word}", name.lower())
        assert name == name.title()


def test_the_checks_agree_with_those_of_others() -> None:
    rng = Random(2)
    for _ in range(3000):
        number = f"{rng.randrange(10**16):016d}"
        assert has_luhn(number) == luhn.is_valid(number)
        account = f"{rng.randrange(100):02d}{number}"
        assert has_iban_check(account) == mod_97_10.is_valid(f"{account[2:]}ZZ{account[:2]}")


def test_no_value_is_taken_for_a_code() -> None:
    assert [text for texts in DRAWN.values() for text in texts if chains(text)] == []


def test_the_spaces_are_counted_rightly() -> None:
    words = 16 * 4 * len(CLUSTERS) * 4 * 16
    assert len(set(CLUSTERS)) == len(CLUSTERS) == 64
    assert SHAPES[ValueKind.NAME].space == words**2
    assert SHAPES[ValueKind.EMAIL].space == words**2 * 10_000 * 3
    # Of ten last digits nine are wrong, whatever stands before them.
    for head in range(0, 10**15, 10**12):
        assert sum(has_luhn(f"{head:015d}{last}") for last in range(10)) == 1
    assert SHAPES[ValueKind.CARD].space == 9 * 10**14
    # Of 97 accounts in a row exactly one checks.
    for start in (0, 10**15, 5 * 10**15 + 7):
        assert sum(has_iban_check(f"00{start + step:016d}") for step in range(97)) == 1
    assert 10**16 * 96 / 97 - 1 <= SHAPES[ValueKind.ACCOUNT].space <= 10**16 * 96 / 97


@pytest.mark.parametrize("kind", ValueKind)
def test_bits_are_never_more_than_the_space_holds(kind: ValueKind) -> None:
    shape = SHAPES[kind]
    assert log2(shape.space) - 0.01 <= shape.bits() <= log2(shape.space)
    for form in shape.forms()[1:]:
        unknown = PART_DIGITS - (len(shape.prefix) if form is Form.FIRST else 0)
        assert shape.bits(form) <= unknown * log2(10) < shape.bits()


@pytest.mark.parametrize("kind", ValueKind)
def test_which_kinds_prove_alone(kind: ValueKind) -> None:
    young = value_bits(SHAPES[kind].bits(), entries=1, places=4)
    assert (young >= LEAK_BITS) == (kind in PROVE)
    if kind in PROVE:
        assert SHAPES[kind].bits() >= 45
        assert value_bits(SHAPES[kind].bits(), entries=110_000, places=4) >= LEAK_BITS


@pytest.mark.parametrize("kind", [ValueKind.CARD, ValueKind.ACCOUNT])
def test_the_first_or_last_digits_never_prove_alone(kind: ValueKind) -> None:
    for form in (Form.FIRST, Form.LAST):
        bits = value_bits(SHAPES[kind].bits(form), entries=LEAST_ENTRIES, places=1, ends=2)
        assert 0 < bits < LEAK_BITS - 4


def test_every_number_of_a_space_is_drawn_from_bits_alone() -> None:
    """What no draw may give is drawn again, so the rest stays equally likely."""
    seen = []
    for start in range(1 << 4):
        bits = (number & 0xF for number in count(start))
        seen.append(draw(ValueKind.EMAIL, lambda k, bits=bits: next(bits) & ((1 << k) - 1)))
    assert len(set(seen)) == len(seen)


def test_values_are_short() -> None:
    longest = {kind: max(map(len, texts)) for kind, texts in DRAWN.items()}
    assert max(longest.values()) <= 29
    assert sum(longest.values()) <= 105


def test_a_value_is_known_by_the_same_key_however_it_is_written() -> None:
    assert key_of(ValueKind.CARD, "0481-5297-6630-2914") == "0481529766302914"
    assert key_of(ValueKind.ACCOUNT, "zz00 4821 9930 5716 2475") == "004821993057162475"
    assert key_of(ValueKind.PHONE, "+893 402 719 5526") == "8934027195526"
    assert key_of(ValueKind.NAME, " TAZGIM  Dovkul ") == "tazgim dovkul"
    assert part_of("0481529766302914", Form.FIRST) == "048152976630"
    assert part_of("0481529766302914", Form.LAST) == "529766302914"


def test_hashes_tell_kinds_forms_and_installations_apart() -> None:
    parts, others = PartsHasher(KEY), PartsHasher(InstallationKey(bytes(32)))
    same = "048152976630"
    hashes = {parts.of_value(kind, form, same) for kind in ValueKind for form in Form}
    assert len(hashes) == len(ValueKind) * len(Form)
    assert not hashes & {others.of_value(kind, form, same) for kind in ValueKind for form in Form}


def test_no_two_values_share_what_they_are_recognised_by() -> None:
    registry = MarkerRegistry(KEY)
    repeating = Random(3)
    state = repeating.getstate()
    minter = Minter(KEY, registry, random_bits=repeating.getrandbits)
    one = minter.mint(owner("tenant-a"), NOW, kind=ValueKind.CARD)
    repeating.setstate(state)
    two = minter.mint(owner("tenant-b"), NOW, kind=ValueKind.CARD)
    assert one.text != two.text
    assert (one.kind, two.kind) == ("card", "card")
    assert len(registry) == 2
