"""One score a stream and trial, and which trials give none."""

from __future__ import annotations

import pytest

from monitor.model import Lane, Outcome
from monitor.watching import scores_of
from tests.builders import an_exchange
from tests.unit.watching.building import judged, key_of, verdict_of


def of(letters: str, **trial: object) -> dict[Lane, tuple[int, int]]:
    scores = scores_of(*judged(letters, **trial), age=7)
    return {score.key.lane: (score.failed, score.of) for score in scores}


def test_the_exchanges_of_a_trial_are_one_score() -> None:
    assert of("gghtt", probe="tenant") == {Lane.HARD: (1, 5), Lane.TOLERATED: (2, 5)}
    assert of("ggh") == {Lane.HARD: (1, 3), Lane.TOLERATED: (0, 3), Lane.TREND: (1, 3)}


def test_an_exchange_that_failed_to_answer_is_no_part_of_the_score() -> None:
    assert of("gte", probe="tenant") == {Lane.HARD: (0, 2), Lane.TOLERATED: (1, 2)}


def test_the_age_is_that_of_the_first_exchange_that_counts() -> None:
    scores = scores_of(*judged("egg"), age=7)
    assert {score.age for score in scores} == {8}


@pytest.mark.parametrize(("letter", "outcome"), [("e", Outcome.ERROR), ("i", Outcome.INVALID)])
def test_a_trial_without_any_valid_exchange_lost_the_score_of_each_stream(
    letter: str, outcome: Outcome
) -> None:
    scores = scores_of(*judged(letter * 2), age=0)
    assert {score.lost for score in scores} == {outcome}
    assert {score.key for score in scores} == {
        key_of(Lane.HARD),
        key_of(Lane.TOLERATED),
        key_of(Lane.TREND),
    }


def test_a_border_input_without_an_answer_is_lost_to_first_tokens() -> None:
    trial, _ = judged("e", probe="border")
    trial = type(trial)(
        **{name: getattr(trial, name) for name in trial.__dataclass_fields__}
        | {"exchanges": (an_exchange(border_input="Say a word."),)}
    )
    lanes = {s.key.lane for s in scores_of(trial, verdict_of(trial, "e", []), age=0)}
    assert lanes == {Lane.HARD, Lane.TOLERATED, Lane.FIRST_TOKEN}


@pytest.mark.parametrize("letters", ["gh", "ee"])
def test_what_is_not_scheduled_says_nothing(letters: str) -> None:
    assert of(letters, scheduled=False) == {}
    assert of(letters, scheduled=False, confirms="F-1") == {}
