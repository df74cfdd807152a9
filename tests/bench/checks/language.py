"""LANGUAGE on packaged sentences and prose, beside language identification of the first words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from monitor.config.checks import LanguageCheck
from monitor.scoring import Asked
from monitor.scoring.language import LanguageInstrument, build
from monitor.writing.languages import CODES
from tests.bench.checks import packaged
from tests.bench.checks.table import Row

SEED = 45
EACH = 40
LETTERS = 110
FIRST_CHARACTERS = 40
# Language code of the prompt, answer, and whether it is in another language.
Case = tuple[str, str, bool]


def paragraph(rng: Random, sentences: Sequence[str], letters: int) -> str:
    """Return sentences in another order, until they have so many letters."""
    text = ""
    while sum(map(str.isalpha, text)) < letters:
        text += rng.choice(sentences) + " "
    return text.strip()


def told_apart(rng: Random, languages: Sequence[str]) -> Iterator[Case]:
    """Yield answers in the prompt's language, and in another one."""
    known = {code: packaged.sentences()[code] for code in languages}
    for asked, sentences in known.items():
        for _ in range(EACH):
            yield asked, paragraph(rng, sentences, LETTERS), False
            other = rng.choice([code for code in known if code != asked])
            yield asked, paragraph(rng, known[other], LETTERS), True


def technical(rng: Random) -> Iterator[Case]:
    """Yield pieces of documents and docstrings in English."""
    for texts in (packaged.documents(), packaged.docstrings()):
        for text in packaged.windows(rng, texts, 500, 1500):
            yield "en", text, False


def _row(input_set: str, cases: Iterator[Case], instrument: LanguageInstrument) -> Row:
    counts = dict.fromkeys(("tp", "fp", "ntp", "nfp", "p", "n"), 0)
    for asked, text, faulty in cases:
        order = Asked(written=text, answer=text, request="", wants=frozenset(), language=asked)
        reading = instrument.measure([order])[0]
        failed = isinstance(reading, str) and reading != asked
        naive = _first_words(instrument.detector, text) != asked
        counts["p"] += faulty
        counts["n"] += not faulty
        counts["tp"] += faulty and failed
        counts["fp"] += failed and not faulty
        counts["ntp"] += faulty and naive
        counts["nfp"] += naive and not faulty
    return Row(
        check="LANGUAGE",
        input_set=input_set,
        positives=counts["p"],
        true_positives=counts["tp"],
        negatives=counts["n"],
        false_positives=counts["fp"],
        naive_name="lingua on the first 40 characters",
        naive_true_positives=counts["ntp"],
        naive_false_positives=counts["nfp"],
    )


def _first_words(detector: Any, text: str) -> str:
    found = detector.detect_language_of(text[:FIRST_CHARACTERS])
    return found.iso_code_639_1.name.lower() if found else ""


def rows() -> list[Row]:
    """Return the rows of the bench."""
    rng = Random(SEED)
    default = LanguageCheck().languages
    packed = sorted(CODES & packaged.sentences().keys())
    few, many = build({"languages": default}), build({"languages": packed})
    assert isinstance(few, LanguageInstrument)
    assert isinstance(many, LanguageInstrument)
    return [
        _row("12 languages, 110 letters", told_apart(rng, default), few),
        _row(f"{len(packed)} languages, 110 letters", told_apart(rng, packed), many),
        _row("documents and docstrings in English", technical(rng), few),
    ]
