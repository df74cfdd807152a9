"""FINISH, USAGE_OUT: reasoning takes room, however it is counted."""

import pytest

from tests.builders import Bench, an_exchange, failures


def judged(text: str, reasoning: str, *, finish_reason: str, **usage: int) -> set[tuple[str, str]]:
    response = {"reasoning_text": reasoning, "finish_reason": finish_reason}
    exchange = an_exchange("What is 6 x 7?", text, response=response, usage=usage)
    return failures(Bench().judge(exchange))


@pytest.mark.parametrize(
    ("reasoning", "usage"),
    [
        ("", {"output_tokens": 10, "reasoning_tokens": 54}),
        ("Hm.", {"output_tokens": 10}),
        ("Hm.", {"output_tokens": 64, "reasoning_tokens": 54}),
    ],
    ids=["beside", "uncounted", "among"],
)
def test_room_that_reasoning_took_is_not_missing(reasoning, usage) -> None:
    assert judged("It is", reasoning, finish_reason="length", **usage) == set()


def test_room_that_nothing_took_is_missing() -> None:
    found = judged("It is", "", finish_reason="length", output_tokens=10)
    assert found == {("FINISH", "length_too_early")}


def test_a_limit_may_hold_for_the_answer_alone() -> None:
    assert judged("It is 42.", "Hm.", finish_reason="stop", output_tokens=300) == set()
    found = judged("It is 42.", "", finish_reason="stop", output_tokens=300)
    assert found == {("USAGE_OUT", "over_maximum")}
