"""Looking for a number in normalised text.

A number is what a reader would call one: 42 is not in 1420, 42.5, 4/2, 12:42, 1.42.3,
x^42 or B42; 1,234 and 1 234 and 1'234 are one thousand two hundred and thirty-four. In languages
that write a decimal comma 1.234,5 is that number and a half. Words count as well: English ones in
English (`number_words`), Chinese numerals everywhere (`numerals`), 百分之五 as 5 %.
"""

# ruff: noqa: RUF001, SIM905 (Chinese signs are meant; tables of words read best as text)
import re
from collections.abc import Iterator
from decimal import Decimal

from monitor.prompts.number_words import Written, in_words
from monitor.prompts.numerals import in_numerals
from monitor.prompts.record import NumberIs
from monitor.prompts.text import contains, denied, normalise

# Where the comma is the decimal sign and the full stop or a space groups (Unicode CLDR). The
# land decides where it differs from its language: es-MX, de-CH.
_DECIMAL_COMMA = frozenset(
    "bg ca cs da de el es et fi fr hr hu id is it lt lv nb nl no pl pt ro ru sk sl sr sv tr uk vi"
    .split()
)  # fmt: skip
_DECIMAL_POINT = frozenset(("de-ch", "de-li", "es-mx", "es-us", "it-ch"))


def _figures(point: str, group: str, no_decimals: str) -> re.Pattern[str]:
    """Return the pattern of numbers in digits with this decimal sign and these between groups."""
    return re.compile(
        rf"""
    (?<![a-z0-9.^\u2044])(?<![0-9][{no_decimals}/点])
    (?P<sign> (?<![)\]])-(?=[.0-9]) | (?<![0-9]\ )(?:minus|negative)\  | 负 )?
    (?> (?P<grouped> [0-9]{{1,3}} (?:[{group}][0-9]{{3}})+ (?![0-9]) (?:{point}[0-9]{{1,40}})? )
      | (?P<plain> [0-9]{{1,40}} (?:[.{point}][0-9]{{1,40}})? | \.[0-9]{{1,40}} ) )
    (?P<exponent> e[+-]?[0-9]{{1,2}} (?![a-z0-9]) )?
    (?! [0-9] | [.{no_decimals}/\u2044点][0-9] | [a-z]+[0-9] )
    (?P<scale> \ ?(?:(?:hundred|thousand|million|billion|trillion)(?![a-z])) )?
    """,
        re.VERBOSE,
    )


_POINT = _figures(r"\.", r",'_\ ", ":")
_COMMA = _figures(",", r".'_\ ", ":,")
_SCALES = {"": 0, "hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_NOT_DIGITS = re.compile(r"[,'_ .]")
_PERCENT = re.compile(
    "([百千])分之([0-9.零〇一二三四五六七八九十百两点]{0,20}[0-9零〇一二三四五六七八九十百两])"
)
_GAP = "\u00b7"
_LONGEST_UNIT = 40
# After one of these a lone numeral is a number, not a part of a word.
_MEASURES = frozenset("个天位名颗种次岁度倍条支只本元块张杯件辆年")


def holds_number(text: str, wanted: NumberIs, language: str = "en") -> bool:
    """Whether the normalised text holds the wanted number, with a unit if units are given.

    One right behind a "not" does not count.
    """
    text = _PERCENT.sub(_percent, text)
    return any(
        abs(number.value - wanted.value) <= wanted.tolerance
        and _is_meant(text, number, wanted.units)
        and not denied(text, number.start)
        for number in numbers(text, language)
    )


def numbers(text: str, language: str) -> Iterator[Written]:
    """Yield each number of the normalised text: in numerals, in words, and in digits."""
    others, end = "", 0
    for number in in_numerals(text):
        yield number
        # The digits of 3万5千 are no numbers of their own.
        others += text[end : number.start] + _GAP * (number.end - number.start)
        end = number.end
    tongue = language.lower().split("-")[0]
    if tongue == "en":
        yield from in_words(text)
    comma = tongue in _DECIMAL_COMMA and language.lower() not in _DECIMAL_POINT
    yield from _in_digits(others + text[end:], _COMMA if comma else _POINT)


def _in_digits(text: str, pattern: re.Pattern[str]) -> Iterator[Written]:
    for found in pattern.finditer(text):
        digits = found["plain"] or found["grouped"]
        if found["grouped"]:
            point = "," if pattern is _COMMA else "."
            whole, _, decimals = digits.partition(point)
            digits = _NOT_DIGITS.sub("", whole) + (f".{decimals}" if decimals else "")
        value = Decimal(digits.replace(",", ".") + (found["exponent"] or ""))
        value = value.scaleb(_SCALES[(found["scale"] or "").strip()])
        yield Written(-value if found["sign"] else value, found.start(), found.end())


def _percent(found: re.Match[str]) -> str:
    return ("100" if found[2] == "百" else found[2]) + ("%" if found[1] == "百" else "\u2030")


def _is_meant(text: str, number: Written, units: tuple[str, ...]) -> bool:
    if not units:
        return not number.bare or text[number.end : number.end + 1] in _MEASURES
    rest = text[number.end : number.end + _LONGEST_UNIT + 2].lstrip(" -")[:_LONGEST_UNIT]
    return any(rest.startswith(unit) and contains(rest, unit) for unit in map(normalise, units))
