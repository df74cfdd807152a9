"""Heads of turns, wherever they stand: found in time, and in no text without a role in it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from monitor.longtext import SENTENCES
from monitor.writing.turns import holds_heads, invented_turn

PROSE = " ".join(SENTENCES)


def test_the_place_is_that_of_the_head() -> None:
    text = f"{PROSE}\nuser\nAnd what about Peru?"
    start, end = invented_turn(text) or (0, 0)
    assert text[start:end] == "user"


def test_a_head_alone_needs_a_sentence_right_below_and_something_before() -> None:
    assert invented_turn(f"{PROSE}\nuser") is None
    assert invented_turn(f"{PROSE}\nuser\nguest\nadmin") is None
    assert invented_turn("user\nAnd what about Peru?") is None
    assert invented_turn(f"{PROSE}\nuser\n\n\nAnd what about Peru?") is not None


def test_what_was_asked_holds_heads() -> None:
    assert holds_heads("Go on:\nUser: And Peru?")
    assert not holds_heads("You are a helpful assistant. Answer the user: be brief.")


@given(st.sampled_from(["\nuser\n{}\nassistant\n{}", "\n\nHuman: {}\n\nAI: {}"]), st.data())
def test_a_turn_behind_any_answer_is_found(shape: str, data: st.DataObject) -> None:
    words = st.lists(st.sampled_from(PROSE.split()), min_size=3, max_size=9).map(" ".join)
    answer, asked, said = (data.draw(words) for _ in range(3))
    assert invented_turn(answer) is None
    assert invented_turn(answer + shape.format(asked, said)) is not None


@given(st.text(max_size=300))
def test_any_text_has_its_place_within_it(text: str) -> None:
    if place := invented_turn(text):
        assert 0 <= place[0] < place[1] <= len(text)


def test_many_heads_are_read_once() -> None:
    assert invented_turn("user\n" * 40_000) is None
    assert invented_turn("so\n" + "assistant:\nuser:\n" * 20_000) is None
