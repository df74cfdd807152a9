r"""Looking for a day in normalised text, in the forms people write one.

Understood: 1969-07-20 and other numbers with the year first; 20 July 1969, 20th of July, 1969,
July 20th, 1969, 20-Jul-1969, the twentieth of July 1969, 1969 July 20; the same with the months
of the prompt's language (`MONTHS`); 1969年7月20日, also in Chinese numerals; 20.07.1969.

Numbers with the year last have two readings: 07/06/1969 is the 6th of July in the United States
and the 7th of June in most of the world. One that is no day is dropped (20/07/1969); full stops
are always day first; else the language's custom decides, and where it has none, as plain English
has not, such a number is no day at all. Not understood: years of two digits, eras and calendars
other than the Gregorian, 19690720, a day whose year stands in another sentence.
"""

# ruff: noqa: RUF001, SIM905 (Chinese signs are meant; tables of words read best as text)
from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from monitor.prompts.text import denied

_ENGLISH = (
    "january february march april may june july august september october november december"
).split()
# Without accents, as text is normalised. English names are understood in every language.
MONTHS = {
    "de": "januar februar marz april mai juni juli august september oktober november dezember",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre "
    "diciembre",
    "fr": "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre "
    "dicembre",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "pt": "janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro "
    "dezembro",
}
# Who writes numbers with the year last in one order only (Unicode CLDR, short date formats).
_DAY_FIRST = frozenset(("de", "es", "fr", "it", "nl", "pt"))
_DAY_FIRST_ENGLISH = frozenset(f"en-{land}" for land in ("gb", "ie", "au", "nz", "in"))
_MONTH_FIRST = frozenset(("en-us",))

_ONES = "first second third fourth fifth sixth seventh eighth ninth".split()
_ORDINALS = [
    *_ONES,
    *"tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth".split(),
    *"eighteenth nineteenth twentieth".split(),
    *(f"twenty {one}" for one in _ONES),
    "thirtieth",
    "thirty first",
]
_DIGITS = {sign: number for number, sign in enumerate("〇一二三四五六七八九")} | {"零": 0}
_ZH = "[〇零一二三四五六七八九]"

_YEAR = r"(?P<y>[1-9][0-9]{3})(?![0-9a-z])"
_WORD = "|".join(sorted((one.replace(" ", "[ -]") for one in _ORDINALS), key=len, reverse=True))
_DAY = rf"(?P<d>[0-9]{{1,2}}(?![0-9])|(?:{_WORD})(?![a-z]))(?:st|nd|rd|th|er|o|a)?(?![a-z0-9])"
_BEFORE = r"(?<![0-9a-z])(?<![0-9][-/.,])"
_NUMERIC = re.compile(
    _BEFORE + r"(?P<a>[0-9]{1,4})(?P<sign> ?[-/.] ?)(?P<b>[0-9]{1,2})(?P=sign)"
    r"(?P<c>[0-9]{1,4})(?![0-9])(?![-/.][0-9])"
)
_CHINESE = re.compile(
    rf"(?<![0-9〇零一二三四五六七八九])(?P<y>[1-9][0-9]{{3}}|{_ZH}{{4}}) ?[年년] ?"
    r"(?P<m>[0-9]{1,2}|[一二三四五六七八九十]{1,2}|正) ?[月월] ?"
    r"(?P<d>[0-9]{1,2}|[一二三四五六七八九十廿]{1,3})(?![0-9]) ?[日号號일]?"
)


def holds_date(text: str, wanted: date, language: str) -> bool:
    """Whether the normalised text gives the wanted day, at least once not right behind a "not"."""
    return any(day == wanted and not denied(text, start) for day, start in dates(text, language))


def dates(text: str, language: str) -> Iterator[tuple[date, int]]:
    """Yield each day that the normalised text gives, and where; what has two readings is none."""
    months = _names(language)
    for pattern in _named(months):
        for found in pattern.finditer(text):
            day = found["d"]
            number = int(day) if day.isdigit() else _ORDINALS.index(day.replace("-", " ")) + 1
            yield from _real(int(found["y"]), months[found["m"]], number, found.start())
    for found in _NUMERIC.finditer(text):
        yield from _numeric(found, language.lower())
    for found in _CHINESE.finditer(text):
        year, month, day = (_number(found[part]) for part in "ymd")
        yield from _real(year, month, day, found.start())


def _names(language: str) -> dict[str, int]:
    names = {name: month for month, name in enumerate(_ENGLISH, 1)}
    names |= {name[:3]: month for name, month in names.items()} | {"sept": 9}
    own = MONTHS.get(language.lower().split("-")[0], "").split()
    return names | {name: month for month, name in enumerate(own, 1)}


def _named(months: dict[str, int]) -> tuple[re.Pattern[str], ...]:
    """Return the patterns of days with a named month; `re` keeps what it compiled."""
    names = "|".join(sorted(months, key=len, reverse=True))
    month = rf"(?P<m>{names})(?![a-z])\.?"
    of = r"(?:(?:of|de|del|di|in) )?"
    return (
        re.compile(rf"{_BEFORE}{_DAY}[.,]?[ /-]?{of}{month},?[ /-]?{of}\(?{_YEAR}"),
        re.compile(rf"(?<![a-z0-9]){month}[ /-]?(?:the )?{_DAY},?[ /-]?{of}\(?{_YEAR}"),
        re.compile(rf"{_BEFORE}{_YEAR},?[ /-]{month}[ /-]?(?:the )?{_DAY}(?!,? ?[0-9])"),
    )


def _numeric(found: re.Match[str], language: str) -> Iterator[tuple[date, int]]:
    first, second, third = found["a"], int(found["b"]), found["c"]
    if len(first) == 4 and len(third) <= 2:  # noqa: PLR2004 - a year has four digits
        yield from _real(int(first), second, int(third), found.start())
    elif len(first) <= 2 and len(third) == 4:  # noqa: PLR2004
        day_first = list(_real(int(third), second, int(first), found.start()))
        month_first = list(_real(int(third), int(first), second, found.start()))
        if "." in found["sign"] or day_first == month_first or not month_first:
            yield from day_first
        elif not day_first or language in _MONTH_FIRST:
            yield from month_first
        elif language[:2] in _DAY_FIRST or language in _DAY_FIRST_ENGLISH:
            yield from day_first


def _real(year: int, month: int, day: int, start: int) -> Iterator[tuple[date, int]]:
    """Yield the day if the calendar has it."""
    try:
        yield date(year, month, day), start
    except ValueError:
        return


def _number(text: str) -> int:
    """Return what digits or Chinese numerals up to 39 say; a year's are said one by one."""
    if text.isascii():
        return int(text)
    if text == "正":
        return 1
    text = text.replace("廿", "二十")
    if "十" not in text:
        return int("".join(str(_DIGITS[sign]) for sign in text)) if text[1:2] else _DIGITS[text]
    tens, _, ones = text.partition("十")
    if len(tens) > 1 or len(ones) > 1 or "十" in ones:
        return 0
    return 10 * _DIGITS.get(tens, 1) + _DIGITS.get(ones, 0)
