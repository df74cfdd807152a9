"""CHARSET: no characters of scripts that nobody used, none that are damaged or hidden, and spaces.

Characters that nobody sees (zero-width spaces and joiners, marks of direction, soft hyphens,
variation selectors) are ``invisible`` where no script, emoji or direction needs them and the
request has none. Latin words that stand together without their spaces are ``run_together``: three
of ten letters in words of 16 and more, 40 letters in all. Both are tolerated: pages that models
learnt from hold such too. Of 2,940 healthy pieces and answers neither fails one (at most 0.13 % at
95 %).

Measured on packaged text (``tests/bench/checks/charset.py``): of 3,200 healthy pieces of documents,
docstrings, sources and JSON none fails hard (at most 0.12 % at 95 %), of 1,600 two fail tolerated;
of 1,340 answers in 67 languages none fails hard.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random

from monitor.checks.base import Check, Needs, Specimen, failed, passed, skipped
from monitor.checks.specimen import Scene, an_exchange
from monitor.history import History
from monitor.model import Exchange, Response, Signal, Trial
from monitor.writing.damage import damaged
from monitor.writing.invisible import invisible
from monitor.writing.languages import SCRIPTS, named, named_in_english
from monitor.writing.mixture import entropy, word_salad
from monitor.writing.prose import prose_of
from monitor.writing.scripts import CJK, script, scripts
from monitor.writing.spacing import run_together

CODE = "CHARSET"
# Public corruption of caches showed words of Thai, Cyrillic and Hangul in one English sentence; no
# healthy answer to prompts like ours has words of three scripts that neither prompt nor right
# answer holds (vllm#45704 was found by this very rule).
MANY_SCRIPTS = 3
LETTERS_OF_A_SCRIPT = 2
# A damaged state does not end its phrases: at least so many of the scripts stand amid others. A
# greeting or a menu in five languages does ("Hello! 你好! Привет!"), and it is none.
SCRIPTS_AMID_OTHERS = 2
# Words written half in one script, half in another, where one word could be a slip.
MIXED_WORDS = 3
# One or two damaged characters are a split code point, a mistake of a tokenizer; a damaged state
# gives many: at least one in so many characters.
DAMAGED = 3
CHARACTERS_A_DAMAGED = 200
# A stray word is under this share of any answer of a few sentences.
SCRIPT_SHARE = 0.05
LETTERS_OF_A_SHARE = 5
# Bits a character on at least 200 characters. 6,655 pieces of prose in English have 3.8 to 5.3, 36
# languages in Latin letters 3.9 to 5.1; 30,000 pieces of anything at all at most 5.9 (base64 has 64
# characters). Outside: at most 0.06 % (at 95 %) of prose, 0.013 % of the rest.
ENTROPY_CHARACTERS = 200
LEAST_ENTROPY, MOST_ENTROPY = 3.5, 5.5
MOST_ENTROPY_OF_ANYTHING = 6.1
_LATIN_SHARE = 0.9
_SPANS = 16

_LETTERS = re.compile(r"[^\W\d_]+")
# Where a phrase ends. Hyphens and apostrophes stand within words.
_PHRASE_END = re.compile(
    r"""[\n\t.,;:!?/|()\[\]{}<>"*`=\u00a1\u00ab\u00b7\u00bb\u00bf\u060c\u061b\u061f\u0964\u2013\u2014"""
    r"""\u201c\u201d\u2022\u3001\u3002\u300a-\u300f\uff01\uff08\uff09\uff0c\uff0f\uff1a\uff1b\uff1f\uff5c]+"""
)
# Greek letters stand alone in mathematics; the language shows by its accents.
_GREEK_ACCENTED = re.compile("[\u0386-\u0390\u03aa-\u03b0\u03ca-\u03ce\u1f00-\u1fff]")
# Who asks about characters that nobody sees gets them in the answer.
_ABOUT_INVISIBLE = re.compile(
    r"zero[- ]width|invisible|soft hyphen|right-to-left|joiner|variation selector|零宽|不可见",
    re.IGNORECASE,
)
# Styled letters of mathematics, where they spell words.
_STYLED = re.compile("[\U0001d400-\U0001d7cb]{5,}")
STYLED = "MATHEMATICAL"
# A name in its own script, given in brackets, quotes or between tags: Tokyo (東京).
_GLOSS = re.compile(
    r"[(\[{*_`'\">\u2018\u201c\u00ab\u300c\u300e\u300a\uff08]"
    r"([^()\[\]{}*_`'\"<>\u2018\u2019\u201c\u201d\u00ab\u00bb\u300a-\u300f\uff08\uff09\n]{1,40})"
    r"(?=[)\]}*_`'\"<\u2019\u201d\u00bb\u300d\u300f\u300b\uff09])"
)


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail hard on words of three or more unexpected scripts, or on many damaged characters.

    Expected is what stands in the prompt, its tools, the right answers and references, what the
    target's calibration saw of it, and the script of any language that is named. What only one
    unexpected script shows, or a damaged character here and there, is a model's own slip and
    tolerated; so are scripts that all stand in phrases of their own. Hidden reasoning may be in any
    language, and is looked at for hard faults only.
    """
    response = exchange.response
    if response is None or not response.written().strip():
        return [skipped(CODE, exchange, "nothing was written")]
    asked = _expected(exchange, history)
    calibration = history.calibration
    native = calibration.scripts if calibration else ()
    seen = _look(response, asked, native)
    # A border input is a fragment, and may be answered in any language: only hard faults count.
    anything = bool(exchange.expectation.border_input)
    slip = None if anything else _slip(response.answer(), seen, asked, native)
    variant, words = _hard_fault(seen) or slip or ("", "")
    if not variant:
        return [passed(CODE, exchange, "the characters are those of the prompt")]
    return [replace(failed(CODE, exchange, variant, words), spans=seen.damage[:_SPANS])]


@dataclass(frozen=True, slots=True)
class _Seen:
    """What stands in all that was written: places of damage, letters of unexpected scripts."""

    characters: int
    damage: tuple[tuple[int, int], ...]
    unexpected: Counter[str]
    amid_others: Counter[str]
    mixed_words: int


def _look(response: Response, asked: str, native: Collection[str]) -> _Seen:
    text = response.written()
    unexpected = _unexpected(text, asked, native)
    alphabets = unexpected.keys() - {CJK, STYLED}
    many = len(unexpected) >= MANY_SCRIPTS
    return _Seen(
        characters=len(text),
        damage=tuple(damaged(text, frozenset(asked))),
        unexpected=unexpected,
        amid_others=_amid_others(text, unexpected) if many else Counter(),
        mixed_words=_mixed_words(text, alphabets) if alphabets else 0,
    )


def _hard_fault(seen: _Seen) -> tuple[str, str] | None:
    damage = len(seen.damage)
    if damage >= DAMAGED and damage * CHARACTERS_A_DAMAGED >= seen.characters:
        return "damaged", f"{damage} damaged of {seen.characters} characters"
    count = _with_words(seen.unexpected)
    if count >= MANY_SCRIPTS and _with_words(seen.amid_others) >= SCRIPTS_AMID_OTHERS:
        return "many_scripts", f"letters of {count} scripts that nobody used"
    if seen.mixed_words >= MIXED_WORDS:
        return "mixed_words", f"{seen.mixed_words} words written in two scripts at once"
    return None


def _with_words(letters: Counter[str]) -> int:
    return sum(count >= LETTERS_OF_A_SCRIPT for count in letters.values())


def _slip(answer: str, seen: _Seen, asked: str, native: Collection[str]) -> tuple[str, str] | None:
    stray = _unexpected(answer, asked, native) if seen.unexpected else Counter()
    letters, most = sum(stray.values()), sum(map(str.isalpha, answer))
    if letters >= LETTERS_OF_A_SHARE and letters > SCRIPT_SHARE * most:
        return "script_share", f"{letters} of {most} letters are of scripts that nobody used"
    if bits := _odd_entropy(answer):
        return "entropy", f"{bits:.1f} bits a character"
    if word_salad(answer) is not None:
        return "salad", "nearly no word comes twice among a hundred"
    count = _with_words(stray)
    if seen.damage or count:
        return "odd", f"{len(seen.damage)} damaged characters, {count} unexpected scripts"
    return _unseen(answer, asked)


def _unseen(answer: str, asked: str) -> tuple[str, str] | None:
    """Return what cannot be seen but is there, or cannot be seen because it is not: spaces."""
    hidden = invisible(answer, frozenset(asked))
    if hidden and not _ABOUT_INVISIBLE.search(asked):
        return "invisible", f"{len(hidden)} runs of invisible characters that nothing needs"
    if letters := run_together(answer, asked):
        return "run_together", f"{letters} letters in words without the spaces between them"
    return None


def unexpected_scripts(text: str, expected: str, native: Iterable[str] = ()) -> frozenset[str]:
    """Return the scripts that ``text`` has words of, and ``expected`` no letter.

    ``native`` scripts are expected too, as are those of languages that either text names.
    """
    found = _unexpected(text, expected, frozenset(native))
    return frozenset(s for s, letters in found.items() if letters >= LETTERS_OF_A_SCRIPT)


def _unexpected(text: str, expected: str, native: Collection[str]) -> Counter[str]:
    """Count letters by unexpected script; Latin is written everywhere."""
    found = scripts(text)
    if styled := sum(map(len, _STYLED.findall(text))):
        found[STYLED] = styled
    known = {"LATIN", *native}
    if not _GREEK_ACCENTED.search(text):
        known.add("GREEK")
    if found.keys() <= known:
        return Counter()
    # A salad of Chinese words may name languages too: of an answer, English names alone count.
    languages = named(expected) | named_in_english(text)
    known |= scripts(expected).keys() | {SCRIPTS[code] for code in languages}
    if _STYLED.search(expected):
        known.add(STYLED)
    for content, times in Counter(_GLOSS.findall(text)).items():
        inside = scripts(content)
        if len(inside) == 1:
            found.subtract({name: times * letters for name, letters in inside.items()})
    return Counter({name: n for name, n in found.items() if n > 0 and name not in known})


def _amid_others(text: str, unexpected: Counter[str]) -> Counter[str]:
    """Count the letters of unexpected scripts in phrases that hold letters of other scripts too."""
    found: Counter[str] = Counter()
    for phrase in _PHRASE_END.split(text):
        used = Counter[str]() if phrase.isascii() else scripts(phrase)
        if len(used) > 1:
            found.update(used)
    return found & unexpected


def _mixed_words(text: str, alphabets: Collection[str]) -> int:
    """Count words of Latin letters and letters of these scripts at once; a copy counts again."""
    words = (set(map(script, word)) for word in _LETTERS.findall(text) if not word.isascii())
    return sum("LATIN" in used and not used.isdisjoint(alphabets) for used in words)


def _odd_entropy(text: str) -> float:
    """Return the bits a character where they are those of no text in Latin script, else 0."""
    if len(text) < ENTROPY_CHARACTERS or not _is_latin(text):
        return 0.0
    bits = entropy(text)
    if bits > MOST_ENTROPY_OF_ANYTHING:
        return bits
    running = prose_of(text)
    if len(running) < ENTROPY_CHARACTERS:
        return 0.0
    bits = entropy(running)
    return 0.0 if LEAST_ENTROPY <= bits <= MOST_ENTROPY else bits


def _is_latin(text: str) -> bool:
    letters = scripts(text)
    return letters["LATIN"] > 0 and letters["LATIN"] >= _LATIN_SHARE * letters.total()


def _expected(exchange: Exchange, history: History) -> str:
    expectation = exchange.expectation
    golden = history.golden.get(expectation.golden or "")
    facts = [text for fact in expectation.answers for text in fact.any_of]
    return "\n".join([exchange.request.text(), *facts, repr(golden) if golden else ""])


_MORE = " It has stood on both banks of the river since before the days of the Romans."
_HIDDEN = ("\u200b", "\u200d", "\u202e", "\u00ad", "\ufe0f")


def specimens(rng: Random) -> Sequence[Specimen]:
    """Return a mixed, a damaged, a hidden and a glued answer, and a healthy one."""
    scene = Scene(rng)
    start = "The capital of France is Paris, on the river Seine."
    words = rng.sample(["поезд", "รถไฟ", "기차", "火车", "ट्रेन"], MANY_SCRIPTS)
    return [
        scene.specimen(an_exchange(f"{start} {' '.join(words)}"), fails="many_scripts"),
        scene.specimen(an_exchange(start + "\ufffd" * rng.randint(4, 9)), fails="damaged"),
        scene.specimen(
            an_exchange(start.replace("Paris", f"Par{rng.choice(_HIDDEN)}is")), fails="invisible"
        ),
        scene.specimen(an_exchange((start + _MORE).replace(" ", "")), fails="run_together"),
        scene.specimen(an_exchange(start)),
    ]


CHECK = Check(code=CODE, judge=judge, needs=Needs.SOME_TEXT, specimens=specimens)
