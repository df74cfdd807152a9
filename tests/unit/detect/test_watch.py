"""A stream under watch: evidence as the reference has it, two tiers, latched, over when it is."""

from __future__ import annotations

import importlib.util
import os
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.detect.esr import rate_bets
from monitor.detect.kept import text_of, watch_of
from monitor.detect.trend import ENDS
from monitor.detect.watch import (
    LEAST_CLEAN,
    MISSED,
    REMEMBERED,
    Thresholds,
    Tier,
    Watch,
    begin,
    held_to,
    limited,
    resolved,
    step,
    unscored,
)
from monitor.model import Outcome

BOTH = Thresholds(page=43_200, ticket=3360)
# A file with an independent implementation (class ``ESR``), where there is one.
REFERENCE = os.environ.get("ESR_REFERENCE", "")


def follow(watch: Watch, scores) -> Watch:
    for failed in scores:
        watch = step(watch, bool(failed), watch.y0)
    return watch


class Independent:
    """The same formula on arrays, begun anew by whoever asks."""

    def __init__(self, y0: float) -> None:
        burns = [2.0]
        while burns[-1] * 2 * y0 < 0.9:
            burns.append(burns[-1] * 2)
        self.bets = (np.array([*burns, 0.95 / y0]) - 1) * y0 / (1 - y0)
        self.y0, self.values = y0, np.zeros(len(self.bets))

    def update(self, y: float) -> float:
        self.values = (1 + self.bets * (y / self.y0 - 1)) * (self.values + 1)
        return float(self.values.mean())


@pytest.mark.parametrize("y0", [1e-4, 0.01, 0.12, 0.45])
def test_a_long_stream_has_the_reference_s_evidence_over_alarms_and_restarts(y0: float) -> None:
    rng = Random(int(1 / y0))
    ours, theirs = begin(y0, Thresholds(page=50_000)), Independent(y0)
    raised = 0
    for number in range(4000):
        failed = rng.random() < y0 * (3 if number > 2500 else 1)
        ours = step(ours, failed, y0)
        value = theirs.update(float(failed))
        if failed and value >= 50_000:
            raised += 1
            theirs = Independent(y0)
        elif not failed and ours.evidence.seen == 0:
            theirs = Independent(y0)
        assert ours.pages == raised
        if number % 97 == 0:
            ours = watch_of(text_of(ours))
            assert ours.value == pytest.approx(theirs.values.mean(), rel=1e-9, abs=1e-9)
    assert y0 < 0.01 or raised


if REFERENCE:

    def test_the_reference_itself_agrees_within_a_billionth() -> None:
        spec = importlib.util.spec_from_file_location("esr_reference", REFERENCE)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for seed, y0 in enumerate((1e-4, 0.001, 0.01, 0.1, 0.3)):
            theirs, ours, rng = module.ESR(y0, 1e12), begin(y0, Thresholds()), Random(seed)
            for _ in range(20_000):
                failed = rng.random() < y0
                theirs.update(float(failed))
                ours = step(ours, failed, y0)
            assert watch_of(text_of(ours)).value == pytest.approx(theirs.value(), rel=1e-9)


@given(
    y0=st.sampled_from([0.001, 0.05, 0.4]),
    scores=st.lists(st.booleans(), max_size=200),
    cut=st.integers(0, 200),
    by_age=st.booleans(),
)
def test_a_restart_anywhere_changes_nothing(y0, scores, cut, by_age) -> None:
    limits = Thresholds(page=300, ticket=20)
    through = restarted = begin(y0, limits, by_age=by_age)
    for number, failed in enumerate(scores):
        through = step(through, failed, y0, age=number % 70)
        restarted = step(restarted, failed, y0, age=number % 70)
        if number == cut:
            through = unscored(through, Outcome.ERROR)
            restarted = watch_of(text_of(unscored(restarted, Outcome.ERROR)))
    assert restarted == through
    assert watch_of(text_of(through)) == through


def test_a_ticket_becomes_a_page_in_place_and_both_are_counted_once() -> None:
    watch = begin(0.01, BOTH)
    while watch.alarm is None:
        watch = follow(watch, [0] * 19 + [1])
    ticket = watch
    assert (ticket.tickets, ticket.pages, ticket.alarm.tier) == (1, 0, Tier.TICKET)
    assert ticket.alarm.threshold == 3360 <= ticket.alarm.alarm.value < 43_200
    assert ticket.value == ticket.alarm.alarm.value
    assert ticket.alarm.began == ticket.scored - ticket.alarm.alarm.since + 1 == 20
    assert ticket.alarm.raised == ticket.scored == 20 * ticket.alarm.alarm.bad
    while watch.alarm.tier is Tier.TICKET:
        watch = follow(watch, [0] * 9 + [1])
    assert (watch.tickets, watch.pages) == (1, 1)
    assert (watch.alarm.raised, watch.alarm.began) == (ticket.alarm.raised, ticket.alarm.began)
    assert watch.alarm.threshold == 43_200 <= watch.alarm.alarm.value
    assert watch.alarm.rate <= ticket.alarm.rate
    assert watch.value == 0
    again = follow(watch, [1] * 4)
    assert (again.tickets, again.pages, again.alarm.tier) == (1, 2, Tier.PAGE)
    assert again.alarm.alarm == watch.alarm.alarm
    assert again.alarm.failed == watch.alarm.failed + 4


def test_a_stream_without_pages_counts_its_tickets_and_begins_anew() -> None:
    watch = follow(begin(0.01, Thresholds(ticket=3360)), [0] * 400 + [1, 1, 1])
    assert (watch.tickets, watch.pages, watch.alarm.tier, watch.value) == (1, 0, Tier.TICKET, 0)
    assert follow(watch, [1] * 3).tickets == 2


def test_a_stream_without_thresholds_never_alarms() -> None:
    watch = follow(begin(0.01, Thresholds()), [1] * 300)
    assert (watch.alarm, watch.pages, watch.tickets, watch.clean_needed) == (None, 0, 0, 0)


def expected(watch: Watch, left: int, rate: float) -> tuple[float, float]:
    """Return the expected pages and tickets of so many more scores, over all that may come."""
    if not left:
        return watch.pages, watch.tickets
    pages = tickets = 0.0
    for failed, chance in ((True, rate), (False, 1 - rate)):
        more = expected(step(watch, failed, watch.y0), left - 1, rate)
        pages, tickets = pages + chance * more[0], tickets + chance * more[1]
    return pages, tickets


@pytest.mark.parametrize("y0", [0.1, 0.5])
@pytest.mark.parametrize("limits", [(20, 3), (3, 20), (6, 1), (None, 2), (2, None)], ids=str)
def test_neither_tier_alarms_more_often_than_promised(y0: float, limits) -> None:
    """Exactly, over all ways that nine scores may come, with alarms that are over in between."""
    page, ticket = limits
    pages, tickets = expected(begin(y0, Thresholds(page=page, ticket=ticket)), 9, y0)
    assert pages <= (9 / page if page else 0)
    assert tickets <= (9 / ticket if ticket else 0)
    assert pages + tickets > 0


def test_an_alarm_is_over_after_enough_clean_scores_in_a_row() -> None:
    watch = follow(begin(0.01, BOTH), [0] * 400 + [1, 0, 1, 1])
    needed = watch.clean_needed
    # 3 failures of 4: at least 25 % at 95 % confidence, so that 25 are missed once in a thousand.
    assert watch.alarm.rate == pytest.approx(0.2486, abs=1e-4)
    assert needed == 25
    assert (1 - watch.alarm.rate) ** needed <= MISSED < (1 - watch.alarm.rate) ** (needed - 1)
    almost = follow(watch, [0] * (needed - 1))
    assert almost.alarm.clean == needed - 1
    over = follow(almost, [0])
    assert (over.alarm, over.value, over.pages) == (None, 0, watch.pages)
    broken = follow(almost, [1, 0])
    assert (broken.alarm.clean, broken.alarm.failed) == (1, 1)


def test_a_person_may_say_that_it_is_over() -> None:
    watch = follow(begin(0.01, BOTH), [0] * 400 + [1, 0, 1, 1, 1, 0])
    over = resolved(watch)
    assert (over.alarm, over.value, over.pages) == (None, 0, 1)
    assert (over.scored, over.failures) == (watch.scored, watch.failures)


def test_nobody_must_be_better_than_tolerated_and_a_burst_says_little_of_a_rate() -> None:
    sure = follow(begin(0.45, Thresholds(page=1e6)), [1] * 60)
    assert sure.alarm.rate > 0.8
    assert sure.clean_needed == LEAST_CLEAN
    rare = begin(0.01, Thresholds(page=5000))
    while rare.alarm is None:
        rare = follow(rare, [0] * 45 + [1])
    assert 0.005 < rare.alarm.rate < 0.02
    assert (1 - max(0.01, rare.alarm.rate)) ** rare.clean_needed <= MISSED


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.5, 1.0])
def test_a_fault_that_goes_on_keeps_its_alarm(rate: float) -> None:
    rng = Random(7)
    watch = follow(begin(0.01, BOTH), [0] * 500)
    while watch.alarm is None:
        watch = follow(watch, [rng.random() < rate])
    raised = watch.alarm.raised
    watch = follow(watch, [rng.random() < rate for _ in range(2000)])
    assert (watch.alarm.raised, watch.alarm.tier) == (raised, Tier.PAGE)


def test_what_gave_no_score_is_counted_and_changes_nothing_else() -> None:
    watch = follow(begin(0.01, BOTH), [0] * 400 + [1, 1, 1])
    assert watch.valid_share == 1
    later = watch
    for _ in range(90):
        later = unscored(unscored(later, Outcome.ERROR), Outcome.INVALID)
    assert (later.errors, later.invalid, later.asked) == (90, 90, 583)
    assert later.valid_share == 1 - 180 / REMEMBERED
    assert (later.evidence, later.alarm, later.scored) == (
        watch.evidence,
        watch.alarm,
        watch.scored,
    )
    assert follow(later, [0] * REMEMBERED).valid_share == 1
    assert begin(0.01, BOTH).valid_share is None
    for outcome in (Outcome.GOOD, Outcome.BAD):
        with pytest.raises(ValueError, match="gives a score"):
            unscored(watch, outcome)


@pytest.mark.parametrize("moved", [0.002, 0.05])
def test_another_tolerance_drops_the_evidence_and_keeps_the_alarm(moved: float) -> None:
    gathered = follow(begin(0.01, BOTH), [0] * 400 + [1, 1])
    assert gathered.value > 100
    dropped = step(gathered, failed=0, y0=moved)
    assert dropped.y0 == moved
    assert (dropped.evidence.seen, dropped.value) == (1, pytest.approx(1, rel=0.6))
    assert len(dropped.evidence.values) == len(rate_bets(moved))
    alarmed = held_to(follow(gathered, [1]), moved)
    assert alarmed.alarm == follow(gathered, [1]).alarm
    assert alarmed.value == 0
    assert (1 - max(moved, alarmed.alarm.rate)) ** alarmed.clean_needed <= MISSED


def test_other_thresholds_keep_the_part_of_the_way_that_was_gone() -> None:
    watch = follow(begin(0.01, BOTH), [0] * 400 + [1, 1])
    doubled = limited(watch, Thresholds(page=86_400, ticket=6720))
    assert doubled.value == pytest.approx(2 * watch.value)
    assert doubled.evidence.seen == watch.evidence.seen
    halved = limited(watch, Thresholds(page=21_600, ticket=1680))
    assert halved.value / 21_600 == pytest.approx(watch.value / 43_200)
    # Of tiers that change unequally neither may come nearer than it was.
    uneven = limited(watch, Thresholds(page=86_400, ticket=1680))
    assert uneven.value == pytest.approx(watch.value / 2)
    assert limited(watch, Thresholds(ticket=3360)).value == watch.value
    assert limited(watch, Thresholds()).value == watch.value


def test_a_tier_that_is_new_begins_at_nothing() -> None:
    watch = follow(begin(0.01, Thresholds(ticket=3360)), [0] * 400 + [1])
    assert limited(watch, BOTH).value == 0
    assert limited(watch, BOTH).failures == watch.failures


def test_trend_says_at_which_ages_and_waits_for_these() -> None:
    watch = begin(0.1, Thresholds(page=2000), by_age=True)
    for life in range(60):
        for age in range(120):
            if watch.alarm is None:
                watch = step(watch, age >= 100 and (life + age) % 3 == 0, 0.1, age=age)
    assert watch.alarm.ages == (100, 200)
    needed = watch.clean_needed
    young = watch
    for age in range(90):
        young = step(young, failed=age % 30 == 3, y0=0.1, age=age)
    assert (young.alarm.clean, young.alarm.failed) == (0, 0)
    old = young
    for _ in range(needed - 1):
        old = step(old, failed=0, y0=0.1, age=110)
    assert old.alarm.clean == needed - 1
    assert step(old, failed=0, y0=0.1, age=110).alarm is None
    assert step(old, failed=1, y0=0.1, age=110).alarm.clean == 0
    assert watch_of(text_of(old)) == old
    for age in (None, -1):
        with pytest.raises(ValueError, match="age"):
            step(watch, failed=0, y0=0.1, age=age)
    assert ENDS[1] == 100


@given(
    trials=st.lists(st.integers(0, 8), max_size=60),
    y0=st.sampled_from([0.01, 0.1, 0.4]),
)
def test_a_trial_of_many_exchanges_is_one_score(trials, y0) -> None:
    ours, theirs = begin(y0, Thresholds()), Independent(y0)
    for failed in trials:
        ours = step(ours, failed, y0, of=8)
        theirs.update(failed / 8)
    assert ours.value == pytest.approx(theirs.values.mean(), rel=1e-9)
    assert ours.scored == len(trials)
    assert len(ours.failures) == sum(failed > 0 for failed in trials)
    assert watch_of(text_of(ours)) == ours


def test_what_is_asked_together_fails_together_and_counts_once() -> None:
    """One in ten trials of four is wrong as a whole: as one score each, they keep the promise."""
    y0, page, rng = 0.1, 400.0, Random(3)
    together = apart = begin(y0, Thresholds(page=page))
    for _ in range(3000):
        failed = 4 * (rng.random() < y0)
        together = step(together, failed, y0, of=4)
        for _ in range(4):
            apart = step(apart, failed > 0, y0)
    assert together.pages <= 3000 / page
    assert apart.pages > 5 * apart.scored / page


def test_a_trial_counts_as_clean_if_nothing_in_it_failed() -> None:
    watch = begin(0.3, Thresholds(page=100))
    while watch.alarm is None:
        watch = step(watch, 4, 0.3, of=4)
    # A quarter is tolerated: it raises nothing, and is not clean either.
    tolerated = step(watch, 1, 0.3, of=4)
    assert (tolerated.alarm.clean, tolerated.alarm.failed) == (0, 1)
    assert step(tolerated, 0, 0.3, of=4).alarm.clean == 1
    low = begin(0.3, Thresholds(page=1))
    for _ in range(50):
        low = step(low, 1, 0.3, of=4)
    assert low.pages == 0
    assert step(low, 2, 0.3, of=4).pages == 1
    for failed, of in ((-1, 4), (5, 4), (0, 0)):
        with pytest.raises(ValueError, match="score"):
            step(watch, failed, 0.3, of=of)


def test_what_can_be_no_watch_is_refused() -> None:
    for y0 in (0.0, 0.51, float("nan")):
        with pytest.raises(ValueError, match="rate"):
            begin(y0, BOTH)
        with pytest.raises(ValueError, match="rate"):
            step(begin(0.1, BOTH), failed=False, y0=y0)
    for page in (0.5, float("nan"), float("inf"), 1e200):
        with pytest.raises(ValueError, match="thresholds"):
            Thresholds(page=page)
        with pytest.raises(ValueError, match="thresholds"):
            Thresholds(ticket=page)
