"""Prose is told from what is not, and every place is one of the text."""

# ruff: noqa: RUF001 - look-alikes of other scripts are what is tested

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.writing.prose import prose, prose_of

PARAGRAPH = (
    "The morning train left the old station on time, and a green boat waited by the pier.\n"
    "Two dogs ran across the field behind the mill while the baker put out six warm loaves."
)
NOT_PROSE = {
    "code": "def left(train):\n    return train.left and train.time == station.time\n",
    "fenced": f"```\n{PARAGRAPH}\n```",
    "a fence that is not closed": f"```text\n{PARAGRAPH}",
    "json": json.dumps({"train": PARAGRAPH, "stations": ["old", "new"] * 4}),
    "table": "| train | station | left |\n|---|---|---|\n| the morning one | the old one | yes |",
    "columns": "name of train      station      departure\nthe morning one   old one      nine",
    "list": "- the morning train of the old station\n- the evening train of the new station",
    "numbered": "1. the morning train of the old station\n2. the evening train of the new station",
    "one a line": "apple\nbanana\ncherry\ndate\nfig\ngrape\nmelon\nolive\npear\nplum",
    "figures": "12 14 18 22 31 42 51 62 71 82 91 12 31 44 51 61 17",
    "session": ">>> train.left(station.old)\n>>> boat.waits(pier.long)",
    "indented": "    the morning train left the old station on time and then some more words",
    "a heading": "The morning train",
}


@pytest.mark.parametrize("text", NOT_PROSE.values(), ids=NOT_PROSE)
def test_what_is_no_prose(text: str) -> None:
    assert prose(text) == []


@pytest.mark.parametrize("text", NOT_PROSE.values(), ids=NOT_PROSE)
def test_prose_is_found_beside_it(text: str) -> None:
    assert prose_of(f"{PARAGRAPH}\n\n{text}") == PARAGRAPH


def test_names_in_backticks_make_no_code() -> None:
    text = "The function `train.left(station=None)` returns whether the train `t[0]` has left it."
    assert prose_of(text) == text


def test_chinese_is_prose_too() -> None:
    text = "列车准时离开了老车站，船在长长的木码头旁等待，直到雨停了。"
    text += "然后大家都走路回家，第二天早上面包师在柜台上放了面包。"
    assert prose_of(text) == text


@given(st.text(max_size=500) | st.text(alphabet="ab `\n-|~.{", max_size=500))
def test_places_are_in_order_and_within(text: str) -> None:
    places = prose(text)
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert all(before[1] <= after[0] for before, after in pairwise(places))
