r"""A small regular-expression language whose cost is known before it runs.

Patterns come from people, answers from models, and Python's `re` backtracks, so a pattern
is accepted only if it is valid RE2 as well (no look-around, no back-references, no flags)
and the number of ways to match it is bounded. Allowed: literals, `.`, classes, `\d \w \s`
and their opposites, groups, `|`, and the repeats `? * + {n} {n,m}`.
"""

import re
import warnings
from dataclasses import dataclass

MAX_PATTERN = 200  # characters
MAX_BODY = 300  # characters a pattern is tried on; a longer answer does not fit
_MAX_WAYS = 100_000_000
_REPEAT = re.compile(r"\?|\*|\+|\{(\d{1,3})(,?)(\d{0,3})\}")
_CLASS_ESCAPES = frozenset("dDwWsS")


class PatternError(ValueError):
    """The pattern is not of the small language; the message says why."""


def check_pattern(regex: str) -> None:
    """Raise `PatternError` unless the pattern is safe to run on any answer."""
    if len(regex) > MAX_PATTERN:
        raise PatternError(f"longer than {MAX_PATTERN} characters")
    reader = _Reader(regex)
    ways = reader.alternatives()
    if reader.at < len(regex):
        raise PatternError("unbalanced ')'")
    if ways > _MAX_WAYS:
        raise PatternError("too many ways to match: repeat fewer things, or a single class")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(regex)
    except (re.error, FutureWarning, DeprecationWarning) as error:
        raise PatternError(str(error)) from error


def fits(body: str, regex: str) -> bool:
    """Whether the whole body fits the (checked) pattern."""
    return len(body) <= MAX_BODY and re.fullmatch(regex, body) is not None


@dataclass(slots=True)
class _Reader:
    """Recursive descent; each method returns in how many ways its part can match."""

    regex: str
    at: int = 0

    def alternatives(self) -> int:
        ways = self._sequence()
        while self._peek() == "|":
            self.at += 1
            ways += self._sequence()
        return ways

    def _sequence(self) -> int:
        ways = 1
        while self._peek() not in {"", "|", ")"}:
            ways = _capped(ways * self._repeated(self._atom()))
        return ways

    def _atom(self) -> int:
        char = self._take()
        if char == "(":
            return self._group()
        if char == "[":
            self._class()
        elif char == "\\":
            self._escape()
        elif char in "*+?{":
            raise PatternError(f"'{char}' repeats nothing; write '\\{char}' for the character")
        return 1

    def _group(self) -> int:
        if self.regex.startswith("?:", self.at):
            self.at += 2
        elif self._peek() == "?":
            raise PatternError("'(?' starts a look-around, flag or name; only '(?:' is allowed")
        ways = self.alternatives()
        if self._take() != ")":
            raise PatternError("unbalanced '('")
        return ways

    def _class(self) -> None:
        if self._peek() == "^":
            self.at += 1
        if self._peek() == "]":
            raise PatternError("empty class '[]'")
        while (char := self._take()) != "]":
            if char == "":
                raise PatternError("unbalanced '['")
            if char == "[":
                raise PatternError("'[' in a class must be written '\\['")
            if char == "\\":
                self._escape()

    def _escape(self) -> None:
        char = self._take()
        if not char or (char.isalnum() and char not in _CLASS_ESCAPES and char != "n"):
            raise PatternError(f"'\\{char}' is not allowed; use \\d \\w \\s or an escaped sign")

    def _repeated(self, ways: int) -> int:
        repeat = _REPEAT.match(self.regex, self.at)
        if repeat is None:
            return ways
        self.at = repeat.end()
        if self._peek() in {"?", "+", "*", "{"}:
            raise PatternError("a repeat of a repeat; only one of ? * + {n,m} may follow")
        least, most = _bounds(repeat)
        return _capped(_capped(ways**most) * (most - least + 1))

    def _peek(self) -> str:
        return self.regex[self.at : self.at + 1]

    def _take(self) -> str:
        char = self._peek()
        self.at += 1
        return char


def _bounds(repeat: re.Match[str]) -> tuple[int, int]:
    if repeat[0] == "?":
        return 0, 1
    if repeat[0] in {"*", "+"}:
        return 0, MAX_BODY
    least = int(repeat[1])
    most = int(repeat[3] or (MAX_BODY if repeat[2] else least))
    if not least <= most <= MAX_BODY:
        raise PatternError(f"'{repeat[0]}' must count up, to at most {MAX_BODY}")
    return least, most


def _capped(ways: int) -> int:
    return min(ways, _MAX_WAYS + 1)
