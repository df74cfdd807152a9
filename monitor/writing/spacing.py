"""Words that stand together without the spaces between them, in Latin letters."""

from __future__ import annotations

import re
from collections.abc import Iterator

from monitor.writing.scripts import script

# In prose of 60 languages hardly a word is as long; where the spaces are lost most are.
LONG_WORD = 16
LEAST_LETTERS = 40
LEAST_SHARE = 0.3
# Prose has four or five letters to a space, German seven.
LETTERS_A_SPACE = 25
# Sequences of DNA have four letters, those of proteins are in capitals.
LEAST_DIFFERENT = 8

_FENCED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]{1,200}`", re.DOTALL)
_LETTERS = re.compile(r"[^\W\d_]+")
# Such signs make a word a path, an address, a formula, a name in code or a piece of base64.
_SIGNS = re.compile(r"[/\\_@=&%#<>{}\[\]|+$^~\"]|\w\(")
# Where names in code are put together: ThreadPoolExecutor. It parts sentences and names as well.
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def run_together(text: str, given: str = "") -> int:
    """Return how many letters stand in words that were run together; 0 if the text has spaces.

    Counted are Latin words of 16 letters and more: three of ten letters stand in such, and either
    they have 40 letters, or the text has, and hardly a space. What stands in code, in an address,
    or as a word in ``given`` does not count. O(n).
    """
    bare = _FENCED.sub(" ", text)
    letters = sum(map(str.isalpha, bare))
    long = [word for word in _words(bare) if len(word) >= LONG_WORD]
    if not long or letters < LEAST_LETTERS:
        return 0
    known = set(_words(given))
    glued = sum(len(word) for word in long if word not in known and _is_glued(word))
    is_spaced = bare.count(" ") * LETTERS_A_SPACE >= letters
    least = LEAST_LETTERS if is_spaced else LONG_WORD
    return glued if glued >= max(least, LEAST_SHARE * letters) else 0


def _words(text: str) -> Iterator[str]:
    for piece in text.split():
        if not _SIGNS.search(piece):
            for word in _LETTERS.findall(piece):
                yield from _HUMP.split(word)


def _is_glued(word: str) -> bool:
    if word.isupper() or len(set(word.casefold())) < LEAST_DIFFERENT:
        return False
    return word.isascii() or all(script(letter) in ("LATIN", "") for letter in set(word))
