"""TERM on packaged text, beside a substring in lower case."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from monitor.checks.term import CHECK
from monitor.history import JudgeSettings
from tests.bench.checks import packaged
from tests.bench.checks.judging import row, variants
from tests.bench.checks.table import Row

SEED = 44
EACH = 400
# Code names as companies give them: short common words among them.
TERMS = (
    *("Nova", "Orion", "Atlas", "Echo", "Apex", "Titan", "Delta Force", "Project Bluebird", "Mira"),
    *("Red Harbour", "AT&T", "C++ Next", "Kestrel", "Müller & Söhne", "O'Brien", "iPhone 手机"),
    *("蓝鸟计划", "上海分公司", "プロジェクト青", "Ares", "Iris", "Lynx", "Argo"),
)
SETTINGS = JudgeSettings(sensitive_terms=TERMS)


def holds_as_word(text: str) -> bool:
    """Return the label: whether a term stands there as a word or phrase, by another rule."""
    return any(re.search(rf"(?<!\w){re.escape(t)}(?!\w)", text, re.IGNORECASE) for t in TERMS)


def labelled(rng: Random) -> Iterator[tuple[str, bool]]:
    """Yield pieces without a term, and pieces with one, as it is or written otherwise."""
    texts = packaged.documents() + packaged.docstrings() + packaged.sources()
    for text in packaged.windows(rng, texts, 3 * EACH, 2000):
        if not holds_as_word(text):
            yield text, False
    for text in packaged.windows(rng, packaged.documents(), EACH, 1000):
        place = text.find(" ", rng.randrange(len(text) // 2))
        yield f"{text[:place]} {otherwise(rng, rng.choice(TERMS))} {text[place:]}", True


def otherwise(rng: Random, term: str) -> str:
    """Return the term in other case, width and spacing."""
    between = rng.choice((" ", "-", "\n", "\u200b", "\u00a0", "_", "  "))
    wide = {code: code + 0xFEE0 for code in range(0x41, 0x7B) if chr(code).isalpha()}
    change = rng.choice(
        (
            str.upper,
            str.lower,
            lambda text: text.translate(wide),
            lambda text: text.replace(" ", between),
            lambda text: f"**{text}**",
            lambda text: f"{text[:2]}\u200b{text[2:]}",
            str,
        )
    )
    return change(term)


def substring(text: str) -> bool:
    """Return the naive judgement."""
    low = text.lower()
    return any(term.lower() in low for term in TERMS)


def rows() -> list[Row]:
    """Return the rows of the bench."""
    rng = Random(SEED)

    def fails(text: str) -> bool:
        return bool(variants(CHECK, text, settings=SETTINGS))

    naive = ("substring, any case", substring)
    return [row("TERM", "23 terms, as they are and written otherwise", labelled(rng), fails, naive)]
