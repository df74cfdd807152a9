"""Something found in a folded text, with what stands around it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from monitor.scoring.pii.folding import PIECE_MARK

# How far a word may stand from the number it names: "phone", in a sentence or a table's head.
WORDS_BEFORE, WORDS_AFTER = 48, 24

# One point among digits is a measurement; a date, and maybe the hour, is no number either.
FRACTION_OR_DATE = re.compile(r"\d+\.\d+|(?:19|20)\d\d([-/.])\d{1,2}\1\d{1,2}(?: \d\d?)?")
# A number goes on beyond these: decimals, paths, versions, hexadecimal, sums and their results;
# not beyond the end of a line, before which `$` would stop.
_NUMBER_BEFORE = re.compile(
    r"(?:[A-Za-z0-9_%&#/+*^\\-]|[A-Za-z0-9_][.,]|[+*/\u00d7\u00f7^] |[0-9)] ?[=≈] ?)\Z"
)
_NUMBER_AFTER = re.compile(r"[A-Za-z0-9_%*^]|[.,/+-][A-Za-z0-9]| ?[+*/\u00d7\u00f7^=] ?[0-9(]")


@dataclass(frozen=True, slots=True)
class Found:
    """A half-open place of a folded text, and the kind it may be."""

    kind: str
    text: str
    start: int
    end: int

    @property
    def value(self) -> str:
        """What was found."""
        return self.text[self.start : self.end]

    def before(self, characters: int) -> str:
        """Return what stands in front, within the piece of text it belongs to."""
        found = self.text[max(0, self.start - characters) : self.start]
        return found.rpartition(PIECE_MARK)[2]

    def after(self, characters: int) -> str:
        """Return what follows, within the piece of text it belongs to."""
        return self.text[self.end : self.end + characters].partition(PIECE_MARK)[0]

    def beside(self, words: re.Pattern[str], *, slack: int = 0) -> bool:
        """True if one of the words stands close by, or a little further with some ``slack``.

        Underscores are spaces, as in names of variables.
        """
        around = f"{self.before(WORDS_BEFORE + slack)} {self.after(WORDS_AFTER + slack)}"
        return words.search(around.replace("_", " ").casefold()) is not None

    def is_whole_number(self) -> bool:
        """True if it is no part of a longer number, word, path or formula."""
        if _NUMBER_BEFORE.search(self.before(4)) or FRACTION_OR_DATE.fullmatch(self.value):
            return False
        return _NUMBER_AFTER.match(self.after(4)) is None
