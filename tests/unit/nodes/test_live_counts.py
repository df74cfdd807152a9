"""What nodes count: growth between readings, and which of it is a fault."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.conventions.nodes import LiveKind, LiveState
from monitor.nodes.live import LiveSignal, NodeWindows
from monitor.nodes.live_counts import WINDOW, CountWindow
from monitor.nodes.live_growth import Growth, NodeCounts
from monitor.nodes.record import Gap, NodeCounter, NodeSnapshot, Role
from tests.builders import NOW
from tests.unit.nodes.readings import STEP, counted, of_kind, silent

FAIL, PASS, UNKNOWN = LiveState.FAIL, LiveState.PASS, LiveState.UNKNOWN
REQUESTS, FAILED = NodeCounter.REQUESTS, NodeCounter.TRANSFER_FAILED
NANS, ABORTED = NodeCounter.NOT_A_NUMBER, NodeCounter.ABORTED


def after(*counts: dict[NodeCounter, float], role: Role = Role.DECODE) -> list[LiveSignal]:
    """Return the signals after readings that told these counts, one after the other."""
    window = CountWindow()
    for place, each in enumerate(counts):
        reading = counted("d0", each, at=NOW + STEP * place, role=role)
        window.take(reading)
    return list(window.signals(reading))


def growth(*readings: NodeSnapshot) -> Growth | None:
    """Return what the last of some readings, one after the other, says of growth."""
    counts = NodeCounts()
    said = [
        counts.take(replace(each, read_at=NOW + STEP * place))
        for place, each in enumerate(readings)
    ]
    return said[-1]


def unclear(reading: NodeSnapshot, *kinds: NodeCounter) -> NodeSnapshot:
    """Return the reading with these counters left out because their lines are spoilt."""
    return replace(reading, gaps=tuple(Gap(fact=kind, why="spoilt") for kind in kinds))


def test_a_counter_grows_by_what_was_added() -> None:
    said = growth(counted("n", {REQUESTS: 5}), counted("n", {REQUESTS: 12, FAILED: 3}))
    assert said == Growth(by={REQUESTS: 7, FAILED: 3})


def test_after_a_later_start_a_counter_grew_from_nothing() -> None:
    before = counted("n", {REQUESTS: 5, FAILED: 5}, started=10.0)
    said = growth(before, counted("n", {REQUESTS: 50, FAILED: 0}, started=99.0))
    assert said == Growth(by={REQUESTS: 50, FAILED: 0}, restarted=True)
    untold = counted("n", {REQUESTS: 5, FAILED: 5})
    assert growth(before, untold, counted("n", {REQUESTS: 6}, started=99.0)) == Growth(
        by={REQUESTS: 6}, restarted=True
    )


def test_how_much_was_counted_after_a_fall_without_a_later_start_is_not_known() -> None:
    before = counted("n", {REQUESTS: 5, FAILED: 5, ABORTED: 2}, started=10.0)
    now = counted("n", {REQUESTS: 4, FAILED: 6, ABORTED: 0}, started=10.0)
    assert growth(before, now) == Growth(
        by={ABORTED: 0}, untold=frozenset({REQUESTS, FAILED}), restarted=True
    )


def test_a_start_that_is_worked_out_anew_is_no_restart() -> None:
    said = growth(
        counted("n", {REQUESTS: 5}, started=100.0), counted("n", {REQUESTS: 6}, started=102.5)
    )
    assert said == Growth(by={REQUESTS: 1})


def test_a_counter_that_one_reading_leaves_out_grew_since_it_was_last_told() -> None:
    said = growth(
        counted("n", {NANS: 7, REQUESTS: 1}),
        unclear(counted("n", {REQUESTS: 2}), NANS),
        counted("n", {NANS: 7, REQUESTS: 3}),
    )
    assert said == Growth(by={NANS: 0, REQUESTS: 1})


def test_a_counter_that_was_unclear_before_it_was_told_began_nobody_knows_where() -> None:
    said = growth(unclear(counted("n", {REQUESTS: 2}), NANS), counted("n", {NANS: 7, REQUESTS: 3}))
    assert said == Growth(by={REQUESTS: 1}, untold=frozenset({NANS}))


def test_a_rank_that_is_left_out_and_comes_back_counted_nobody_knows_how_much() -> None:
    whole, half = {REQUESTS: 1000, ABORTED: 500}, {REQUESTS: 500, ABORTED: 250}
    back = {REQUESTS: 1002, ABORTED: 502}
    said = growth(*(counted("n", each) for each in (whole, half, back)))
    assert said == Growth(by={}, untold=frozenset({REQUESTS, ABORTED}))
    assert of_kind(after(whole, half, back), LiveKind.ABORTS).state is UNKNOWN
    later = {REQUESTS: 1102, ABORTED: 503}
    assert growth(*(counted("n", each) for each in (whole, half, back, later))) == Growth(
        by={REQUESTS: 100, ABORTED: 1}
    )


def test_lifetime_counts_are_no_growth_when_a_line_was_spoilt_once() -> None:
    said = after({NANS: 7, REQUESTS: 9}, {REQUESTS: 9}, {NANS: 7, REQUESTS: 9})
    assert of_kind(said, LiveKind.NOT_A_NUMBER).state is PASS
    aborts = after({REQUESTS: 1e6, ABORTED: 0}, {ABORTED: 0}, {REQUESTS: 1e6 + 100, ABORTED: 60})
    assert of_kind(aborts, LiveKind.ABORTS).state is FAIL


def test_values_that_are_no_numbers_are_told_though_other_counts_are_not() -> None:
    said = after({NANS: 9, REQUESTS: 9}, {NANS: 1, REQUESTS: 9}, {NANS: 2, REQUESTS: 9})
    assert of_kind(said, LiveKind.NOT_A_NUMBER).state is FAIL


def test_transfers_that_end_because_their_clients_left_are_no_failure_of_transfers() -> None:
    left = {REQUESTS: 3, FAILED: 5, ABORTED: 5}
    said = of_kind(after({REQUESTS: 0, FAILED: 0, ABORTED: 0}, left), LiveKind.TRANSFER_FAILURES)
    assert said.state is UNKNOWN
    assert said.value is None
    assert said.why == (
        "5 failed transfers of KV for 5 requests within half an hour; 1% may be, "
        "and 5 aborts, which may be why"
    )


@pytest.mark.parametrize("aborted", [0, 5])
def test_transfers_that_fail_beyond_what_aborts_explain_are_a_fault(aborted: int) -> None:
    failing = {REQUESTS: 100, FAILED: 20, ABORTED: aborted}
    none = dict.fromkeys(failing, 0)
    said = of_kind(after(none, failing), LiveKind.TRANSFER_FAILURES)
    assert said.state is FAIL
    assert said.value == 0.2


def test_a_counter_that_fell_is_told_again_after_half_an_hour() -> None:
    window = CountWindow()
    for place, many in enumerate((9, 3, 3)):
        window.take(counted("n", {NANS: many}, at=NOW + STEP * place))
    soon = counted("n", {NANS: 3}, at=NOW + WINDOW)
    window.take(soon)
    assert of_kind(window.signals(soon), LiveKind.NOT_A_NUMBER).state is UNKNOWN
    later = counted("n", {NANS: 3}, at=NOW + STEP + WINDOW)
    window.take(later)
    assert of_kind(window.signals(later), LiveKind.NOT_A_NUMBER).state is PASS


def test_a_counter_left_out_for_longer_than_the_window_did_not_grow_within_it() -> None:
    window = CountWindow()
    window.take(counted("n", {FAILED: 0, REQUESTS: 0}))
    for place in range(1, int(WINDOW / STEP) + 2):
        window.take(counted("n", {REQUESTS: 10 * place}, at=NOW + STEP * place))
    back = counted("n", {FAILED: 300, REQUESTS: 700}, at=NOW + WINDOW + 3 * STEP)
    window.take(back)
    assert of_kind(window.signals(back), LiveKind.TRANSFER_FAILURES).state is UNKNOWN


def windows_of(*readings: NodeSnapshot) -> list[LiveSignal | None]:
    """Return the signal of values that are no numbers after each reading of all."""
    windows = NodeWindows(STEP.total_seconds())
    return [of_kind(windows.take([each]), LiveKind.NOT_A_NUMBER) for each in readings]


def test_a_signal_that_is_told_no_more_is_unknown_and_ends_no_fault() -> None:
    well = [counted("n", {NANS: 0, REQUESTS: 1}, at=NOW + STEP * place) for place in range(2)]
    for gone in (
        silent(counted("n", at=NOW + STEP * 3)),
        counted("n", {REQUESTS: 3}, at=NOW + STEP * 3),
    ):
        assert [each.state for each in windows_of(*well, gone)][1:] == [PASS, UNKNOWN]
        bad = counted("n", {NANS: 1, REQUESTS: 2}, at=NOW + STEP * 2)
        failed, held = windows_of(*well, bad, gone)[2:]
        assert failed.state is held.state is FAIL
        assert "nothing was told of it since" in held.why
        day = replace(gone, read_at=gone.read_at + timedelta(days=1))
        assert windows_of(*well, bad, gone, day)[-1] is None


def test_any_value_that_is_no_number_is_a_fault() -> None:
    counter = NodeCounter.NOT_A_NUMBER
    said = of_kind(after({counter: 0}, {counter: 1}), LiveKind.NOT_A_NUMBER)
    assert said is not None
    assert said.state is FAIL
    assert said.value == 1
    assert of_kind(after({counter: 7}, {counter: 7}), LiveKind.NOT_A_NUMBER).state is PASS


def test_what_was_counted_before_the_first_reading_is_no_fault() -> None:
    said = of_kind(after({NodeCounter.NOT_A_NUMBER: 7}), LiveKind.NOT_A_NUMBER)
    assert said is not None
    assert said.state is UNKNOWN


@pytest.mark.parametrize(
    ("failed", "requests", "state"),
    [
        (0, 1000, PASS),
        (5, 1000, PASS),
        (15, 1000, PASS),
        (60, 1000, FAIL),
        (1, 1, PASS),
        (5, 5, FAIL),
        (3, 100, PASS),
        (20, 100, FAIL),
    ],
)
def test_transfers_fail_by_their_share(failed: int, requests: int, state: LiveState) -> None:
    said = after({FAILED: 0, REQUESTS: 0}, {FAILED: failed, REQUESTS: requests})
    assert of_kind(said, LiveKind.TRANSFER_FAILURES).state is state


def test_failures_of_an_unknown_number_of_requests_are_unknown() -> None:
    said = of_kind(after({FAILED: 0}, {FAILED: 9}), LiveKind.TRANSFER_FAILURES)
    assert said is not None
    assert said.state is UNKNOWN


def test_a_counter_that_a_split_node_should_have_is_unknown_and_not_missed_elsewhere() -> None:
    split = after({REQUESTS: 0}, {REQUESTS: 9})
    assert of_kind(split, LiveKind.TRANSFER_FAILURES).state is UNKNOWN
    assert of_kind(after({REQUESTS: 0}, role=Role.UNIFIED), LiveKind.TRANSFER_FAILURES) is None
    assert of_kind(split, LiveKind.NOT_A_NUMBER) is None


def test_what_failed_is_forgotten_after_half_an_hour() -> None:
    window, counter = CountWindow(), NodeCounter.NOT_A_NUMBER
    window.take(counted("n", {counter: 0}))
    window.take(counted("n", {counter: 3}, at=NOW + STEP))
    later = counted("n", {counter: 3}, at=NOW + STEP + WINDOW)
    assert window.take(later) == Growth(by={counter: 0})
    assert of_kind(window.signals(later), LiveKind.NOT_A_NUMBER).state is PASS


def test_a_node_that_is_silent_for_longer_than_the_window_is_unknown() -> None:
    window, counter = CountWindow(), NodeCounter.TRANSFER_FAILED
    window.take(counted("n", {counter: 0, REQUESTS: 0}, role=Role.DECODE))
    window.take(counted("n", {counter: 0, REQUESTS: 9}, at=NOW + STEP, role=Role.DECODE))
    later = silent(counted("n", at=NOW + 2 * WINDOW))
    assert window.take(later) is None
    assert list(window.signals(later)) == []


@given(
    values=st.lists(st.floats(0, 1e15), min_size=1, max_size=30),
    gaps=st.lists(st.booleans(), min_size=30, max_size=30),
)
def test_growth_is_never_negative_and_adds_up(values: list[float], gaps: list[bool]) -> None:
    window, total = CountWindow(), 0.0
    for place, value in enumerate(values):
        reading = counted("n", {REQUESTS: value}, at=NOW + STEP * place)
        grown = window.take(silent(reading) if gaps[place] else reading)
        if grown is not None:
            assert grown.by.get(REQUESTS, 0.0) >= 0
            total += grown.by.get(REQUESTS, 0.0)
    rising = all(a <= b for a, b in itertools.pairwise(values))
    if rising:
        assert total <= values[-1]
