"""Numbers in answers: in digits as languages write them, in words, in Chinese numerals."""

# ruff: noqa: SIM905 (tables of words read best as text)
from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.prompts import NumberIs
from monitor.prompts.numbers import holds_number, numbers
from monitor.prompts.text import normalise

WHOLE = st.integers(0, 999_999_999_999)
SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
ZH = "零一二三四五六七八九"


def holds(
    text: str, value: int | str, *units: str, language: str = "en", tolerance: str = "0"
) -> bool:
    wanted = NumberIs(value=Decimal(value), tolerance=Decimal(tolerance), units=units)
    return holds_number(normalise(text), wanted, language)


def values(text: str, language: str = "en") -> list[Decimal]:
    return sorted(found.value for found in numbers(normalise(text), language))


def english(number: int) -> str:
    """Spell a number as the Oxford style guide does: two hundred and five thousand and one."""
    if number < 20:
        return SMALL[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return TENS[tens - 2] + (f"-{SMALL[ones]}" if ones else "")
    if number < 1000:
        hundreds, rest = divmod(number, 100)
        return f"{SMALL[hundreds]} hundred" + (f" and {english(rest)}" if rest else "")
    power, name = next(
        (p, n) for p, n in [(9, "billion"), (6, "million"), (3, "thousand")] if number >= 10**p
    )
    many, rest = divmod(number, 10**power)
    joint = " and " if rest < 100 else " "
    return f"{english(many)} {name}" + (f"{joint}{english(rest)}" if rest else "")


def chinese(number: int) -> str:
    """Say a number in Chinese numerals, in sections of four digits."""
    if number == 0:
        return ZH[0]
    for scale, name in ((10**8, "亿"), (10**4, "万")):
        if number >= scale:
            many, rest = divmod(number, scale)
            gap = "零" if rest and rest < scale // 10 else ""
            return chinese(many) + name + (gap + chinese(rest) if rest else "")
    text, gap = "", False
    for unit, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, number = divmod(number, unit)
        if digit:
            text += ("零" if gap and text else "") + ZH[digit] + name
            gap = False
        elif text:
            gap = True
    return text


@given(WHOLE)
def test_english_words_say_their_number(number: int) -> None:
    words = english(number)
    if number != 1:
        assert values(f"The answer is {words}.") == [number]
    assert values(f"It is minus {words}.") == ([-number] if number != 1 else [])
    assert values(words.replace(" and ", " ").upper()) == ([number] if number != 1 else [])


@given(WHOLE.filter(lambda n: n > 10))
def test_chinese_numerals_say_their_number(number: int) -> None:
    said = chinese(number)
    assert values(f"答案是{said}。", "zh") == [number]
    assert values(f"答案是负{said}。", "zh") == [-number]
    if 10 <= number < 20:
        assert values(said.removeprefix("一"), "zh") == [number]


@given(WHOLE, WHOLE)
def test_no_other_number_is_found(number: int, other: int) -> None:
    for text in (english(number), chinese(number), f"{number:,}", str(number)):
        assert not holds(text, other, language="zh") or number == other
        assert not holds(text, other, language="en") or number == other


@given(st.integers(-(10**12), 10**12), st.integers(0, 999))
def test_decimal_commas(whole: int, thousandths: int) -> None:
    value = Decimal(whole) + (Decimal(thousandths) / 1000) * (1 if whole >= 0 else -1)
    english_form = f"{value:,}"
    german = english_form.translate(str.maketrans(",.", ".,"))
    assert values(german, "de") == [value]
    assert values(german.replace(".", " "), "fr") == [value]
    assert values(english_form, "en") == [value]
    assert values(german.replace(".", "'"), "de") == [value]


@pytest.mark.parametrize(
    ("text", "language", "value"),
    [
        ("3,14", "de", "3.14"),
        ("3.14", "de", "3.14"),
        ("1.234", "de", "1234"),
        ("1.234", "en", "1.234"),
        ("1,234", "de", "1.234"),
        ("1,234", "en", "1234"),
        ("1,234", "es-MX", "1234"),
        ("1.234", "es", "1234"),
        ("1'234.5", "de-CH", "1234.5"),
        ("0,5 %", "fr", "0.5"),
        ("two hundred", "en", "200"),
        ("a thousand", "en", "1000"),
        ("a hundred and five", "en", "105"),
        ("twelve hundred", "en", "1200"),
        ("Twenty-one apples are left.", "en", "21"),
        ("2 hundred", "en", "200"),
        ("1.5 million", "en", "1500000"),
        ("3万5千", "zh", "35000"),
        ("3万5", "zh", "35000"),
        ("1亿2000万", "zh", "120000000"),
        ("1.2亿", "zh", "120000000"),
        ("三百万", "zh", "3000000"),
        ("三点一四", "zh", "3.14"),
        ("三点五亿", "zh", "350000000"),
        ("一百二", "zh", "120"),
        ("两千零五", "zh", "2005"),
        ("三万零五十", "zh", "30050"),
        ("一九六九年", "zh", "1969"),
        ("二〇〇八年", "zh", "2008"),
        ("一共\uff13\uff10\uff10元", "zh", "300"),
        ("七天", "zh", "7"),
        ("十二个月", "zh", "12"),
        ("1.二十", "zh", "20"),
        ("5千克", "zh", "5"),
        ("3万", "en", "30000"),
    ],
)
def test_a_number_is_understood(text: str, language: str, value: str) -> None:
    assert holds(text, value, language=language)


@pytest.mark.parametrize(
    ("text", "language", "value"),
    [
        ("one", "en", 1),
        ("no one", "en", 1),
        ("二十一分之三", "zh", 21),
        ("三分之二", "zh", 2),
        ("三角形", "zh", 3),
        ("四川", "zh", 4),
        ("第三个", "zh", 3),
        ("一个", "zh", 1),
        ("七八个", "zh", 7),
        ("七八个", "zh", 78),
        ("万一", "zh", 10000),
        ("千万", "zh", 10000000),
        ("三十多", "zh", 30),
        ("十几个", "zh", 10),
        ("三点十五分", "zh", "3.15"),
        ("三点一刻", "zh", "3.1"),
        ("14点20", "zh", 14),
        ("3万5千", "zh", 30000),
        ("3万5千", "zh", 5000),
        ("一百二十三", "zh", 20),
        ("twenty-first", "en", 20),
        ("two thirds", "en", 2),
        ("two and a half", "en", 2),
        ("two point five", "en", 2),
        ("twenty-five", "en", 5),
        ("nineteen sixty-nine", "en", 69),
        ("one two three", "en", 6),
        ("hundreds", "en", 100),
        ("a hundred thousand", "en", 1000),
        ("seven", "de", 7),
        ("7,5", "de", 7),
        ("7,5", "de", 5),
        ("1.234.567", "en", 234),
        ("not 42", "en", 42),
        ("It isn't 42.", "en", 42),
        ("6 * 7 \u2260 42", "en", 42),
        ("6 * 7 != 42", "en", 42),
        ("不是42", "zh", 42),
        ("不等于四十二", "zh", 42),
    ],
)
def test_a_number_is_not_misunderstood(text: str, language: str, value: int | str) -> None:
    assert not holds(text, value, language=language)


def test_numbers_joined_by_and_are_two_unless_they_make_one() -> None:
    assert values("between twenty and thirty") == [20, 30]
    assert values("two hundred and five") == [205]
    assert values("one hundred and five hundred") == [100, 500]


def test_a_number_that_is_denied_counts_where_it_is_not() -> None:
    assert holds("not 41 but 42", 42)
    assert holds("not 42? It is 42.", 42)


@pytest.mark.parametrize(
    ("text", "met"),
    [
        ("百分之二十五", True),
        ("百分之25", True),
        ("25%", True),
        ("二十五%", True),
        ("二十五", False),
        ("千分之二十五", False),
    ],
)
def test_parts_of_a_hundred(text: str, *, met: bool) -> None:
    assert holds(text, 25, "%", language="zh") is met
    assert holds("百分之百", 100, "%", language="zh")


def test_units_follow_words_and_numerals_too() -> None:
    assert holds("three kilometres", 3, "km", "kilometres")
    assert not holds("three miles", 3, "km")
    assert holds("三公里", 3, "公里", language="zh")
    assert not holds("三角形", 3, "公里", language="zh")
    assert holds("about 99.6 km", 100, "km", tolerance="0.5")


@given(st.text(), st.sampled_from(["en", "zh", "de", "", "xx-yy"]))
def test_no_text_breaks_the_reader(text: str, language: str) -> None:
    assert all(isinstance(value, Decimal) for value in values(text, language))


@given(st.text(alphabet="0123456789.,'零一二十百千万亿两点负分之几 -", max_size=60))
def test_no_numerals_break_the_reader(text: str) -> None:
    assert all(value.is_finite() for value in values(text, "zh"))


@given(
    st.lists(st.sampled_from([*SMALL, *TENS, "hundred", "thousand", "and", "a", "minus"])).map(
        " ".join
    )
)
def test_no_words_break_the_reader(text: str) -> None:
    assert all(value.is_finite() for value in values(text))


@pytest.mark.parametrize(
    "text",
    ["nine " * 4_000, "九" * 20_000, "1," * 10_000, "百分之" * 6_000, "-" * 20_000, "9" * 20_000,
     "a hundred and " * 1_400, "三点" * 10_000, "1.2" * 6_000],
)  # fmt: skip
def test_long_texts_are_read_to_their_end(text: str) -> None:
    assert holds(f"{text}\n42", 42, language="zh")
    assert holds(f"{text}\n42", 42)
