"""CHARSET on packaged text, beside "any letter that is not ASCII" and language identification."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import Any

from monitor.checks.charset import CHECK
from tests.bench.checks import faults, packaged
from tests.bench.checks.judging import is_hard, row, variants
from tests.bench.checks.table import Row

SEED = 41
EACH = 400
SPACED = ("en", "de", "fr", "es", "it", "nl", "fi", "tr", "pl", "hu", "sv")


def healthy(rng: Random, size: int) -> list[tuple[str, bool]]:
    """Return pieces of documents, docstrings, sources and JSON."""
    kinds = (packaged.documents(), packaged.docstrings(), packaged.sources(), packaged.json_files())
    return [(text, False) for kind in kinds for text in packaged.windows(rng, kind, EACH, size)]


def prose(rng: Random, count: int, size: int) -> list[str]:
    """Return pieces of documents that are nearly all words."""
    return packaged.windows(rng, packaged.documents(), count, size)


def mixed(rng: Random) -> Iterator[tuple[str, bool]]:
    """Yield healthy pieces, and documents with words of three to five scripts mixed in."""
    yield from healthy(rng, 1000)
    for text in prose(rng, EACH, 1000):
        yield faults.scripts_mixed_in(rng, text, rng.randint(3, 5)), True


def damaged(rng: Random) -> Iterator[tuple[str, bool]]:
    """Yield healthy pieces, and documents with damaged characters of six kinds."""
    yield from healthy(rng, 600)
    for text in prose(rng, EACH, 600):
        yield faults.damaged(rng, text), True


def salads(rng: Random) -> Iterator[tuple[str, bool]]:
    """Yield healthy pieces, and good beginnings followed by pieces of a vocabulary and of code."""
    yield from healthy(rng, 2000)
    for text in prose(rng, EACH, 400):
        yield f"{text} {faults.salad(rng, 200, of_code=rng.choice((0, 0.2, 0.4)))}", True


def other_languages(rng: Random) -> Iterator[tuple[str, bool]]:
    """Yield healthy answers in 68 languages, to a prompt in English."""
    for language, sentences in packaged.sentences().items():
        if language != "xx":
            for _ in range(20):
                yield " ".join(rng.choices(sentences, k=rng.randint(1, 4))), False


def one_word(rng: Random) -> Iterator[tuple[str, bool]]:
    """Yield English answers with one word of another script, a slip of many models."""
    for text in prose(rng, EACH, 600):
        yield faults.scripts_mixed_in(rng, text, 1, words=1), False


def hidden(rng: Random) -> Iterator[tuple[str, bool]]:
    """Yield healthy pieces and languages, and documents with characters that nobody sees."""
    yield from healthy(rng, 600)
    yield from other_languages(rng)
    for text in prose(rng, EACH, 600):
        yield faults.hidden(rng, text), True


def glued(rng: Random) -> Iterator[tuple[str, bool]]:
    """Yield healthy pieces and languages, and sentences of eleven without their spaces."""
    yield from healthy(rng, 600)
    yield from other_languages(rng)
    for _ in range(EACH):
        sentences = packaged.sentences()[rng.choice(SPACED)]
        yield "\n".join(rng.sample(sentences, 2)).replace(" ", ""), True


def any_letter_not_ascii(text: str) -> bool:
    """Return the naive judgement: fail whatever is not ASCII."""
    return any(letter.isalpha() and not letter.isascii() for letter in text)


@cache
def _detector() -> Any:
    from lingua import Language, LanguageDetectorBuilder

    return LanguageDetectorBuilder.from_all_languages().with_low_accuracy_mode().build(), Language


def not_english(text: str) -> bool:
    """Return the naive judgement: fail what language identification takes for another language."""
    detector, language = _detector()
    return detector.detect_language_of(text) != language.ENGLISH


def rows() -> list[Row]:
    """Return the rows of the bench."""
    rng = Random(SEED)
    letters = ("any letter not ASCII", any_letter_not_ascii)
    identified = ("language identification", not_english)

    def fails(text: str) -> bool:
        return bool(variants(CHECK, text))

    def of(variant: str) -> Callable[[str], bool]:
        return lambda text: variant in variants(CHECK, text)

    def hard(text: str) -> bool:
        return is_hard(CHECK, variants(CHECK, text))

    return [
        row("CHARSET", "words of 3 to 5 scripts mixed in", mixed(rng), hard, letters),
        row("CHARSET", "damaged characters", damaged(rng), hard, letters),
        row("CHARSET", "pieces of a vocabulary at random", salads(rng), fails, identified),
        row("CHARSET", "answers in 67 languages (hard)", other_languages(rng), hard, letters),
        row("CHARSET", "invisible characters within words", hidden(rng), of("invisible"), letters),
        row(
            "CHARSET",
            "sentences of 11 languages, their spaces lost",
            glued(rng),
            of("run_together"),
            identified,
        ),
        row("CHARSET", "one stray word (hard)", one_word(rng), hard, letters),
    ]
