"""How many items the lists of an answer have."""

from __future__ import annotations

import re
import unicodedata

from monitor.prompts.answers import lists_beside_code

_CIRCLED = {0x2460 + number: f"{number + 1}. " for number in range(20)}
_CHINESE = {sign: number for number, sign in enumerate("一二三四五六七八九十", 1)}
_ITEM = re.compile(
    r"(?P<indent>[ \t]{0,40})(?:\*\*)?(?:"
    r"\(?(?P<number>[0-9]{1,3})\\?(?:[)\u3001]|\.(?![0-9]))"
    r"|(?P<chinese>[一二三四五六七八九十]{1,3})[.\u3001]"
    r"|(?P<bullet>[-*+](?=[ \t])|[\u2022\u2023\u25e6\u00b7\u25cf]))(?:\*\*)?[ \t]*(?=\S)"
)
_INLINE = re.compile(r"(?:^|(?<=\s))\(?([0-9]{1,3})(?:[)\u3001]|\.(?![0-9]))")
_PARTS = re.compile(
    r"[,;\u3001\uff0c\uff1b][ ]?(?:and |\u548c)?|(?<= )and |(?<=[\u4e00-\u9fff])\u548c"
)
_TABLE = re.compile(r"^[ \t]{0,3}\|[ \t]?:?-{2,}", re.MULTILINE)
_FIRST_NUMBERS = range(3)  # a list may go on with the number of the question it answers
_LONGEST_LINE = 2_000  # characters


def list_lengths(answer: str) -> frozenset[int]:
    """Return the lengths of all lists in an answer, in each reading beside the reference code.

    A numbered list counts as far as its numbers go up by one, from 1 (0 or 2) on; bullets of one
    kind and margin are one list, and so is the same number on each line, what stands between HTML's
    tags, and the rows of a table. An answer without any mark is a list of its lines, or of what
    commas part within one.
    """
    return frozenset(length for read in lists_beside_code(answer) for length in _lengths(read))


def _lengths(text: str) -> set[int]:
    lines = [_plain(line) for line in text.splitlines() if line.strip()]
    items = [found for line in lines if (found := _ITEM.match(line))]
    if not items and (lengths := _of_markup(text)):
        return lengths
    if not items:
        told = [line for line in lines if not line.rstrip().endswith((":", "\uff1a"))]
        return {len(told), *(len(_PARTS.split(line)) for line in told)}
    bullets: dict[str, int] = {}
    numbered: dict[str, list[int]] = {}
    for item in items:
        if item["bullet"]:
            mark = item["indent"] + item["bullet"]
            bullets[mark] = bullets.get(mark, 0) + 1
        else:
            kind = "digits" if item["number"] else "numerals"
            # By margin, lest items within items count; and not, for a label may hide a margin.
            for list_of in (kind + item["indent"], kind + " all"):
                numbered.setdefault(list_of, []).append(_number(item))
    lengths = set(bullets.values()) | _of_markup(text)
    for numbers in numbered.values():
        lengths |= _runs(numbers)
    for line in lines:
        lengths |= _runs([int(number) for number in _INLINE.findall(line)])
    return lengths


def _of_markup(text: str) -> set[int]:
    """Return how many items a list in HTML has, and how many rows tables have, with their heads."""
    rows = sum(line.lstrip().startswith("|") for line in text.splitlines())
    return {text.count("<li>"), rows - 2 if _TABLE.search(text) else 0} - {0}


def _plain(line: str) -> str:
    return unicodedata.normalize("NFKC", line[:_LONGEST_LINE].translate(_CIRCLED))


def _number(item: re.Match[str]) -> int:
    if item["number"]:
        return int(item["number"])
    tens, ten, ones = item["chinese"].rpartition("十")
    if not ten:
        return _CHINESE.get(ones, 0)
    return 10 * _CHINESE.get(tens, 1) + _CHINESE.get(ones, 0)


def _runs(numbers: list[int]) -> set[int]:
    """Return how far each run of numbers goes up by one."""
    lengths, length, last = set(), 0, None
    for number in numbers:
        if last is not None and number == last + 1:
            length += 1
        else:
            lengths.add(length)
            length = 1 if number in _FIRST_NUMBERS else 0
        last = number if length else None
    # Markdown lets whoever renders it count: "1." on each line.
    if len(numbers) > 1 and len(set(numbers)) == 1:
        lengths.add(len(numbers))
    return (lengths | {length}) - {0}
