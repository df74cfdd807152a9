"""Text of others is harmless: nothing hidden, nothing that turns the line, nothing endless."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from monitor.weekly.methods import METHODS
from monitor.weekly.tables import tables_of
from monitor.weekly.text import MOST_CHARACTERS, MOST_OF_OURS, harmless, visible
from tests.unit.weekly.samples import a_report

_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


@given(st.text(max_size=700))
def test_nothing_hidden_is_left(text: str) -> None:
    shown = visible(text)
    assert not [c for c in shown if unicodedata.category(c) in _HIDDEN]
    assert len(shown) < 10 * MOST_CHARACTERS


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=MOST_CHARACTERS))
def test_what_is_plain_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


def test_what_turns_the_line_is_written_out() -> None:
    assert visible("a\u202egnp.exe\u2066\x1b[31m") == "a[U+202E]gnp.exe[U+2066][U+001B][31m"


def test_stacked_marks_are_written_out_and_two_are_not() -> None:
    assert visible("e\u0301\u0302") == "e\u0301\u0302"
    assert visible("e" + "\u0301" * 4) == "e\u0301\u0301[U+0301][U+0301]"


def test_what_is_cut_off_is_said() -> None:
    assert visible("x" * 501) == "x" * 500 + "[and 1 more characters]"


def test_every_text_of_a_report_is_made_harmless() -> None:
    for table in tables_of(harmless(a_report("a\u202eb"))):
        for row in table.rows:
            for value in row:
                for text in value if isinstance(value, tuple) else (value,):
                    assert not isinstance(text, str) or "\u202e" not in text
    shown = [row for table in tables_of(harmless(a_report("a\u202eb"))) for row in table.rows]
    assert any("a[U+202E]b" in row for row in shown)


def test_what_we_say_ourselves_is_told_to_its_end() -> None:
    assert max(len(row.method) for row in METHODS) > MOST_CHARACTERS, "else this shows nothing"
    assert harmless(a_report(methods=METHODS)).methods == METHODS
    long = "w" * MOST_OF_OURS
    shown = harmless(a_report(long))
    for row in (shown.not_looked_at[0], shown.targets[0]):
        assert row.why == long
    assert (shown.not_looked_at[0].where, shown.objectives[0].counted) == (long, long)
    assert "more characters" in shown.changes[0].now, "texts of others are still cut"
