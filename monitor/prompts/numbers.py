"""Looking for a number in normalised text.

A number is what a reader would call one: 42 is not in 1420, 42.5, 4/2, 12:42, 1.42.3,
x^42 or B42; 1,234 and 1 234 and 1'234 are one thousand two hundred and thirty-four.
"""

import re
from collections.abc import Iterator
from decimal import Decimal

from monitor.prompts.record import NumberIs
from monitor.prompts.text import contains, normalise

_NUMBER = re.compile(
    r"""
    (?<![a-z0-9.^\u2044])(?<![0-9][:/])
    (?P<sign> (?<![)\]])-(?=[.0-9]) | (?<![0-9]\ )(?:minus|negative)\  | 负 )?
    (?P<digits> (?>
        [0-9]{1,3} (?:[,'_\ ][0-9]{3})+ (?![0-9]) (?:\.[0-9]{1,40})?
      | [0-9]{1,40} (?:\.[0-9]{1,40})?
      | \.[0-9]{1,40}
    ) )
    (?P<exponent> e[+-]?[0-9]{1,2} (?![a-z0-9]) )?
    (?! [0-9] | [.:/\u2044][0-9] | [a-z]+[0-9] )
    (?P<scale> \ ?(?:(?:thousand|million|billion|trillion)(?![a-z])
                   |百万|千万|百(?!分)|千(?![克米瓦焦帕赫卡字])|万|亿) )?
    """,
    re.VERBOSE,
)
_SCALES = {
    "": 0,
    "百": 2,
    "千": 3,
    "thousand": 3,
    "万": 4,
    "百万": 6,
    "million": 6,
    "千万": 7,
    "亿": 8,
    "billion": 9,
    "trillion": 12,
}
_LONGEST_UNIT = 40


def holds_number(text: str, wanted: NumberIs) -> bool:
    """Whether the normalised text holds the wanted number, with a unit if units are given."""
    return any(
        abs(value - wanted.value) <= wanted.tolerance and _has_unit(text[end:], wanted.units)
        for value, end in _numbers(text)
    )


def _numbers(text: str) -> Iterator[tuple[Decimal, int]]:
    """Yield each number with the place where it ends."""
    for found in _NUMBER.finditer(text):
        digits = re.sub("[,'_ ]", "", found["digits"])
        value = Decimal(digits + (found["exponent"] or ""))
        value = value.scaleb(_SCALES[(found["scale"] or "").strip()])
        yield (-value if found["sign"] else value), found.end()


def _has_unit(rest: str, units: tuple[str, ...]) -> bool:
    if not units:
        return True
    rest = rest.lstrip(" -")[:_LONGEST_UNIT]
    return any(rest.startswith(unit) and contains(rest, unit) for unit in map(normalise, units))
