"""The gate lets through whatever would be found without it, and never more than it may cost."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.scoring.pii.folding import PIECE_MARK
from monitor.scoring.pii.gate import MOST_CHARACTERS, MOST_PLACES, Gate, cut, merged
from monitor.scoring.pii.instrument import PiiInstrument
from monitor.scoring.pii.languages import LANGUAGES, known
from tests.bench import personal
from tests.bench.checks.entity import clean
from tests.unit.scoring.national_ids import NUMBERS

EVERY = tuple(LANGUAGES)
_WORDS = (
    *("tel ", "phone: ", "手机", "api_key = ", '"token": "', "SSN ", "from ", "version ", " v"),
    *("身份证号", "card no. ", "€", "\n", " ", " - ", "(", ")", "/", "=", ":", "@", "\u200b", "。"),
)


@cache
def engines() -> tuple[PiiInstrument, PiiInstrument]:
    """Return the engine of every language behind its gate, and without it."""
    return PiiInstrument(known(EVERY)), PiiInstrument(known(EVERY), gated=False)


def values() -> st.SearchStrategy[str]:
    """Return values of every kind, some of them spoilt."""
    drawn = [
        make(Random(f"{kind} {seed}"))
        for kind, (make, *_) in personal.KINDS.items()
        for seed in "abc"
    ]
    whole = st.sampled_from(drawn + [number for number, _ in NUMBERS.values()])
    spoilt = st.builds(
        lambda v, at: v[: at % len(v)] + "7" + v[at % len(v) :], whole, st.integers(0)
    )
    return whole | whole.map(personal.wide) | spoilt


def texts() -> st.SearchStrategy[str]:
    """Return texts of values, words that matter, digits and anything else."""
    words = st.sampled_from([*_WORDS, *(f"{words} " for _, words in NUMBERS.values())])
    digits = st.text(alphabet="0123456789.-: ", max_size=20)
    parts = st.lists(values() | words | digits | st.text(max_size=8), max_size=12)
    return parts.map("".join)


def found_by(engine: PiiInstrument, text: str) -> set[tuple[str, int, int]]:
    return {(entity.kind, entity.start, entity.end) for entity in engine.entities(text)}


@given(texts())
def test_what_is_found_without_the_gate_is_found_behind_it(text: str) -> None:
    gated, ungated = engines()
    assert found_by(gated, text) == found_by(ungated, text)


def test_the_gate_changes_nothing_on_packaged_text_and_values() -> None:
    gated, ungated = engines()
    rng = Random(9)
    cases = [*clean(rng, 20)]
    cases += [text for kind in personal.KINDS for text, _, _ in personal.sentences(rng, kind, 8)]
    cases += [f"{words} {number}" for number, words in NUMBERS.values()]
    assert sum(bool(gated.entities(text)) for text in cases) > 100
    for text in cases:
        assert found_by(gated, text) == found_by(ungated, text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The sum is 4711, as of 2024-10-12, at 10:30 in room 12.",
        "def f(x): return x @ self.weight[1:-1] ** 2.5  # 0.123456789",
        "根据记录共有13912387456条数据",
        '{"id": 123456789, "size": 1048576, "ratio": 0.7071067811865476}',
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ],
)
def test_ordinary_answers_never_reach_presidio(text: str) -> None:
    assert Gate(known(("en", "zh"))).pieces(text) == ()


def test_few_packaged_texts_reach_presidio() -> None:
    gate = Gate(known(("en", "zh")))
    prose = [text for text in clean(Random(2), 60) if "{" not in text]
    assert sum(bool(gate.pieces(text)) for text in prose) < len(prose) / 5


@pytest.mark.parametrize(
    "pattern", ["1 2 3 4 ", "a@b.co ", "+1 212 736 5000 ", "AB12CDEF 12345678 "]
)
def test_what_is_looked_at_is_bounded(pattern: str) -> None:
    text = pattern * (200_000 // len(pattern))
    pieces = Gate(known(("en",))).pieces(text)
    assert sum(end - start for start, end in pieces) <= MOST_CHARACTERS
    assert len(pieces) <= 2 * MOST_PLACES
    assert all(a < b for a, b in pieces)


def test_places_that_touch_become_one() -> None:
    assert merged([(5, 9), (-3, 2), (9, 12), (20, 99)], 30) == ((0, 2), (5, 12), (20, 30))


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), max_size=6))
def test_places_of_pieces_lead_back(drawn: list[tuple[int, int]]) -> None:
    text = "".join(chr(0x100 + place) for place in range(80))
    places = merged([(start, start + length) for start, length in drawn], len(text))
    pieces = cut(text, places)
    assert pieces.text.count(PIECE_MARK) == max(0, len(places) - 1)
    for place, letter in enumerate(pieces.text):
        if letter in text:
            start, end = pieces.origin(place, place + 1)
            assert text[start:end] == letter
