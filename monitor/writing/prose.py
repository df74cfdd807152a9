"""Telling prose from code, tables, lists and JSON, line by line.

A rule for running text makes no sense elsewhere: code repeats itself, a table of figures has few
characters. What is taken for prose need not be all of it: a paragraph of which it is not plain is
left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# A line with more of these among its characters is code, markup, a table or a formula. Prose about
# code quotes names in backticks, so those are cut out first.
_SIGNS = frozenset('{}[]<>=|\\/_@#$%^&*+~`"')
MOST_SIGNS = 0.06
LEAST_LETTERS = 0.6
# Fewer words to a line are a list or a poem; a shorter paragraph is a heading.
LEAST_WORDS_A_LINE = 4
LEAST_WORDS = 8
# Scripts without spaces have about so many letters to a word.
_LETTERS_A_WORD = 6
_INDENT = 4
_FENCE = ("```", "~~~")
_QUOTED = re.compile(r"`[^`\n]{1,80}`")
_ITEM = re.compile(r"\s{0,8}(?:[-*+•·\u2013\u2014>|#%$]|\(?[0-9A-Za-z]{1,3}[.)]|>>>|\.\.)\s")
_COLUMNS = re.compile(r"\S(?: {3,}|\t)\S")


def prose(text: str) -> list[tuple[int, int]]:
    """Return the half-open places of the paragraphs of ``text`` that are running text. O(n)."""
    found = []
    for start, end in _paragraphs(text):
        paragraph = text[start:end]
        lines = paragraph.splitlines()
        words = _words(paragraph)
        if words >= max(LEAST_WORDS, LEAST_WORDS_A_LINE * (len(lines) - 1)):
            found.append((start, end))
    return found


def prose_of(text: str) -> str:
    """Return the running text alone, a blank line between paragraphs."""
    return "\n\n".join(text[start:end] for start, end in prose(text))


def _words(text: str) -> int:
    spaced = len(text.split())
    return max(spaced, sum(not c.isascii() for c in text) // _LETTERS_A_WORD)


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of neighbouring lines that each look like running text."""
    here = start = end = 0
    fenced = False
    for line in text.splitlines(keepends=True):
        begins, here = here, here + len(line)
        is_fence = line.lstrip().startswith(_FENCE)
        fenced ^= is_fence
        if is_fence or fenced or not is_running(line):
            if end > start:
                yield start, end
            start = end = here
        else:
            start = begins if start == end else start
            end = begins + len(line.rstrip())
    if end > start:
        yield start, end


def is_running(line: str) -> bool:
    """True if one line looks like running text, however short: no code, item, table or formula."""
    content = line.strip()
    if not content or line[:_INDENT].isspace() or line[0] == "\t":
        return False
    if content[0] == "|" or _ITEM.match(line) or _COLUMNS.search(content):
        return False
    plain = _QUOTED.sub("x", content)
    signs = sum(character in _SIGNS for character in plain)
    letters = sum(character.isalpha() for character in plain)
    spaces = plain.count(" ")
    return signs <= MOST_SIGNS * len(plain) and letters >= LEAST_LETTERS * (len(plain) - spaces)
