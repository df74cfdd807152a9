"""Numbers in English words: "two hundred and five", "minus twelve", "a thousand"."""

# ruff: noqa: SIM905 (tables of words read best as text)
from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Written:
    """A number in a text, and its bounds; ``bare`` if it may as well be a part of a word."""

    value: Decimal
    start: int
    end: int
    bare: bool = False


_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_VALUES = {word: number for number, word in enumerate(_ONES)} | {
    word: 10 * number for number, word in enumerate(_TENS, 2)
}
_WORDS = frozenset((*_VALUES, "hundred", *_SCALES))
_HUNDREDS_SAID = range(1_100, 10_000)  # twelve hundred
_LONGEST = 24  # words; longer runs are no number that people write
_LETTERS = re.compile(r"[a-z]+")
# Twenty-first, two thirds, two and a half, two point five: not what the words before it say.
_GOES_ON = re.compile(
    r"[ -](?:and )?(?:a |one )?(?:half|halves|quarters?|first|second|thirds?|fourths?|fifths?"
    r"|sixths?|sevenths?|eighths?|ninths?|tenths?|hundredths?|thousandths?|point)(?![a-z])"
)


def in_words(text: str) -> Iterator[Written]:
    """Yield each number that normalised text gives in English words, read in whole runs of them.

    "One" alone is a pronoun more often than a number, and no number here. Not understood:
    fractions, decimals, dozens, and years said in pairs (nineteen sixty-nine).
    """
    run: list[re.Match[str]] = []
    for word in _LETTERS.finditer(text):
        joined = bool(run) and text[run[-1].end() : word.start()] in {" ", "-", " and "}
        if run and not joined and not _is_and(text, run[-1].end(), word):
            yield from _number(text, run)
            run = []
        if word[0] in _WORDS:
            run.append(word)
    yield from _number(text, run)


def _is_and(text: str, end: int, word: re.Match[str]) -> bool:
    return word[0] == "and" and text[end : word.start()] == " "


def _number(text: str, run: list[re.Match[str]]) -> Iterator[Written]:
    """Yield what a run says; if it is no one number, what its parts between "and" say."""
    whole = list(_one_number(text, run))
    parts = [] if whole else _parted(text, run)
    yield from whole or (number for part in parts for number in _one_number(text, part))


def _parted(text: str, run: list[re.Match[str]]) -> list[list[re.Match[str]]]:
    parts: list[list[re.Match[str]]] = []
    for word in run:
        if parts and text[parts[-1][-1].end() : word.start()] != " and ":
            parts[-1].append(word)
        else:
            parts.append([word])
    return parts


def _one_number(text: str, run: list[re.Match[str]]) -> Iterator[Written]:
    words = [word[0] for word in run[: _LONGEST + 1]]
    if not words or words == ["one"] or _GOES_ON.match(text, run[-1].end()):
        return
    start = run[0].start()
    if words[0] not in _VALUES:
        if text[max(0, start - 2) : start] != "a ":
            return
        start, words = start - 2, ["one", *words]
    value = _value(words)
    if value is None:
        return
    sign = next((s for s in ("minus ", "negative ") if text.endswith(s, 0, start)), "")
    yield Written(Decimal(-value if sign else value), start - len(sign), run[-1].end())


def _value(words: list[str]) -> int | None:
    """Return what the words say, if that number is said just so."""
    if len(words) > _LONGEST:
        return None
    total = group = 0
    for word in words:
        if word in _SCALES:
            total, group = total + group * 10 ** _SCALES[word], 0
        else:
            group = 100 * group if word == "hundred" else group + _VALUES[word]
    value = total + group
    return value if words in _ways(value) else None


def _ways(value: int) -> list[list[str]]:
    if value == 0:
        return [["zero"]]
    ways = [_said(value)]
    if value in _HUNDREDS_SAID:
        ways.append([*_below_hundred(value // 100), "hundred", *_below_hundred(value % 100)])
    return ways


def _said(value: int) -> list[str]:
    words: list[str] = []
    for scale, power in reversed(_SCALES.items()):
        groups, value = divmod(value, 10**power)
        words += [*_below_thousand(groups % 1000), scale] if groups else []
    return words + _below_thousand(value)


def _below_thousand(value: int) -> list[str]:
    hundreds, rest = divmod(value, 100)
    return ([_ONES[hundreds], "hundred"] if hundreds else []) + _below_hundred(rest)


def _below_hundred(value: int) -> list[str]:
    if value < len(_ONES):
        return [_ONES[value]] if value else []
    tens, ones = divmod(value, 10)
    return [_TENS[tens - 2], *([_ONES[ones]] if ones else [])]
