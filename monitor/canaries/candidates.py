"""What in a text has the shape of a planted value: found by one pass, whatever the registry holds.

A number is read through what people and models put into it (spaces, hyphens, line breaks), so any
stretch of digits of the right length and beginning counts, wherever it starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from monitor.canaries.folding import Folded, fold
from monitor.canaries.proquint import CONSONANTS, MAX_SEPARATOR_CHARACTERS, VOWELS
from monitor.canaries.values import CLUSTERS, DOMAINS, PART_DIGITS, SHAPES, Form, key_of
from monitor.model import ValueKind

# With more places of one shape in an answer no value has enough bits left to prove anything.
MOST_PLACES = 1 << 14
MOST_VALUE_CHARACTERS = 64
_C, _V = f"[{CONSONANTS}]", f"[{VOWELS}]"
_WORD = f"{_C}{_V}{_C}{{2}}{_V}{_C}"
_NAME_WORD = re.compile(rf"(?<![a-z0-9]){_WORD}(?![a-z0-9])")
_TOP = "|".join(domain.partition(".")[2] for domain in DOMAINS)
_EMAIL = re.compile(
    rf"({_WORD})\s{{0,3}}\.\s{{0,3}}({_WORD})\s{{0,3}}([0-9]{{4}})\s{{0,3}}@\s{{0,3}}"
    rf"example\s{{0,3}}\.\s{{0,3}}({_TOP})"
)
_DIGITS = re.compile(r"[0-9]+")
_IN_NUMBER = re.compile(r"[\s().*_`/\u2010-\u2015\u2212-]*")
_IN_NAME = re.compile(r"[\s*_`.-]+")
_KNOWN_CLUSTERS = frozenset(CLUSTERS)
# Where a word of a name has its two consonants.
_CLUSTER = slice(2, 4)


class Candidate(NamedTuple):
    """A place that may be a value of a kind, or a part of one; ``key`` is what to look up."""

    kind: ValueKind
    form: Form
    key: str
    start: int
    end: int


def candidates(text: str) -> Iterator[Candidate]:
    """Yield what has the shape of a planted value, with its place in ``text``.

    Takes time in proportion to the text; of each shape of digits at most ``MOST_PLACES`` are found.
    """
    folded = fold(text)
    yield from _names(folded)
    yield from _emails(folded)
    yield from _numbers(folded)


def is_written_like(kind: ValueKind, text: str) -> bool:
    """Tell whether a text is one whole value of this kind, and nothing else."""
    key = key_of(kind, text)
    return len(text) <= MOST_VALUE_CHARACTERS and any(
        (each.kind, each.form, each.key) == (kind, Form.WHOLE, key) for each in candidates(text)
    )


def _names(folded: Folded) -> Iterator[Candidate]:
    words = (
        found
        for found in _NAME_WORD.finditer(folded.text)
        if found.group()[_CLUSTER] in _KNOWN_CLUSTERS
    )
    for one, two in pairwise(words):
        between = folded.text[one.end() : two.start()]
        if len(between) <= MAX_SEPARATOR_CHARACTERS and _IN_NAME.fullmatch(between):
            key = f"{one.group()} {two.group()}"
            span = folded.span(one.start(), two.end())
            yield Candidate(ValueKind.NAME, Form.WHOLE, key, *span)


def _emails(folded: Folded) -> Iterator[Candidate]:
    if "example" not in folded.text:
        return
    for found in _EMAIL.finditer(folded.text):
        one, two, number, top = found.groups()
        key = f"{one}.{two}{number}@example.{top}"
        yield Candidate(ValueKind.EMAIL, Form.WHOLE, key, *folded.span(*found.span()))


def _numbers(folded: Folded) -> Iterator[Candidate]:
    left = dict.fromkeys([look[:2] for look in _LOOKS], MOST_PLACES)
    for places in _runs(folded.text):
        digits = "".join(folded.text[place] for place in places)
        for kind, form, prefix, length in _LOOKS:
            start = digits.find(prefix)
            while 0 <= start <= len(digits) - length and left[kind, form]:
                left[kind, form] -= 1
                span = folded.span(places[start], places[start + length - 1] + 1)
                yield Candidate(kind, form, digits[start : start + length], *span)
                start = digits.find(prefix, start + 1)


# What to look for in digits: of which kind and form, how it begins, and how many they are.
_LOOKS = tuple(
    (
        kind,
        form,
        "" if form is Form.LAST else shape.prefix,
        shape.digits if form is Form.WHOLE else PART_DIGITS,
    )
    for kind, shape in SHAPES.items()
    if shape.digits
    for form in shape.forms()
)
_FEWEST_DIGITS = min(length for *_, length in _LOOKS)


def _runs(text: str) -> Iterator[list[int]]:
    """Yield the places of digits that may belong to one number, in runs."""
    run: list[int] = []
    end = 0
    for found in _DIGITS.finditer(text):
        near = found.start() - end <= MAX_SEPARATOR_CHARACTERS
        if not (near and _IN_NUMBER.fullmatch(text, end, found.start())):
            if len(run) >= _FEWEST_DIGITS:
                yield run
            run = []
        run.extend(range(*found.span()))
        end = found.end()
    if len(run) >= _FEWEST_DIGITS:
        yield run
