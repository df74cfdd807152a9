"""How characters and words are mixed in a text: what no language and no code looks like."""

from __future__ import annotations

import re
from collections import Counter, deque
from math import log2

# Sliding over every 100 words of 22,500 pieces of documents, docstrings, sources, JSON and markup:
# none has 97 different ones but lists, and prose has at most 91. Text drawn from a vocabulary at
# random has 99 and more.
SALAD_WORDS = 100
SALAD_DIFFERENT = 97
# A list has a comma or a line to every word or two.
_LIST_SEPARATORS = 0.4
_SEPARATORS = ",;\n|\"'/"
_WORD = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+")


def entropy(text: str) -> float:
    """Return the entropy of the characters in bits a character (Shannon 1948); 0 if empty."""
    counts = Counter(text)
    size = len(text)
    return -sum(n / size * log2(n / size) for n in counts.values())


def word_salad(text: str) -> tuple[int, int] | None:
    """Return the place of 100 Latin words of which nearly none comes twice; none if there is none.

    Every text comes back to small words such as *the* and *de*, and to what it is about; words
    drawn at random do not. Lists do not either, so they are left out. Shuffled words of a real
    text come back as they did, and are not seen.
    """
    window: deque[tuple[str, int, int]] = deque()
    counts: Counter[str] = Counter()
    for match in _WORD.finditer(text):
        word = match.group().casefold()
        window.append((word, match.start(), match.end()))
        counts[word] += 1
        if len(window) > SALAD_WORDS:
            gone = window.popleft()[0]
            counts[gone] -= 1
            if not counts[gone]:
                del counts[gone]
        if len(window) == SALAD_WORDS and len(counts) >= SALAD_DIFFERENT:
            place = window[0][1], window[-1][2]
            if not _is_list(text[slice(*place)]):
                return place
    return None


def _is_list(text: str) -> bool:
    return sum(map(text.count, _SEPARATORS)) >= _LIST_SEPARATORS * SALAD_WORDS
