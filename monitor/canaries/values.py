"""Planted values: made-up personal data that nobody real can own, each drawn from a known space.

A donor's prompt holds a customer's record beside its codes, so that a leak of structured data is
evidence too. Nobody can own the values:

- *name*: two words around a pair of consonants that no name has (none of the pairs stands in so
  shaped a word in 300 MB of packaged text more than twice). Someone may still be called so; no name
  is proof alone.
- *e-mail address*: in ``example.com``, ``.net`` or ``.org``, which RFC 2606 section 3 reserves.
- *card number*: 16 digits whose check digit is wrong by ISO/IEC 7812-1 (Luhn), so that no issuer
  can have given it; they also begin with 0, the industry identifier of no bank or card scheme.
- *phone number*: country code 89x, which ITU-T E.164 lists as spare: it cannot be dialled.
- *account number*: written like an IBAN (ISO 13616) of the country ZZ, which ISO 3166-1 leaves to
  users, with the check digits 00, which MOD 97-10 never gives (02 to 98), and which do not check.

Every value of a kind is as likely as any other, so log2 of their number is what a whole match is
worth: the draw is a secret and uniform, whatever ordinary text looks like.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from math import floor, log2

from monitor.canaries.folding import fold
from monitor.canaries.proquint import CONSONANTS, VOWELS
from monitor.model import ValueKind

RandomBits = Callable[[int], int]

VALUE_KINDS = frozenset(kind.value for kind in ValueKind)
# A long number whose beginning or end was cut off is still recognised by this many digits.
PART_DIGITS = 12
# By the first consonant, all that may follow it.
_CLUSTERS_BY_FIRST = {
    "b": "fgkpvz",
    "d": "bfpz",
    "f": "bdgkmnpvz",
    "g": "jkptz",
    "h": "bgkpvz",
    "j": "bdfgkptz",
    "k": "bdfgpvz",
    "m": "fgz",
    "p": "bdfgvz",
    "s": "bf",
    "v": "bdfgkpz",
    "z": "k",
}
CLUSTERS = tuple(one + two for one, others in _CLUSTERS_BY_FIRST.items() for two in others)
DOMAINS = ("example.com", "example.net", "example.org")
_EMAIL_DIGITS = 4
_WORDS = (len(CONSONANTS) * len(VOWELS)) ** 2 * len(CLUSTERS)
_CARD, _PHONE, _ACCOUNT = "0", "89", "00"
_NO_COUNTRY = "ZZ"


class Form(IntEnum):
    """How much of a value was seen."""

    WHOLE = 0
    FIRST = 1
    LAST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What is known of all values of a kind. Those made of ``digits`` begin with ``prefix``.

    ``parts``: a beginning or an end of ``PART_DIGITS`` digits is recognised as well.
    """

    words: str
    space: int
    digits: int = 0
    prefix: str = ""
    parts: bool = False

    def bits(self, form: Form = Form.WHOLE) -> float:
        """Return what a match is worth before anything is paid, rounded down to 1/100 bit.

        Of a beginning only the digits behind the prefix count. Rounding covers that the rules
        which a whole number must break leave some of its parts likelier than others, by less than
        one in 10,000.
        """
        if form is Form.WHOLE:
            return _down(log2(self.space))
        unknown = self.digits - len(self.prefix)
        known = PART_DIGITS - (len(self.prefix) if form is Form.FIRST else 0)
        return _down(min(known, unknown) * log2(10))

    def forms(self) -> tuple[Form, ...]:
        """Return the ways a value of this kind is recognised."""
        return tuple(Form) if self.parts else (Form.WHOLE,)


def _down(bits: float) -> float:
    return floor(bits * 100) / 100


# Of 97 remainders an account number must not leave one; it is left by at most so many of 10^16.
_CHECKED_BY_CHANCE = -(-(10**16) // 97)
SHAPES: dict[ValueKind, Shape] = {
    ValueKind.NAME: Shape(words="name of two words", space=_WORDS**2),
    ValueKind.EMAIL: Shape(
        words="e-mail address", space=_WORDS**2 * 10**_EMAIL_DIGITS * len(DOMAINS)
    ),
    ValueKind.CARD: Shape(
        words="card number", space=9 * 10**14, digits=16, prefix=_CARD, parts=True
    ),
    ValueKind.PHONE: Shape(words="phone number", space=10**11, digits=13, prefix=_PHONE),
    ValueKind.ACCOUNT: Shape(
        words="account number",
        space=10**16 - _CHECKED_BY_CHANCE,
        digits=18,
        prefix=_ACCOUNT,
        parts=True,
    ),
}


def draw(kind: ValueKind, random_bits: RandomBits) -> str:
    """Return a value of this kind as it is written in a prompt, each as likely as any other."""
    match kind:
        case ValueKind.NAME:
            return f"{_word(random_bits).title()} {_word(random_bits).title()}"
        case ValueKind.EMAIL:
            words = f"{_word(random_bits)}.{_word(random_bits)}"
            number = _digits(_EMAIL_DIGITS, random_bits)
            return f"{words}{number}@{DOMAINS[_below(len(DOMAINS), random_bits)]}"
        case ValueKind.CARD:
            digits = _failing(kind, has_luhn, random_bits)
            return " ".join(digits[at : at + 4] for at in range(0, 16, 4))
        case ValueKind.PHONE:
            digits = _PHONE + _digits(11, random_bits)
            return f"+{digits[:3]} {digits[3:6]} {digits[6:9]} {digits[9:]}"
        case ValueKind.ACCOUNT:
            digits = _failing(kind, has_iban_check, random_bits)
            fours = (digits[at : at + 4] for at in range(2, 18, 4))
            return " ".join([_NO_COUNTRY + digits[:2], *fours])


def key_of(kind: ValueKind, text: str) -> str:
    """Return the part of a value by which it is recognised: lower case, or digits alone."""
    folded = fold(text).text
    if SHAPES[kind].digits:
        return "".join(character for character in folded if character.isdecimal())
    return " ".join(folded.split())


def part_of(key: str, form: Form) -> str:
    """Return the part of a key that a form of it shows."""
    match form:
        case Form.WHOLE:
            return key
        case Form.FIRST:
            return key[:PART_DIGITS]
        case Form.LAST:
            return key[-PART_DIGITS:]


def has_luhn(digits: str) -> bool:
    """True if the last digit is the check digit of ISO/IEC 7812-1 annex B."""
    doubled = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (doubled + sum(map(int, digits[-1::-2]))) % 10 == 0


def has_iban_check(digits: str) -> bool:
    """True if check digits and account of the country ZZ check by ISO 7064 MOD 97-10."""
    country = "".join(str(ord(letter) - ord("A") + 10) for letter in _NO_COUNTRY)
    return int(f"{digits[2:]}{country}{digits[:2]}") % 97 == 1


def _failing(kind: ValueKind, check: Callable[[str], bool], random_bits: RandomBits) -> str:
    """Return digits of a kind that do not pass a check."""
    shape = SHAPES[kind]
    while True:
        digits = shape.prefix + _digits(shape.digits - len(shape.prefix), random_bits)
        if not check(digits):
            return digits


def _word(random_bits: RandomBits) -> str:
    """Return a word of 18 bits: consonant, vowel, two consonants, vowel, consonant."""
    ends = [CONSONANTS[random_bits(4)] for _ in range(2)]
    vowels = [VOWELS[random_bits(2)] for _ in range(2)]
    return f"{ends[0]}{vowels[0]}{CLUSTERS[random_bits(6)]}{vowels[1]}{ends[1]}"


def _digits(count: int, random_bits: RandomBits) -> str:
    return f"{_below(10**count, random_bits):0{count}d}"


def _below(bound: int, random_bits: RandomBits) -> int:
    """Return a number below ``bound``, each as likely as any other."""
    while True:
        number = random_bits((bound - 1).bit_length())
        if number < bound:
            return number
