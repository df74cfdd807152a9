"""Objectives count what the rules of Prometheus count, of the rows of a store."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from monitor.slo import Objective
from monitor.slo.objective import Sli
from monitor.store import Store
from monitor.store.client import connect
from monitor.store.rows import ExchangeRow
from monitor.store.week_reader import WeekReader
from monitor.weekly.inputs import Asked, Gap
from monitor.weekly.objectives import objectives_of
from monitor.weekly.record import Attainment, ObjectiveRow, UnseenRow
from monitor.weekly.week import Week
from tests.unit.weekly.samples import a_row
from tests.unit.weekly.test_computing import answer, reading_of
from tests.unit.weekly.test_coverage import place, target

NUMBERS = itertools.count()
OBJECTIVE = Objective(
    name="quick",
    sli=Sli.LATENCY,
    ratio=0.5,
    window_seconds=7 * 86_400,
    volume_a_day=0,
    volume_from="",
    within_seconds=60.0,
)
Told = tuple[tuple[ObjectiveRow, ...], tuple[UnseenRow, ...]]
Telling = Callable[..., Told]


@pytest.fixture
def told(store: Store, week: Week) -> Telling:
    known = replace(
        target(place("canary", "short"), place("pair", "8k")),
        nodes=("prefill-0",),
        finds_nodes=False,
        gaps=(
            Gap(probe="burst", stratum="mixed/c16/cold/both/pair", code="c", reason="", tokens=1),
            Gap(probe="", stratum="a-model-nobody-asks", code="c", reason="", tokens=None),
        ),
    )

    def of(**given: Any) -> Told:
        store.writer.flush()
        objective = replace(OBJECTIVE, **given)
        asked = Asked(
            week=week, environment="lab", targets=(known,), objectives=(objective,), accepted=()
        )
        with closing(WeekReader(connect(store.location, read_only=True))) as reader:
            return objectives_of(reader, asked)

    return of


def exchange(at: datetime, seconds: float, token: float | None = None, **given: Any) -> ExchangeRow:
    """Return an exchange that took so long; one with a first token was streamed."""
    row: ExchangeRow = a_row(
        ExchangeRow,
        **{
            "trial": f"trial-{next(NUMBERS)}",
            "started_at": at,
            "probe": "canary",
            "total_seconds": seconds,
            "first_token_seconds": token,
            "http_status": 200,
            "streamed": token is not None,
            "failure": "",
            "held": False,
            **given,
        },
    )
    return row


def counts(row: ObjectiveRow) -> tuple[int, int, int]:
    return row.bad, row.valid, row.asked


def test_an_answer_is_slow_beyond_the_bound_whether_it_failed_or_not(
    store: Store, week: Week, told: Telling
) -> None:
    last = week.until - timedelta(seconds=1)
    store.writer.put(
        [
            exchange(week.since, 60.0),
            exchange(week.since, 60.001),
            exchange(last, 300.0, failure="timeout", http_status=None),
            exchange(week.since - timedelta(seconds=1), 300.0),
            exchange(week.until, 300.0),
            exchange(week.since, 0.0, probe="traffic"),
            exchange(week.since, 300.0, target="kimi"),
        ]
    )
    [row], unseen = told()
    assert (counts(row), unseen) == ((2, 3, 3), ())
    assert row.counted == "exchanges of probes, by when they began; over 60 s is bad"
    assert row.attainment is Attainment.UNKNOWN
    assert row.budget_left_low < 1 - 2 / 3 / 0.5 < row.budget_left_high


def test_a_row_that_was_written_twice_counts_once(store: Store, week: Week, told: Telling) -> None:
    twice = exchange(week.since, 61.0)
    store.writer.put([twice])
    store.writer.flush()
    store.writer.put([twice, exchange(week.since, 1.0)])
    [row], _ = told()
    assert (row.bad, row.valid) == (1, 2)


def test_probes_are_counted_each_for_itself_or_only_some(
    store: Store, week: Week, told: Telling
) -> None:
    store.writer.put([exchange(week.since, 90.0), exchange(week.since, 1.0, probe="pair")])
    rows, _ = told(by_probe=True)
    assert {row.probe: counts(row) for row in rows} == {"canary": (1, 1, 1), "pair": (0, 1, 1)}
    [only], _ = told(probes=("pair",))
    assert counts(only) == (0, 1, 1)


def test_windows_of_hours_have_the_exchanges_of_those_hours(
    store: Store, week: Week, told: Telling
) -> None:
    for hours in (1, 3):
        store.writer.put([exchange(week.until - timedelta(hours=hours), 90.0)])
    [row], _ = told(window_seconds=2 * 3_600)
    assert (counts(row), row.since) == ((1, 1, 1), week.until - timedelta(hours=2))


def test_first_tokens_are_those_of_streamed_exchanges_that_had_one(
    store: Store, week: Week, told: Telling
) -> None:
    store.writer.put(
        [
            exchange(week.since, 90.0, 30.0),
            exchange(week.since, 90.0, 30.5),
            exchange(week.since, 90.0, None, streamed=True),
            exchange(week.since, 90.0),
        ]
    )
    [row], unseen = told(sli=Sli.FIRST_TOKEN, within_seconds=30.0)
    assert (counts(row), unseen) == ((1, 2, 2), ())
    assert "over 30 s is bad" in row.counted


def test_a_target_that_streams_nothing_has_no_first_tokens_and_that_is_said(
    store: Store, week: Week, told: Telling
) -> None:
    store.writer.put([exchange(week.since, 1.0)])
    rows, [unseen] = told(sli=Sli.FIRST_TOKEN)
    assert rows == ()
    assert (unseen.target, unseen.what, unseen.where) == ("glm", "objective", "quick")
    assert "streamed" in unseen.why


def test_a_target_that_was_not_asked_has_first_tokens_that_are_not_known(told: Telling) -> None:
    [row], unseen = told(sli=Sli.FIRST_TOKEN)
    assert (counts(row), row.attainment, unseen) == ((0, 0, 0), Attainment.UNKNOWN, ())


def test_times_that_are_not_kept_are_asked_and_not_known(
    store: Store, week: Week, told: Telling
) -> None:
    rows = [exchange(week.since, 1.0) for _ in range(9)]
    store.writer.put(rows)
    store.writer.flush()
    gone = [row.trial for row in rows[:5]]
    with closing(connect(store.location)) as client:
        client.command(
            "ALTER TABLE exchanges DELETE WHERE trial IN {gone:Array(String)} "
            "SETTINGS mutations_sync = 2",
            {"gone": gone},
        )
    [row], _ = told()
    assert counts(row) == (0, 4, 9)
    assert row.counted.endswith("; the times of up to 5 are not kept")
    assert row.attainment is Attainment.UNKNOWN


def test_coverage_is_the_share_of_sizes_that_were_judged_in_seven_days(
    store: Store, week: Week, told: Telling
) -> None:
    at = week.since + timedelta(days=1)
    store.writer.put(answer(at, "bad", scheduled=False))
    store.writer.put(answer(at, stratum="turns/c1/warm/plain/one"))
    store.writer.put(answer(at, "error", stratum="8k/c1/cold/plain/one"))
    store.writer.put(answer(at, probe="traffic", source="scan", stratum="a-ticket"))
    store.writer.put(answer(week.since - timedelta(days=1), stratum="8k/c1/cold/plain/one"))
    # Known are short, 8k and mixed of the plan, and turns that was asked.
    [row], _ = told(sli=Sli.COVERAGE, window_seconds=30 * 86_400)
    assert (counts(row), row.least_valid, row.since) == ((2, 4, 4), 1, week.since)
    assert (row.attained_at_least, row.attained_ratio, row.attained_at_most) == (0.5, 0.5, 0.5)
    assert (row.attainment, row.budget_left) == (Attainment.MET, 0.0)
    assert row.counted == (
        "prompt sizes by the plan of now, not judged in 7 days is bad; not judged: mixed "
        "(left out: c), 8k; "
        "judged by none of the exchanges that are counted: short"
    )
    [higher], _ = told(sli=Sli.COVERAGE, ratio=0.75)
    assert (higher.attainment, higher.budget_left) == (Attainment.MISSED, -1.0)


def test_readings_of_nodes_are_those_that_are_stored(
    store: Store, week: Week, told: Telling
) -> None:
    for hour, state in enumerate(("pass", "warn", "fail", "unknown")):
        store.writer.put([reading_of("glm", week.since + timedelta(hours=hour), state)])
    [row], _ = told(sli=Sli.NODES)
    assert (counts(row), row.counted) == (
        (1, 3, 4),
        "stored readings of nodes; Prometheus counts scrapes",
    )


def test_requests_of_users_are_not_told(told: Telling) -> None:
    assert told(sli=Sli.PRODUCTION) == ((), ())
