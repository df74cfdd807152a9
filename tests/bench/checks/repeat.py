"""REPEAT on packaged text, beside a zlib ratio above 2.4."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from random import Random

from monitor.checks.repeat import CHECK
from monitor.writing.prose import prose_of
from tests.bench.checks import faults, packaged
from tests.bench.checks.judging import row, variants
from tests.bench.checks.table import Row

SEED = 42
EACH = 250
# The default of Whisper's decoding, copied into many tools.
ZLIB_RATIO = 2.4
LEAST_CHARACTERS = 400


def ratio(text: str) -> float:
    """Return how many times smaller zlib makes the text."""
    raw = text.encode("utf-8", "ignore")
    return len(raw) / len(zlib.compress(raw)) if raw else 0.0


def zlib_above(text: str) -> bool:
    """Return the naive judgement."""
    return ratio(text) > ZLIB_RATIO


def kind(rng: Random, texts: tuple[str, ...], size: int) -> Iterator[tuple[str, bool]]:
    """Yield healthy pieces of one kind that end with a line."""
    for text in packaged.windows(rng, texts, 2 * EACH, size):
        yield text.rpartition("\n")[0], False


def running(rng: Random, count: int) -> list[str]:
    """Return running text alone: paragraphs of documents and docstrings."""
    texts = packaged.documents() + packaged.docstrings()
    pieces = (prose_of(text) for text in packaged.windows(rng, texts, 4 * count, 2500))
    return [piece for piece in pieces if len(piece) >= LEAST_CHARACTERS][:count]


def faulty(rng: Random, fault: Callable[[Random, str], str]) -> Iterator[tuple[str, bool]]:
    """Yield running text as it is, and with the fault in it."""
    for text in running(rng, EACH):
        yield text, False
    for text in running(rng, EACH):
        yield fault(rng, text), True


def alone(rng: Random, text: str) -> str:
    """Return an answer that is nothing but one character or token."""
    unit = rng.choice(("!", "a- ", "the ", "0", "\u7684", "\n", "no, ", "\u3000的", "?"))
    return unit * rng.randint(20, 60) if unit.strip() else "! " * rng.randint(4, 60)


def rows() -> list[Row]:
    """Return the rows of the bench."""
    rng = Random(SEED)
    naive = ("zlib ratio > 2.4", zlib_above)

    def fails(text: str) -> bool:
        return bool(variants(CHECK, text))

    def at_end(share: float) -> Callable[[Random, str], str]:
        return lambda rng, text: faults.loop_at_end(rng, text, share)

    made = [
        ("a loop of 10 % at the end of prose", at_end(0.1)),
        ("a loop of 25 % at the end of prose", at_end(0.25)),
        ("a loop of 50 % at the end of prose", at_end(0.5)),
        ("a loop inside prose", faults.loop_inside),
        ("sentences of prose said again and again", faults.restated),
        ("nothing but one token", alone),
        ("the whole answer twice, or thrice", faults.doubled),
        ("a piece of 12 to 40 characters sent twice", faults.stuttered),
    ]
    kinds = [
        (f"{name}, {size:,} characters", texts, size)
        for name, texts in (
            ("documents", packaged.documents()),
            ("docstrings", packaged.docstrings()),
            ("Python", packaged.sources()),
            ("JSON", packaged.json_files()),
        )
        for size in (1000, 4000)
    ]
    return [
        *(row("REPEAT", name, faulty(rng, fault), fails, naive) for name, fault in made),
        *(row("REPEAT", name, kind(rng, texts, size), fails, naive) for name, texts, size in kinds),
    ]
