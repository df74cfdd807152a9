"""The book: every stream as the pure watch would have it, whatever comes in between."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.conventions.streams import NotWatched
from monitor.detect.watch import Tier, Watch, begin, limited, step, unscored
from monitor.model import Lane, Outcome
from monitor.watching import Book, Standing, scores_a_day, scores_of
from tests.builders import NOW
from tests.unit.watching.building import PLAN, Y0, a_book, a_fleet, held_to, judged, key_of

HARD, TOLERATED, TREND = (key_of(lane) for lane in (Lane.HARD, Lane.TOLERATED, Lane.TREND))


def feed(book: Book, trials: Sequence[str], *, start: int = 0, target: str = "glm") -> None:
    """Give a book the trials, one a minute, of exchanges whose ages go on."""
    for number, letters in enumerate(trials, start):
        trial, verdict = judged(letters, number=number, target=target)
        book.take(scores_of(trial, verdict, age=3 * number), verdict.decided_at)


def standing(book: Book, key: object = HARD) -> Standing:
    return next(each for each in book.standings({"glm"}) if each.key == key)


def by_hand(lane: Lane, trials: Sequence[str]) -> Watch:
    """Return the pure watch of a lane after these trials."""
    limits = a_fleet("glm").thresholds(key_of(lane))
    watch = begin(Y0[lane], limits, by_age=lane is Lane.TREND)
    failing = {Lane.HARD: "h", Lane.TOLERATED: "t", Lane.TREND: "ht"}[lane]
    for number, letters in enumerate(trials):
        valid = [letter for letter in letters if letter in "ght"]
        if not valid:
            lost = Outcome.ERROR if letters[0] == "e" else Outcome.INVALID
            watch = unscored(watch, lost)
            continue
        first = next(place for place, letter in enumerate(letters) if letter in "ght")
        age = 3 * number + first if lane is Lane.TREND else None
        failed = sum(letter in failing for letter in valid)
        watch = step(watch, failed, Y0[lane], of=len(valid), age=age)
    return watch


trials_of = st.lists(st.text("ggggghtei", min_size=1, max_size=3), max_size=60)


@given(trials_of, st.integers(0, 60))
@settings(deadline=None)
def test_the_book_is_the_pure_watch_fed_by_hand(trials: list[str], broken_off: int) -> None:
    book = a_book()
    feed(book, trials[:broken_off])
    book = a_book(*book.standings({"glm"}))
    feed(book, trials[broken_off:], start=broken_off)
    for key in (HARD, TOLERATED, TREND):
        assert standing(book, key).watch == by_hand(key.lane, trials)


def test_an_alarm_says_when_it_was_raised_and_when_it_began() -> None:
    book = a_book()
    feed(book, ["g"] * 50 + ["h"] * 8)
    alarmed = standing(book)
    assert alarmed.watch.alarm
    assert alarmed.onset_at == NOW + timedelta(minutes=50)
    assert alarmed.alarmed_at == NOW + timedelta(minutes=alarmed.watch.alarm.raised - 1)


def test_a_page_follows_the_ticket_and_clean_trials_end_it() -> None:
    book = a_book()
    feed(book, ["t"] * 7)
    assert standing(book, TOLERATED).watch.alarm.tier is Tier.PAGE
    needed = standing(book, TOLERATED).watch.clean_needed
    feed(book, ["g"] * (needed - 1), start=7)
    assert standing(book, TOLERATED).watch.alarm
    feed(book, ["g"], start=7 + needed)
    over = standing(book, TOLERATED)
    assert (over.watch.alarm, over.alarmed_at, over.onset_at) == (None, None, None)
    assert (over.watch.tickets, over.watch.pages) == (1, 1)


def test_what_one_trial_did_is_told() -> None:
    book = a_book()
    told = []
    for number in range(7):
        trial, verdict = judged("t", number=number)
        moves = book.take(scores_of(trial, verdict, age=number), verdict.decided_at)
        raised = [(m.after.key.lane, m.after.watch.alarm) for m in moves if m.raised]
        told += [(number + 1, lane, alarm.tier.name) for lane, alarm in raised]
    assert told == [
        (5, Lane.TOLERATED, "TICKET"),
        (5, Lane.TREND, "TICKET"),
        (6, Lane.TOLERATED, "PAGE"),
    ]


def test_an_outage_changes_nothing_but_the_valid_share() -> None:
    book = a_book()
    feed(book, ["g"] * 10 + ["h"])
    before = standing(book).watch
    feed(book, ["e"] * 22 + ["i"] * 11, start=11)
    after = standing(book).watch
    assert after.value == before.value
    assert (after.scored, after.errors, after.invalid) == (11, 22, 11)
    assert after.valid_share == pytest.approx(0.25)


def test_evidence_keeps_its_part_of_the_way_when_plans_change() -> None:
    book = a_book()
    feed(book, ["h", "g"])
    before = standing(book).watch
    book.plan("glm", scores_a_day("glm", {key: 5 * a_day for key, a_day in PLAN.items()}))
    after = standing(book).watch
    assert after.thresholds.page == pytest.approx(5 * before.thresholds.page)
    assert after.value / after.thresholds.page == pytest.approx(
        before.value / before.thresholds.page
    )
    assert after == limited(before, after.thresholds)


def test_another_tolerance_begins_anew_and_leaves_the_alarm() -> None:
    rates = dict(Y0)
    book = Book(a_fleet("glm"), held_to(rates))
    feed(book, ["t"] * 8 + ["g"])
    assert standing(book, TOLERATED).watch.alarm
    rates[Lane.TOLERATED] = 0.2
    moved = standing(book, TOLERATED).watch
    assert (moved.y0, moved.value) == (0.2, 0.0)
    assert moved.alarm


def test_a_stream_of_which_so_much_is_tolerated_is_shown_and_takes_no_score() -> None:
    book = Book(a_fleet("glm"), held_to(Y0 | {Lane.TOLERATED: None}))
    feed(book, ["t"] * 20)
    unwatched = standing(book, TOLERATED)
    assert unwatched.not_watched is NotWatched.TOLERANCE
    assert unwatched.watch.scored == 0
    assert standing(book).not_watched is None


def test_an_alarm_is_over_once_so_much_is_tolerated_that_nobody_watches() -> None:
    rates = dict(Y0)
    book = Book(a_fleet("glm"), held_to(rates))
    feed(book, ["t"] * 7)
    alarmed = standing(book, TOLERATED)
    assert alarmed.watch.alarm
    rates[Lane.TOLERATED] = None
    shown = standing(book, TOLERATED)
    assert (shown.watch.alarm, shown.alarmed_at, shown.onset_at) == (None, None, None)
    assert shown.not_watched is NotWatched.TOLERANCE
    told = []
    for number in (7, 8):
        trial, verdict = judged("t", number=number)
        moves = book.take(scores_of(trial, verdict, age=number), verdict.decided_at)
        told += [move for move in moves if move.after.key == TOLERATED]
    (move,) = told
    assert (move.resolved, move.raised) == (True, False)
    assert move.after.version == alarmed.version + 1
    assert move.after.watch.scored == 7
    rates[Lane.TOLERATED] = Y0[Lane.TOLERATED]
    assert standing(book, TOLERATED).watch.alarm is None


def test_a_stratum_that_no_plan_has_is_scored_and_never_alarms() -> None:
    book = a_book()
    for number in range(40):
        trial, verdict = judged("h", number=number, probe="burst", stratum="s")
        book.take(scores_of(trial, verdict, age=0), verdict.decided_at)
    found = standing(book, key_of(Lane.HARD, "burst", "s"))
    assert found.not_watched is NotWatched.NOT_PLANNED
    assert (found.watch.scored, found.watch.alarm) == (40, None)


def test_a_weight_of_nothing_is_shown() -> None:
    book = a_book(weights=[{"probe": "canary", "weight": 0}])
    feed(book, ["h"] * 20)
    assert standing(book).not_watched is NotWatched.WEIGHT
    assert standing(book).watch.alarm is None


def test_before_everything_is_planned_what_was_known_goes_on() -> None:
    book = a_book(targets=("glm", "other"))
    feed(book, ["h", "g", "h"])
    known = book.standings({"glm"})
    fleet = a_fleet("glm")
    fleet._awaited = {"other"}
    waiting = Book(fleet, held_to(), known)
    feed(book, ["g", "h"], start=3)
    feed(waiting, ["g", "h"], start=3)
    assert standing(waiting).watch == standing(book).watch


def test_every_planned_stream_is_shown_before_its_first_score() -> None:
    standings = a_book().standings({"glm"})
    assert {each.key for each in standings} == set(a_fleet("glm").streams())
    assert {each.version for each in standings} == {0}


def test_versions_only_grow() -> None:
    book = a_book()
    feed(book, ["g", "h", "e", "g"])
    assert standing(book).version == 4
    later = a_book(replace(standing(book), version=9))
    feed(later, ["g"], start=4)
    assert standing(later).version == 10


def test_threads_lose_no_score() -> None:
    book = a_book()
    threads = [threading.Thread(target=feed, args=(book, ["g"] * 100)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert standing(book).watch.scored == 400


def test_the_evidence_of_two_targets_is_apart() -> None:
    book = a_book(targets=("glm", "other"))
    feed(book, ["h"] * 8, target="other")
    assert standing(book).watch.scored == 0
    assert any(each.watch.pages for each in book.standings({"other"}))
