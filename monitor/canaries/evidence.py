"""How much a match in an answer is worth, in bits.

Net evidence = matched bits - log2(entries searched x alignments x places in the answer), so
2^-net bounds the chance that an answer unrelated to the registry matches by accident (union
bound over every entry, every alignment and every place). A match is proven from ``LEAK_BITS``.

*Entries* are all that the registry holds, markers and planted values, expired ones included;
*places* are the groups of an answer that have a marker's shape, or what has the shape of a planted
value's kind. An entry can be matched in its own shape only, and each pays for all entries: with
M markers and V values a wrong match of a whole value or of neighbouring groups takes
(M + V) x 2^-30 / (M + V) = 2^-30 together, not each.

The stated bound of 10^-9 false LEAKs an answer is 2^-30 (9.3e-10) for these plain shapes, plus at
most 2^-37 for each of the four rarer ones, which pay ``RARE_SHAPE_BITS`` each: groups with gaps,
near matches, scattered groups, and parts added up. A group is drawn of the 65,198 that are no
dictionary word, so it takes 16 bits less 0.0075: four of them are hit 2.1 % more often than 2^-64
says. 1.021 x (2^-30 + 4 x 2^-37) = 9.8e-10 < 10^-9. A part of a value (its first or last digits)
never reaches proof alone: it has less than 40 bits and pays 13 for entries and one for two ends.

Codes that can only be read in another way (``monitor.canaries.readings``: letters set apart, lines
joined, backwards, decoded) are searched for in one more text each, in all shapes but parts added
up, and pay ``DISGUISE_BITS`` for it: four readings take at most 1.021 x 4 x (2^-38 + 3 x 2^-45),
and all together is 9.96e-10. Below proof such a code is nothing, so that hints and parts stay what
they are. Planted values have too few bits to be proven so, and are not looked for.

Parts added up make a false LEAK of an answer only if one of them stands in it and the others in
any of the A answers searched. A pair with a planted value in it does so with a chance of at most
2A x 2^-sum / E, E the entries paid for; the sum pays log2 A and seven bits, which leaves 2 / E of
2^-37 for each of the at most 150 such pairs of one owner, and less for more parts, as no answer is
searched without a marker of its own (A <= E). Values pay for ``LEAST_ENTRIES`` at least, so that
all this stays below 2^-37 in a young registry too.

Below proof a match is a *hint*, which people are asked about, from ``HINT_BITS``. Nothing above
depends on 30: from h bits on, plain shapes make a false hint of at most 2^-h of all answers, a code
that nobody registered of as many again (a tag of 16 bits in g places), and each rarer shape of
2^-(h + 7). All together are to be at most ``FALSE_HINT_RATE``, whatever the answers are made of, in
a young registry and in an old one; h is the least whole number that keeps this. What is worth less
is no evidence of anything: remembered, because parts add up, and nothing else. One group alone so
never is a hint (it has 7 bits less log2 of markers and groups); two neighbours are among up to
40,000 entries in an answer of four groups, three among 10^9.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, comb, log2

from monitor.canaries.proquint import GROUP_BITS, GROUPS_PER_MARKER

LEAK_BITS = 30.0
RARE_SHAPE_BITS = 7.0
DISGUISE_BITS = 8.0
# False hints an answer, at most: the choice that HINT_BITS follows from.
FALSE_HINT_RATE = 3e-4
# Shapes that pay nothing for being rare: what is registered, and codes that nobody registered.
_PLAIN_SHAPES = 2
_RARE_SHAPES = 4
HINT_BITS = float(
    ceil(log2((_PLAIN_SHAPES + _RARE_SHAPES * 2**-RARE_SHAPE_BITS) / FALSE_HINT_RATE))
)
TAG_BITS = 16.0
MAX_SUBSTITUTIONS = 2
LEAST_ENTRIES = 10_000
_CONSONANT_PLACES, _VOWEL_PLACES = 12, 8
_OTHER_CONSONANTS, _OTHER_VOWELS = 15, 3


class MatchKind(StrEnum):
    """The shape of a match."""

    NEIGHBOURS = "neighbours"
    GAPPED = "gapped"
    NEAR = "near"
    SCATTERED = "scattered"
    UNREGISTERED = "unregistered"
    VALUE = "value"
    VALUE_PART = "value part"


def near_strings(substitutions: int) -> int:
    """Count the markers within so many shape-preserving substitutions of one marker (0..2).

    Raises ``ValueError`` beyond ``MAX_SUBSTITUTIONS``.
    """
    one = _CONSONANT_PLACES * _OTHER_CONSONANTS + _VOWEL_PLACES * _OTHER_VOWELS
    two = (
        comb(_CONSONANT_PLACES, 2) * _OTHER_CONSONANTS**2
        + comb(_VOWEL_PLACES, 2) * _OTHER_VOWELS**2
        + _CONSONANT_PLACES * _OTHER_CONSONANTS * _VOWEL_PLACES * _OTHER_VOWELS
    )
    sizes = (1, 1 + one, 1 + one + two)
    if not 0 <= substitutions <= MAX_SUBSTITUTIONS:
        msg = f"at most {MAX_SUBSTITUTIONS} substitutions are near, not {substitutions}"
        raise ValueError(msg)
    return sizes[substitutions]


def net_bits(
    kind: MatchKind, parts: int, *, markers: int, groups: int, substitutions: int = 0
) -> float:
    """Return the net evidence of ``parts`` matched groups of one marker.

    ``markers`` counts every entry searched, expired ones included; ``groups`` the
    proquint-shaped groups of the answer. Negative means: expected by chance.
    Raises ``ValueError`` for a planted value, which has bits of its own (``value_bits``).
    """
    searched = log2(max(markers, 1)) + log2(max(groups, 1))
    matched = float(GROUP_BITS * parts)
    match kind:
        case MatchKind.NEIGHBOURS:
            return matched - searched - log2(GROUPS_PER_MARKER + 1 - parts)
        case MatchKind.GAPPED:
            return matched - searched - log2(comb(GROUPS_PER_MARKER, parts)) - RARE_SHAPE_BITS
        case MatchKind.NEAR:
            whole = float(GROUP_BITS * GROUPS_PER_MARKER)
            return whole - searched - log2(near_strings(substitutions)) - RARE_SHAPE_BITS
        case MatchKind.SCATTERED:
            places = parts * log2(max(groups, 1)) + log2(comb(GROUPS_PER_MARKER, parts))
            return matched - log2(max(markers, 1)) - places - RARE_SHAPE_BITS
        case MatchKind.UNREGISTERED:
            return TAG_BITS - log2(max(groups, 1))
        case MatchKind.VALUE | MatchKind.VALUE_PART:
            msg = f"a planted value has no groups to weigh ({kind.value})"
            raise ValueError(msg)


def value_bits(matched: float, *, entries: int, places: int, ends: int = 1) -> float:
    """Return the net evidence of a planted value of which ``matched`` bits came back.

    ``entries`` counts all that the registry holds; ``places`` what has the value's shape in the
    answer; ``ends`` is 2 for a part that may be either end of a value.
    """
    return matched - log2(max(entries, LEAST_ENTRIES)) - log2(max(places, 1)) - log2(ends)


@dataclass(frozen=True, slots=True)
class PartialEvidence:
    """Evidence below proof: which places of which marker matched, and what that is worth."""

    marker_id: str
    places: tuple[int, ...]
    net_bits: float


def accumulate(parts: Iterable[PartialEvidence], answers_searched: int) -> float:
    """Return the evidence that parts in several answers add up to, for one owner.

    A place of a marker counts once: a model that repeats the same wrong letters in every answer
    gives no new evidence. The sum pays for having searched many answers, and for being a rarer
    shape.
    """
    counted: dict[str, set[int]] = {}
    bits = 0.0
    for part in sorted(parts, key=lambda part: -part.net_bits):
        places = counted.setdefault(part.marker_id, set())
        if places.isdisjoint(part.places):
            places.update(part.places)
            bits += part.net_bits
    return bits - log2(max(answers_searched, 1)) - RARE_SHAPE_BITS if bits else 0.0
