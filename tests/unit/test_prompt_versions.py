"""The version of a golden prompt tells whether it is the same question with the same answer."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import date
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from monitor.prompts import (
    AllOf,
    AnyOf,
    DateIs,
    GoldenPrompt,
    JsonHolds,
    ListHas,
    NoneOf,
    NumberIs,
    PatternFits,
)

# Few values, so that two draws are often the same; some that are easily mistaken for another.
WORDS = st.sampled_from(["Paris", "paris", "Paris ", "42", "[]", '"', "巴黎", "\ud83d"])
SOME = st.lists(WORDS, min_size=1, max_size=2).map(tuple)
NUMBERS = st.sampled_from([Decimal(42), Decimal("42.0"), Decimal("4.2"), Decimal(420)])
EXPECTATIONS = st.one_of(
    st.builds(AnyOf, strings=SOME),
    st.builds(AllOf, fragments=SOME),
    st.builds(NoneOf, strings=SOME),
    st.builds(NumberIs, value=NUMBERS, tolerance=NUMBERS, units=SOME | st.just(())),
    st.builds(DateIs, day=st.sampled_from([date(1969, 7, 20), date(1970, 1, 2)])),
    st.builds(ListHas, items=st.integers(3, 4)),
    st.builds(JsonHolds, values=st.sampled_from(['{"a": 1}', '{"a": "1"}'])),
    st.builds(PatternFits, regex=WORDS),
)
PROMPTS = st.builds(
    GoldenPrompt,
    suite=st.sampled_from(["facts", "dates"]),
    id=st.sampled_from(["a", "b"]),
    language=st.sampled_from(["en", "zh"]),
    prompt=WORDS,
    expectations=st.lists(EXPECTATIONS, min_size=1, max_size=2).map(tuple),
    max_output_tokens=st.sampled_from([16, 32]),
    structure=st.sampled_from(["text", "json", "code"]),
    tags=st.just(()) | SOME,
    references=st.just(()) | SOME,
    code_language=st.sampled_from(["", "go"]),
)
EDITS: dict[str, st.SearchStrategy[Any]] = {
    "prompt": WORDS,
    "expectations": st.lists(EXPECTATIONS, min_size=1, max_size=2).map(tuple),
    "references": st.just(()) | SOME,
    "language": st.sampled_from(["en", "zh"]),
    "max_output_tokens": st.sampled_from([16, 32]),
}


def content(prompt: GoldenPrompt) -> object:
    """Return all that is asked and expected; 42 and 42.0 are one number."""
    kinds = [type(one).__name__ for one in prompt.expectations]
    return kinds, asdict(replace(prompt, tags=()))


@given(PROMPTS, PROMPTS)
def test_the_same_content_has_the_same_version_and_no_other_has(
    one: GoldenPrompt, other: GoldenPrompt
) -> None:
    assert (one.version == other.version) is (content(one) == content(other))
    assert replace(one, tags=("new",)).version == one.version == replace(one).version


@given(PROMPTS, st.sampled_from(sorted(EDITS)), st.data())
def test_any_edit_of_question_or_answer_changes_it(
    prompt: GoldenPrompt, field: str, data: st.DataObject
) -> None:
    edited = replace(prompt, **{field: data.draw(EDITS[field])})
    assert (edited.version != prompt.version) is (content(edited) != content(prompt))
