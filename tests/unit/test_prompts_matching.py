"""The matcher: what counts as the fact, and what only looks like it."""

import unicodedata
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.prompts import (
    AllOf,
    AnyOf,
    Expectation,
    GoldenPrompt,
    JsonHolds,
    NoneOf,
    NumberIs,
    PatternFits,
    missing_facts,
)
from monitor.prompts.text import normalise

GROUPS = st.from_regex(
    r"[bdfghjklmnprstvz][aiou][bdfghjklmnprstvz][aiou][bdfghjklmnprstvz]", fullmatch=True
)
CODES = st.lists(GROUPS, min_size=4, max_size=4).map("-".join)
WHOLE_NUMBERS = st.integers(min_value=0, max_value=10**12)
EVERY_KIND: tuple[Expectation, ...] = (
    AnyOf(strings=("Paris", "北京", "7")),
    NoneOf(strings=("Lyon",)),
    NumberIs(value=Decimal(42), units=("km", "°C")),
    JsonHolds(values='{"a": [1, {"b": null}], "c": "x", "d": 1.5}'),
    PatternFits(regex=r"(?:A|B)[a-z]{1,20} \d+\.?"),
)


def prompt_expecting(*expectations: Expectation) -> GoldenPrompt:
    return GoldenPrompt(
        suite="facts",
        id="one",
        language="en",
        prompt="?",
        expectations=expectations,
        max_output_tokens=48,
    )


def meets(answer: str, expectation: Expectation) -> bool:
    return missing_facts(prompt_expecting(expectation), answer) == ()


def wide(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ("Paris", "Paris"),
        ("PARIS.", "paris"),
        ("It is **Paris**, of course", "Paris"),
        ("_Paris_", "Paris"),
        ("\uff30\uff41\uff52\uff49\uff53", "Paris"),
        ("Par\u00adis", "Paris"),
        ("答案是Paris。", "Paris"),
        ("中国的首都是北京市。", "北京"),
        ("Brasilia", "Brasília"),
        ("Brasi\u0301lia", "Brasília"),
        ("Leonardo  da\u00a0Vinci", "da Vinci"),
        ("O\u2019Brien", "O'Brien"),
        ("H₂O", "H2O"),
        ("legs: 8", "8"),
        ("一共8条", "8"),
        ("8.", "8"),
        ("Is it STRASSE?", "straße"),
    ],
)
def test_any_finds(answer: str, wanted: str) -> None:
    assert meets(answer, AnyOf(strings=("absent", wanted)))


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ("", "Paris"),
        ("Parisian", "Paris"),
        ("the author", "Au"),
        ("beau", "Au"),
        ("18", "8"),
        ("8.5 or 1,8", "8"),
        ("8:30 or 1/8", "8"),
        ("8000", "8"),
        ("8th", "8"),
        ("京北", "北京"),
        ("10²", "102"),
    ],
)
def test_any_does_not_find(answer: str, wanted: str) -> None:
    assert not meets(answer, AnyOf(strings=(wanted,)))


def test_none_is_broken_by_a_whole_word_only() -> None:
    assert meets("Lyonnaise", NoneOf(strings=("Lyon",)))
    assert not meets("Paris or lyon", NoneOf(strings=("Rome", "Lyon")))


def test_all_wants_every_fragment_in_any_order() -> None:
    wanted = AllOf(fragments=("red", "green", "blue"))

    assert meets("Blue, green and RED", wanted)
    assert not meets("red, green, bluish", wanted)
    assert missing_facts(prompt_expecting(wanted), "red") == (
        "fact 1 of 1 (all of 3 strings) lacks 2",
    )


@pytest.mark.parametrize(
    ("answer", "met"),
    [
        ("It is not Paris.", False),
        ("It isn't in Paris", False),
        ("It was never called Paris.", False),
        ("**not** Paris", False),
        ("Lyon rather than Paris", False),
        ("instead of Paris", False),
        ("不是Paris", False),
        ("并非“Paris”", False),
        ("It is Paris, not Lyon.", True),
        ("not Lyon but Paris", True),
        ("not Paris? Paris.", True),
        ("是不是Paris", True),
        ("knot Paris", True),
        # Not understood, and said so in golden_prompts/README.md.
        ("It is false that it is Paris.", True),
        ("Paris is not the capital.", True),
    ],
)
def test_what_is_denied_right_before_does_not_count(answer: str, *, met: bool) -> None:
    assert meets(answer, AnyOf(strings=("Paris",))) is met
    assert meets(answer, AllOf(fragments=("Paris",))) is met
    assert meets(answer, NoneOf(strings=("Paris",))) is not met


def test_a_word_in_the_shape_of_a_code_may_stand_before_the_code() -> None:
    for answer in ("Paris\nbafot-gitiz-lusab-dunor", "Venus bafot-gitiz-lusab-dunor"):
        assert meets(answer, AnyOf(strings=("Paris", "Venus")))
    assert not meets("bafot gitiz lusab dunor", AnyOf(strings=("bafot", "dunor")))


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("42", "42"),
        ("It is 42.", "42"),
        ("\uff14\uff12", "42"),
        ("17+25=42", "42"),
        (r"$\boxed{42}$", "42"),
        ("42km", "42"),
        ("the 42nd", "42"),
        ("42.0", "42"),
        ("一共42个", "42"),
        ("1, 2 and 42", "42"),
        ("1,2,42", "42"),
        ("1,234", "1234"),
        ("1 234 567", "1234567"),
        ("1\u202f234", "1234"),
        ("1'234.50", "1234.5"),
        ("\uff11\uff0c\uff12\uff13\uff14", "1234"),
        ("\u22123", "-3"),
        ("-3", "-3"),
        ("5 - 8 = -3", "-3"),
        ("minus 3", "-3"),
        ("负3", "-3"),
        ("10-3", "3"),
        ("3 million", "3000000"),
        ("3万", "30000"),
        ("5千克", "5"),
        ("1e5", "100000"),
        (".5", "0.5"),
        ("٤٢", "42"),
        ("15\n200", "15"),
    ],
)
def test_number_finds(answer: str, value: str) -> None:
    assert meets(answer, NumberIs(value=Decimal(value)))


@pytest.mark.parametrize(
    "answer",
    [
        "", "1420", "142", "420", "42.5", "1.42", "1.42.3", "42/7", "7/42", "12:42", "42:12",
        "42,000", "1,042", "42 000", "x^42", "10⁴²", "B42", "-42", "minus 42", "42 million",
        "42万", "0x42", "42e3", "\uff14\uff12\uff10",
    ],
)  # fmt: skip
def test_number_does_not_find_42(answer: str) -> None:
    assert not meets(answer, NumberIs(value=Decimal(42)))


@pytest.mark.parametrize(
    ("answer", "met"),
    [
        ("100 km", True),
        ("100km", True),
        ("100-kilometre", True),
        ("about 99.6 KM", True),
        ("100", False),
        ("100 kmh", False),
        ("100 miles", False),
        ("102 km", False),
        ("100 miles, 100 km", True),
    ],
)
def test_number_with_tolerance_and_units(answer: str, *, met: bool) -> None:
    wanted = NumberIs(value=Decimal(100), tolerance=Decimal("0.5"), units=("km", "kilometre"))

    assert meets(answer, wanted) is met


@pytest.mark.parametrize(
    ("answer", "met"),
    [
        ('{"a": 1, "b": ["x", null]}', True),
        ('```json\n{"a": 1.0, "b": ["X", null], "more": true}\n```', True),
        ('bafot-gitiz-lusab-dunor\n{"a": 1, "b": ["x", null]} done', True),
        ('{"ref": "bafot-gitiz-lusab-dunor", "a": 1, "b": ["x", null]}', True),
        ('{broken {"a": 1, "b": ["x", null]}', True),
        ('{"a": "1", "b": ["x", null]}', False),
        ('{"a": true, "b": ["x", null]}', False),
        ('{"a": 1, "b": ["x"]}', False),
        ('{"a": 1, "b": [null, "x"]}', False),
        ("{'a': 1, 'b': ['x', null]}", False),
        ('{"a": NaN, "b": ["x", null]}', False),
        ('{"a": 1, "b": ["x", null]', False),
        ('{"a":' * 100_000, False),
        ('{"a":' + "[" * 15_000, False),
        ('{"a": ' + "9" * 6_000 + "}", False),
        ('{"a": 1e999999999999999999999}', False),
    ],
)
def test_json(answer: str, *, met: bool) -> None:
    assert meets(answer, JsonHolds(values='{"a": 1, "b": ["x", null]}')) is met


@pytest.mark.parametrize(
    ("answer", "met"),
    [
        ("BLUE", True),
        (" BLUE.\n", True),
        ("**BLUE**", True),
        ('"BLUE"', True),
        ("Answer: BLUE", True),
        ("bafot-gitiz-lusab-dunor BLUE", True),
        ("BLUE (reference code: bafot-gitiz-lusab-dunor)", True),
        ("The code is `bafot-gitiz-lusab-dunor`.\n\nBLUE", True),
        ("参考码bafot-gitiz-lusab-dunor\uff0cBLUE", True),
        ("bafot-gitiz-lusab-tunor BLUE", True),
        ("bafot-gitiz-lusab-dunor: BLUE", True),
        ("<bafot-gitiz-lusab-dunor> BLUE", True),
        ("bafot-gitiz-lusab-dunor | BLUE", True),
        ("BLUE - bafot-gitiz-lusab-dunor", True),
        ("Blue", False),
        ("BLUE is the answer", False),
        ("BLUE\nBLUE", False),
        ("Colour:12: BLUE", False),
        ("bafot-gitiz-lusab-dunor", False),
        ("BLUE" + " " * 400 + "x", False),
    ],
)
def test_pattern_fits_the_whole_answer_beside_the_code(answer: str, *, met: bool) -> None:
    assert meets(answer, PatternFits(regex=r"BLUE\.?")) is met


@pytest.mark.parametrize(
    "answer",
    [
        "2020\u201103\u201105",
        "2020\u201303\u201305.",
        "2020\u221203\u221205",
        "\ufeff2020-03-05\u200b",
        "bafot\u2011gitiz\u2011lusab\u2011dunor\n2020\u201103\u201105",
    ],
    ids=ascii,
)
def test_signs_that_look_alike_fit_a_pattern_as_they_meet_other_facts(answer: str) -> None:
    assert meets(answer, PatternFits(regex=r"2020-03-05\.?"))
    assert not meets(answer.replace("5", "6"), PatternFits(regex=r"2020-03-05\.?"))


def test_spaces_are_spaces_and_a_pattern_of_other_signs_still_fits() -> None:
    assert meets("10\u00a0km", PatternFits(regex="10 km"))
    assert meets("10\u201320", PatternFits(regex="10\u201320"))
    assert meets("it\u2019s", PatternFits(regex="it's"))
    assert not meets("BLUE\u2011GREEN", PatternFits(regex="BLUE"))


def test_descriptions_hold_positions_and_counts_only() -> None:
    answer = 'Lyon, 43 km, {"c": "secret"}'

    assert missing_facts(prompt_expecting(*EVERY_KIND), answer) == (
        "fact 1 of 5 (any of 3 strings) not found",
        "fact 2 of 5 (none of 1 string) broken by 1",
        "fact 3 of 5 (a number with its unit) not found",
        "fact 4 of 5 (JSON with 3 values) differ",
        "fact 5 of 5 (a pattern) does not fit",
    )
    assert missing_facts(prompt_expecting(EVERY_KIND[3]), "none") == (
        "fact 1 of 1 (JSON with 3 values) not found: no JSON object",
    )


@given(st.text())
def test_no_text_breaks_the_matcher(answer: str) -> None:
    assert len(missing_facts(prompt_expecting(*EVERY_KIND), answer)) <= len(EVERY_KIND)


@given(st.text(alphabet='{}[]":,.0123456789eE+-^/ \n\\中万负minus^½²'))
def test_no_signs_break_the_matcher(answer: str) -> None:
    assert len(missing_facts(prompt_expecting(*EVERY_KIND), answer)) <= len(EVERY_KIND)


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_case_and_width_do_not_count(text: str) -> None:
    assert normalise(wide(text)) == normalise(text) == normalise(text.upper())


@given(st.text())
def test_unicode_form_does_not_count(text: str) -> None:
    assert normalise(unicodedata.normalize("NFD", text)) == normalise(text)


@given(WHOLE_NUMBERS, st.sampled_from(["{}", "{:,}", "It is {:,}.", "={}", "共{}个", "{} km"]))
def test_a_number_is_found_however_it_is_written(value: int, form: str) -> None:
    wanted = NumberIs(value=Decimal(value))

    assert meets(form.format(value), wanted)
    assert meets(wide(form.format(value)), wanted)
    assert meets(form.format(value).replace(",", " "), wanted)


@given(WHOLE_NUMBERS, WHOLE_NUMBERS, st.sampled_from(["{}", "{:,}", "It is {:,}."]))
def test_only_that_number_is_found(value: int, other: int, form: str) -> None:
    assert meets(form.format(value), NumberIs(value=Decimal(other))) is (value == other)


@given(st.decimals(min_value=-10_000, max_value=10_000, places=3))
def test_a_decimal_is_found_with_its_sign(value: Decimal) -> None:
    assert meets(f"about {value}", NumberIs(value=value))
    assert meets(f"about {value}", NumberIs(value=-value)) is (value == 0)


@given(CODES, st.sampled_from(["any", "number", "json", "pattern"]))
def test_no_code_meets_an_expectation(code: str, kind: str) -> None:
    wanted: dict[str, Expectation] = {
        "any": AnyOf(strings=tuple(code.split("-"))),
        "number": NumberIs(value=Decimal(0), tolerance=Decimal(10**9)),
        "json": JsonHolds(values='{"a": 1}'),
        "pattern": PatternFits(regex="[a-z-]+"),
    }

    assert not meets(code, wanted[kind])
    assert not meets(f"Reference code: {code.upper()}", wanted[kind])


@pytest.mark.parametrize(
    "answer",
    [
        "1. bafot-gitiz-lusab-dunor\n2. LANTERN",
        "1) The reference code is bafot-gitiz-lusab-dunor.\n2) LANTERN",
        "1、参考编号是“bafot-gitiz-lusab-dunor”\n2、 LANTERN",
    ],
)
def test_the_numbers_of_the_two_questions_are_no_part_of_the_answer(answer: str) -> None:
    lantern = GoldenPrompt(
        suite="s",
        id="i",
        language="en",
        prompt="p",
        expectations=(PatternFits(regex="^[A-Z]+$"),),
        max_output_tokens=48,
    )
    two = replace(lantern, expectations=(NumberIs(value=Decimal(2), tolerance=Decimal(0)),))
    assert missing_facts(lantern, answer) == ()
    assert missing_facts(two, answer) != ()
