"""A stream as it is kept: the same to the last digit, or refused."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.model import Lane
from monitor.store.rows import DetectorStateRow
from monitor.watching import Standing
from monitor.watching.kept import row_of, standing_of
from tests.builders import NOW
from tests.unit.watching.building import a_book, key_of
from tests.unit.watching.test_book import feed, trials_of

CHECKS = "7"


def kept(trials: list[str], lane: Lane = Lane.HARD) -> tuple[Standing, DetectorStateRow]:
    book = a_book()
    feed(book, trials)
    found = next(s for s in book.standings({"glm"}) if s.key == key_of(lane))
    return found, row_of(found, CHECKS, NOW)


@given(trials_of, st.sampled_from([Lane.HARD, Lane.TOLERATED, Lane.TREND]))
@settings(deadline=None)
def test_it_comes_back_as_it_was(trials: list[str], lane: Lane) -> None:
    before, row = kept(trials, lane)
    after = standing_of(row, CHECKS)
    assert after == replace(before, asked=False, not_watched=None, changed_at=row.changed_at)


def test_the_row_says_the_same_in_columns() -> None:
    standing, row = kept(["h", "g", "h", "g", "h"])
    assert (row.target, row.probe, row.detector) == ("glm", "canary", "hard")
    assert (row.version, row.alarmed_at) == (5, standing.alarmed_at)
    assert row.evidence == standing.watch.value
    assert row.threshold == standing.watch.thresholds.ticket


def test_other_checks_are_another_question() -> None:
    before, row = kept(["t"] * 7 + ["g"], Lane.TOLERATED)
    after = standing_of(row, "8")
    assert after.watch.value == 0
    assert after.watch.alarm == before.watch.alarm


def changed(row: DetectorStateRow, **fields: object) -> DetectorStateRow:
    return replace(row, state=json.dumps(json.loads(row.state) | fields))


@pytest.mark.parametrize(
    "damage",
    [
        lambda row: replace(row, state=""),
        lambda row: replace(row, state=row.state[:-1]),
        lambda row: replace(row, state="[]"),
        lambda row: replace(row, state="[" * 100_000),
        lambda row: replace(row, detector="unknown"),
        lambda row: replace(row, detector="trend"),
        lambda row: replace(row, alarmed_at=None),
        lambda row: changed(row, version=2),
        lambda row: changed(row, failed_at=[]),
        lambda row: changed(row, failed_at=[-1] * 8),
        lambda row: changed(row, failed_at=["x"] * 8),
        lambda row: changed(row, held_by="somebody"),
        lambda row: changed(row, sent=-1),
        lambda row: changed(row, watch={}),
        lambda row: changed(row, extra=1),
        lambda row: replace(row, state=row.state.replace('"scored":9', '"scored":3')),
        lambda row: replace(row, state=row.state.replace('"y0":0.1', '"y0":NaN')),
    ],
)
def test_what_was_damaged_is_refused(damage: object) -> None:
    _, row = kept(["t"] * 8 + ["g"], Lane.TOLERATED)
    assert standing_of(row, CHECKS).watch.alarm
    with pytest.raises(ValueError):  # noqa: PT011 - any of them, and nothing else
        standing_of(damage(row), CHECKS)


@given(st.text(max_size=200))
def test_no_text_is_taken_for_a_state(text: str) -> None:
    _, row = kept(["g"])
    with pytest.raises(ValueError):  # noqa: PT011
        standing_of(replace(row, state=text), CHECKS)
