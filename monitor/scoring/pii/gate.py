"""The cheap gate: where in a text anything strong could stand, found with linear patterns only.

Ordinary answers have no such place and never reach Presidio; of the others it sees only what
stands around these places. Each pattern is a necessary part of the values it stands for, so the
gate lets through whatever would be found without it (a property test holds it to that).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from monitor.scoring.pii.folding import PIECE_MARK
from monitor.scoring.pii.found import FRACTION_OR_DATE, WORDS_AFTER, WORDS_BEFORE, Found
from monitor.scoring.pii.languages import Language
from monitor.scoring.pii.secrets import (
    ASSIGNMENT,
    ASSIGNMENT_WORDS,
    JWT,
    PRIVATE_KEY,
    VENDORS,
)
from monitor.scoring.pii.vouching import SSN_WORDS

# Of one kind, in one text: a hostile text holds more, an answer does not.
MOST_PLACES = 300
# Of all kinds: one second of Presidio for the worst text.
MOST_CHARACTERS = 40_000
# An address has at most 64 characters before the @, and a domain at most 255 (RFC 5321).
_MAILBOX, _DOMAIN = 64, 255
_AROUND_NUMBER = 48
# The shortest number that counts without a word and without a separator (CH_AHV; cards have more).
_STANDS_ALONE = 13
# A value may begin a few characters before its digits.
_SLACK = 4

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Sign:
    """One sign of a value: a pattern, and how far the value may reach ``before`` and ``after`` it.

    Every match holds one of the ``needles``, which ``lower`` case does not hide: none of them, no
    search. A match must also be ``worth`` a look where that is said.
    """

    pattern: re.Pattern[str]
    needles: tuple[str, ...]
    before: int = 0
    after: int = 0
    lower: bool = False
    worth: Callable[[Found], bool] | None = None


_DIGITS = tuple("0123456789")
# Seven digits with little between them, no part of a word or of a hash.
_NUMBER = re.compile(r"(?<![A-Za-z0-9_]{2})\d(?:[ .()/+-]{0,3}\d){6,}+(?![A-Za-z_]{3})")
_SIGNS: tuple[_Sign, ...] = (
    _Sign(re.compile(r"[\w!#$%&'*+/=?^`{|}~.-]@\w[\w-]{0,62}\.\w"), ("@",), _MAILBOX, _DOMAIN),
    _Sign(
        re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2}"),
        _DIGITS,
        after=_AROUND_NUMBER,
    ),
    _Sign(re.compile(r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d"), (".",), 4, _AROUND_NUMBER),
    _Sign(re.compile(r"[23][0-9A-Fa-f]{3}:[0-9A-Fa-f:]{2}"), (":",), 4, _AROUND_NUMBER),
    _Sign(re.compile(ASSIGNMENT), ASSIGNMENT_WORDS, lower=True),
    _Sign(re.compile(JWT), ("eyJ",)),
    _Sign(re.compile(PRIVATE_KEY), ("-----BEGIN ",)),
    *(_Sign(re.compile(pattern), (prefix,)) for prefix, pattern in VENDORS),
)


class Gate:
    """Finds the places of a folded text that are worth a look, for some languages."""

    def __init__(self, languages: Sequence[Language]) -> None:
        shapes = [i.shape for each in languages for i in each.ids if i.lettered]
        own = [_Sign(re.compile(shape), _DIGITS) for shape in shapes]
        words = [SSN_WORDS, *(each.telephone for each in languages)]
        words += [i.words for each in languages for i in each.ids]
        self._words = re.compile("|".join(words))
        number = _Sign(
            _NUMBER, _DIGITS, _AROUND_NUMBER, _AROUND_NUMBER, worth=self._is_worth_a_look
        )
        self._signs = (*_SIGNS, number, *own)

    def pieces(self, text: str) -> tuple[Span, ...]:
        """Return the half-open places to look at, apart from each other, in order.

        The first ``MOST_PLACES`` of each sign, and ``MOST_CHARACTERS`` in all.
        """
        pieces, left = [], MOST_CHARACTERS
        for start, end in merged(self._places(text), len(text)):
            pieces.append((start, min(end, start + left)))
            left -= end - start
            if left <= 0:
                break
        return tuple(pieces)

    def _places(self, text: str) -> Iterator[Span]:
        for sign in _signs_in(self._signs, text):
            for match in islice(sign.pattern.finditer(text), MOST_PLACES):
                found = Found("", text, match.start(), match.end())
                if sign.worth is None or sign.worth(found):
                    yield (
                        match.start() - sign.before - WORDS_BEFORE,
                        match.end() + sign.after + WORDS_AFTER,
                    )

    def _is_worth_a_look(self, found: Found) -> bool:
        """Say whether digits can be a value: no fraction or date, bare and short beside a word."""
        value = found.value
        if FRACTION_OR_DATE.fullmatch(value):
            return False
        bare = len(value) < _STANDS_ALONE and value.isdecimal() and found.before(1) != "+"
        return not bare or found.beside(self._words, slack=_SLACK)


def _signs_in(signs: Iterable[_Sign], text: str) -> Iterator[_Sign]:
    lower = text.lower()
    for sign in signs:
        searched = lower if sign.lower else text
        if any(needle in searched for needle in sign.needles):
            yield sign


def merged(places: Iterable[Span], length: int) -> tuple[Span, ...]:
    """Return the places cut to the text, those that touch as one."""
    joined: list[Span] = []
    for start, end in sorted((max(0, start), min(length, end)) for start, end in places):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return tuple(joined)


@dataclass(frozen=True, slots=True)
class Pieces:
    """Pieces of a text put behind each other, so that they are looked at in one go."""

    text: str
    starts: tuple[int, ...]
    origins: tuple[int, ...]

    def origin(self, start: int, end: int) -> Span:
        """Return where a half-open place of the pieces stands in the whole text."""
        number = sum(begin <= start for begin in self.starts) - 1
        shift = self.origins[number] - self.starts[number]
        return start + shift, end + shift


def cut(text: str, places: Sequence[Span]) -> Pieces:
    """Return the pieces of a text at these places, a mark between them."""
    between = f"\n{PIECE_MARK}\n"
    starts, at = [], 0
    for start, end in places:
        starts.append(at)
        at += end - start + len(between)
    joined = between.join(text[start:end] for start, end in places)
    return Pieces(joined, tuple(starts), tuple(start for start, _ in places))
