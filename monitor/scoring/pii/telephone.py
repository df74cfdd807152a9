"""Telephone numbers: valid by the numbering plan, and written like one or called one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from monitor.scoring.pii.folding import digits, is_made_up
from monitor.scoring.pii.found import FRACTION_OR_DATE, Found
from monitor.scoring.pii.languages import Language
from monitor.scoring.pii.published import SAMPLE_PHONES

if TYPE_CHECKING:
    from phonenumbers import PhoneNumber

# Digits in groups, as people write them; what is glued to letters is no number of anybody's.
CANDIDATE = re.compile(r"(?<![A-Za-z0-9_])(?:\+|\(\+?)?\d(?:[ .()/-]{0,2}\d){6,17}(?![A-Za-z0-9_])")
# A run of digits and separators longer than this is a table.
_MOST_NATIONAL_DIGITS = 12
# Fewer are pages, years and sums unless a word calls them a number.
_CLEAR_DIGITS = 10

# Set aside for films and books: NANP 555-01xx (and all of 555), Ofcom's drama numbers, ACMA's.
_FICTION = re.compile(
    r"1\d{3}555\d{4}|44(?:20794608|2079460|11[3-8]4960|1[24][0-9]1?4960|1632960|7700900|8081570"
    r"|9098790|3069990)\d{2,4}|61[2378](?:5550|7010)\d{4}|61491570\d{3}"
)
_MOBILE = re.compile(r"1[3-9]\d[ -]\d{4}[ -]\d{4}")
_CHINA = 86


class Telephone:
    """Vouches for numbers of the regions of the configured languages, and international ones."""

    def __init__(self, languages: Sequence[Language]) -> None:
        self._by_words = [(re.compile(each.telephone), each.regions) for each in languages]
        self._words = re.compile("|".join(each.telephone for each in languages))

    @property
    def regions(self) -> tuple[str, ...]:
        """The regions whose national numbers are known, by ISO 3166-1."""
        return tuple(dict.fromkeys(r for _, regions in self._by_words for r in regions))

    def is_worth_reading(self, found: Found) -> bool:
        """Say whether a candidate, or a part of it, is written like a number or called one."""
        value = found.value
        clear = len(digits(value)) >= _CLEAR_DIGITS and re.search(r"[()+-]", value)
        return bool(clear) or bool(_MOBILE.search(value)) or found.beside(self._words)

    def __call__(self, found: Found) -> bool:
        """Say whether a valid number of a person or household is written in a clear way.

        Numbers that cost nothing or extra are hotlines; those set aside for films are nobody's.
        Where two plans have the number, that of the words close by decides.
        """
        value = found.value
        if not _stands_alone(found) or is_made_up(digits(value)):
            return False
        if value.lstrip("(").startswith("+"):
            number = _read(value, None)
            clear = len(digits(value)) >= _CLEAR_DIGITS or found.beside(self._words)
            return number is not None and clear and _is_somebodys(number)
        if len(digits(value)) > _MOST_NATIONAL_DIGITS:
            return False
        return self._is_national(found)

    def _is_national(self, found: Found) -> bool:
        readings = [
            (words, number)
            for words, regions in self._by_words
            for region in regions
            if (number := _read(found.value, region)) is not None
        ]
        formatted = [each for each in readings if _is_formatted(found.value, each[1])]
        if not formatted and not found.beside(self._words):
            return False
        chosen = formatted or readings
        if not all(_is_somebodys(number) for _, number in chosen):
            chosen = [each for each in chosen if found.beside(each[0])]
        return any(_is_somebodys(number) for _, number in chosen)


def _read(value: str, region: str | None) -> PhoneNumber | None:
    """Return the number by a region's plan, if it is valid there."""
    from phonenumbers import NumberParseException, is_valid_number, parse

    try:
        number = parse(value, region)
    except NumberParseException:
        return None
    return number if is_valid_number(number) else None


def _is_formatted(value: str, number: PhoneNumber) -> bool:
    """True if it is grouped as the plan says, with more than spaces; a Chinese mobile with any."""
    if _MOBILE.fullmatch(value):
        return number.country_code == _CHINA
    marked = len(digits(value)) >= _CLEAR_DIGITS and re.search(r"[()-]", value)
    return bool(marked) and _groups(value) == _national_groups(number)


def _stands_alone(found: Found) -> bool:
    before = found.before(2)
    if re.search(r"(?:[A-Za-z0-9_%#&*/^=\\-]|\d[.,:])\Z", before) or FRACTION_OR_DATE.fullmatch(
        found.value
    ):
        return False
    return re.match(r"[A-Za-z0-9_%*^]|[.,:/-]\d", found.after(2)) is None


def _groups(value: str) -> tuple[int, ...]:
    return tuple(len(group) for group in re.findall(r"\d+", value))


def _national_groups(number: PhoneNumber) -> tuple[int, ...]:
    from phonenumbers import PhoneNumberFormat, format_number

    return _groups(format_number(number, PhoneNumberFormat.NATIONAL))


def _is_somebodys(number: PhoneNumber) -> bool:
    from phonenumbers import PhoneNumberType as Kind
    from phonenumbers import number_type

    whole = f"{number.country_code}{number.national_number}"
    if whole in SAMPLE_PHONES or is_made_up(whole) or _FICTION.fullmatch(whole):
        return False
    return number_type(number) in (
        Kind.FIXED_LINE,
        Kind.MOBILE,
        Kind.FIXED_LINE_OR_MOBILE,
        Kind.VOIP,
        Kind.PERSONAL_NUMBER,
    )
