"""CHARSET: no characters of scripts that nobody used, none that stand for damage."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from random import Random

from monitor.checks.base import Check, Needs, Specimen, failed, passed, skipped
from monitor.checks.specimen import Scene, an_exchange
from monitor.history import History
from monitor.model import Exchange, Signal, Trial

CODE = "CHARSET"
# Public corruption of caches showed words of Thai, Cyrillic and Hangul in one English sentence; no
# healthy answer to prompts like ours has words of three scripts that neither prompt nor right
# answer holds (vllm#45704 was found by this very rule).
MANY_SCRIPTS = 3
LETTERS_OF_A_SCRIPT = 2
# One or two damaged characters are a split code point, a mistake of a tokenizer; a damaged state
# gives many: at least one in so many characters.
DAMAGED = 3
CHARACTERS_A_DAMAGED = 200
# By the first word of a letter's Unicode name. Latin and Greek are written everywhere; scripts that
# are written together count once.
_SCRIPTS = {
    **{name: name for name in ("ARABIC", "ARMENIAN", "BENGALI", "CHEROKEE", "CYRILLIC")},
    **{name: name for name in ("DEVANAGARI", "ETHIOPIC", "GEORGIAN", "GUJARATI", "GURMUKHI")},
    **{name: name for name in ("HANGUL", "HEBREW", "KANNADA", "KHMER", "LAO", "MALAYALAM")},
    **{name: name for name in ("MONGOLIAN", "MYANMAR", "ORIYA", "SINHALA", "SYRIAC", "TAMIL")},
    **{name: name for name in ("TELUGU", "THAANA", "THAI", "TIBETAN")},
    **dict.fromkeys(("BOPOMOFO", "CJK", "HIRAGANA", "KATAKANA"), "CJK"),
}


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail hard on words of three or more unexpected scripts, or on many damaged characters.

    Expected is what stands in the prompt, its tools and the right answers. One or two unexpected
    scripts, or a damaged character here and there, are a model's own slips and tolerated.
    """
    response = exchange.response
    text = response.answer() if response else ""
    if not text.strip():
        return [skipped(CODE, exchange, "nothing was written")]
    expected = _expected(exchange, history)
    damaged = sum(_is_damaged(letter) for letter in text if letter not in expected)
    if damaged >= DAMAGED and damaged * CHARACTERS_A_DAMAGED >= len(text):
        return [failed(CODE, exchange, "damaged", f"{damaged} damaged of {len(text)} characters")]
    # A fragment may be answered in any language.
    anything = bool(exchange.expectation.border_input)
    scripts = frozenset[str]() if anything else unexpected_scripts(text, expected)
    if len(scripts) >= MANY_SCRIPTS:
        words = f"letters of {len(scripts)} scripts that nobody used"
        return [failed(CODE, exchange, "many_scripts", words)]
    if damaged or scripts:
        words = f"{damaged} damaged characters, {len(scripts)} unexpected scripts"
        return [failed(CODE, exchange, "odd", words)]
    return [passed(CODE, exchange, "the characters are those of the prompt")]


def unexpected_scripts(text: str, expected: str) -> frozenset[str]:
    """Return the scripts that ``text`` has words of, and ``expected`` no letter."""
    known = set(_scripts(expected))
    found = Counter(script for script in _scripts(text) if script not in known)
    return frozenset(s for s, letters in found.items() if letters >= LETTERS_OF_A_SCRIPT)


def _expected(exchange: Exchange, history: History) -> str:
    expectation = exchange.expectation
    golden = history.golden.get(expectation.golden or "")
    facts = [text for fact in expectation.answers for text in fact.any_of]
    return "\n".join([exchange.request.text(), *facts, repr(golden) if golden else ""])


def _scripts(text: str) -> Iterator[str]:
    return (script for letter in text if (script := _script(letter)))


@lru_cache(maxsize=4096)
def _script(letter: str) -> str:
    """Return the script of a letter by the first word of its Unicode name, else nothing."""
    if letter.isascii() or not unicodedata.category(letter).startswith("L"):
        return ""
    first = unicodedata.name(letter, "").partition(" ")[0]
    return _SCRIPTS.get(first, "")


def _is_damaged(letter: str) -> bool:
    """Tell whether a character stands for what could not be read, or has no common meaning."""
    return letter == "\ufffd" or unicodedata.category(letter) == "Co"


def _specimens(rng: Random) -> Sequence[Specimen]:
    scene = Scene(rng)
    salad = ["สวัสดี", "привет", "안녕하세요", "გამარჯობა", "नमस्ते"]
    rng.shuffle(salad)
    return [
        scene.specimen(an_exchange(f"Paris {' '.join(salad)}"), fails="many_scripts"),
        scene.specimen(an_exchange("Paris" + "\ufffd" * rng.randint(9, 30)), fails="damaged"),
        scene.specimen(an_exchange("It is Paris, the city of light.")),
    ]


CHECK = Check(code=CODE, judge=judge, needs=Needs.SOME_TEXT, specimens=_specimens)
