"""Days in answers, in the forms people write them."""

from __future__ import annotations

import calendar
from collections.abc import Callable
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.prompts import DateIs, GoldenPrompt, missing_facts
from monitor.prompts.dates import MONTHS, dates, holds_date
from monitor.prompts.text import normalise

MOON = date(1969, 7, 20)
DAYS = st.dates(min_value=date(1000, 1, 1), max_value=date(9999, 12, 31))
ZH = "〇一二三四五六七八九"


def month(day: date) -> str:
    return calendar.month_name[day.month]


def short(day: date) -> str:
    return calendar.month_abbr[day.month]


def ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}th" if number in {11, 12, 13} else f"{number}{ending}"


def two_digits_in_chinese(number: int) -> str:
    tens, ones = divmod(number, 10)
    return ("" if tens == 0 else "十" if tens == 1 else f"{ZH[tens]}十") + (
        ZH[ones] if ones else ""
    )


def chinese(day: date) -> str:
    year = "".join(ZH[int(digit)] for digit in str(day.year))
    return f"{year}年{two_digits_in_chinese(day.month)}月{two_digits_in_chinese(day.day)}日"


def wide(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "0" <= c <= "9" else c for c in text)


# Every form has one reading, whatever the day.
FORMS: dict[str, Callable[[date], str]] = {
    "iso": lambda d: d.isoformat(),
    "iso with a time": lambda d: f"{d.isoformat()}T20:17:40Z",
    "slashes": lambda d: f"{d.year}/{d.month}/{d.day}",
    "full stops": lambda d: f"{d.year}.{d.month:02}.{d.day:02}",
    "long dash": lambda d: f"{d.year}\u2013{d.month:02}\u2013{d.day:02}",
    "day first": lambda d: f"{d.day} {month(d)} {d.year}",
    "day first, short": lambda d: f"{d.day} {short(d)} {d.year}",
    "day first, hyphens": lambda d: f"{d.day:02}-{short(d)}-{d.year}",
    "day of month": lambda d: f"the {ordinal(d.day)} of {month(d)}, {d.year}",
    "month first": lambda d: f"{month(d)} {d.day}, {d.year}",
    "month first, plain": lambda d: f"{month(d)} {d.day} {d.year}",
    "month first, short": lambda d: f"{short(d)}. {d.day}, {d.year}",
    "month first, ordinal": lambda d: f"{month(d)} {ordinal(d.day)}, {d.year}",
    "month of a year": lambda d: f"{month(d).upper()} {d.day} of {d.year}",
    "year first": lambda d: f"{d.year} {month(d)} {d.day}",
    "with a weekday": lambda d: (
        f"on {calendar.day_name[d.weekday()]}, {month(d)} {d.day}, {d.year}"
    ),
    "bold": lambda d: f"It was **{month(d)} {d.day}, {d.year}**.",
    "chinese": lambda d: f"{d.year}年{d.month}月{d.day}日",
    "chinese, other sign": lambda d: f"是在{d.year}年{d.month}月{d.day}号举行的",
    "chinese, spaces": lambda d: f"{d.year} 年 {d.month} 月 {d.day} 日",
    "chinese, wide": lambda d: wide(f"{d.year}年{d.month:02}月{d.day:02}日"),
    "chinese numerals": chinese,
    "german numbers": lambda d: f"{d.day:02}.{d.month:02}.{d.year}",
    "german numbers, spaces": lambda d: f"{d.day}. {d.month}. {d.year}",
}


def found(text: str, language: str = "en") -> set[date]:
    return {day for day, _ in dates(normalise(text), language)}


@pytest.mark.parametrize("form", FORMS)
@given(day=DAYS, language=st.sampled_from(["en", "en-US", "zh", "de"]))
def test_a_day_is_read_as_it_was_written(form: str, day: date, language: str) -> None:
    assert found(FORMS[form](day), language) == {day}


@pytest.mark.parametrize("form", FORMS)
@given(day=DAYS, off=st.integers(-800, 800).filter(bool))
def test_another_day_is_not_found(form: str, day: date, off: int) -> None:
    try:
        other = day + timedelta(days=off)
    except OverflowError:
        return
    assert not holds_date(normalise(FORMS[form](other)), day, "en")


@pytest.mark.parametrize("language", MONTHS)
@pytest.mark.parametrize("form", ["{day} {month} {year}", "{day}. {month} {year}",
                                  "{day} de {month} de {year}"])  # fmt: skip
@given(day=DAYS)
def test_months_of_the_prompts_language(language: str, form: str, day: date) -> None:
    name = MONTHS[language].split()[day.month - 1]
    text = form.format(day=day.day, month=name.capitalize(), year=day.year)
    assert found(text, language) == {day}


@pytest.mark.parametrize(
    ("text", "language", "day"),
    [
        ("20 août 1969", "fr", date(1969, 8, 20)),
        ("le 1er août 1969", "fr", date(1969, 8, 1)),
        ("am 3. März 1969", "de", date(1969, 3, 3)),
        ("1º de março de 1969", "pt-BR", date(1969, 3, 1)),
    ],
)
def test_accents_and_ordinals_of_other_languages(text: str, language: str, day: date) -> None:
    assert found(text, language) == {day}
    assert found(text, "en") == set()


@pytest.mark.parametrize(
    "words", ["twentieth of July 1969", "the twentieth of July, 1969", "July twentieth, 1969"]
)
def test_ordinals_in_words(words: str) -> None:
    assert found(words) == {MOON}
    assert found(words.replace("twentieth", "twenty-first")) == {MOON + timedelta(days=1)}


@pytest.mark.parametrize(
    ("text", "language", "day"),
    [
        ("07/06/1969", "en", None),
        ("07/06/1969", "zh", None),
        ("07/06/1969", "en-US", date(1969, 7, 6)),
        ("07/06/1969", "en-GB", date(1969, 6, 7)),
        ("07-06-1969", "fr", date(1969, 6, 7)),
        ("07.06.1969", "en-US", date(1969, 6, 7)),
        ("07/20/1969", "en", MOON),
        ("20/07/1969", "en", MOON),
        ("20/07/1969", "en-US", MOON),
        ("07/20/1969", "de", MOON),
        ("07/07/1969", "en", date(1969, 7, 7)),
    ],
)
def test_numbers_with_the_year_last(text: str, language: str, day: date | None) -> None:
    assert found(text, language) == ({day} if day else set())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1969",
        "July 1969",
        "July 20",
        "20 July 69",
        "07/20/69",
        "31 June 1969",
        "1969-02-30",
        "1969-07-200",
        "11969-07-20",
        "1969-07-20-4",
        "5.20.07.1969",
        "July 20, 19690",
        "July 200, 1969",
        "120 July 1969",
        "1969年7月",
        "1969年7月201日",
        "20 Maybe 1969",
        "20 Juli 1969",
        "0000-00-00",
        "三十三年",
        "民国五十八年七月二十日",
    ],
)
def test_what_is_no_day(text: str) -> None:
    assert found(text) == set()


def test_the_year_of_another_day_is_not_borrowed() -> None:
    assert found("In 1968, July 20, 1970") == {date(1970, 7, 20)}
    assert found("1968年7月20日和1970年7月21日") == {date(1968, 7, 20), date(1970, 7, 21)}
    assert found("18, 19 and 20 July 1969") == {MOON}


@pytest.mark.parametrize(
    ("text", "met"),
    [
        ("not July 20, 1969", False),
        ("It was not on July 20, 1969.", False),
        ("不是1969年7月20日", False),
        ("rather than on 1969-07-20", False),
        ("not July 21, but July 20, 1969", True),
        ("not July 20, 1969? Yes, July 20, 1969.", True),
        ("是不是1969年7月20日", True),
    ],
)
def test_a_day_that_is_denied_does_not_count(text: str, *, met: bool) -> None:
    assert holds_date(normalise(text), MOON, "en") is met


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    assert all(isinstance(day, date) for day in found(text))


@given(st.text(alphabet="0123456789-/. 年月日号一二十廿正julymarthsof,()", max_size=200))
def test_no_signs_break_the_reader(text: str) -> None:
    assert all(isinstance(day, date) for day in found(text, "fr"))


@pytest.mark.parametrize("text", ["1" * 20_000, "20 july " * 2_500, "1-" * 10_000, "一" * 20_000,
                                  "july the " * 2_000, "twenty-" * 2_500])  # fmt: skip
def test_long_texts_hold_no_day(text: str) -> None:
    assert found(text) == set()


def test_a_golden_prompt_expects_a_day() -> None:
    prompt = GoldenPrompt(
        suite="dates",
        id="moon",
        language="en",
        prompt="?",
        expectations=(DateIs(day=MOON),),
        max_output_tokens=48,
    )
    assert missing_facts(prompt, "bafot-gitiz-lusab-dunor\nOn 20 July 1969.") == ()
    assert missing_facts(prompt, "On 21 July 1969.") == ("fact 1 of 1 (a date) not found",)
