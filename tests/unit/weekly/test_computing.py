"""Reports of rows in a store: whoever something is told of has a judgement."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

import pytest

from monitor.store import Store, open_store
from monitor.store.client import connect
from monitor.store.rows import ExchangeVerdictRow, FindingRow, NodeSnapshotRow, VerdictRow
from monitor.store.week_reader import Span, WeekReader
from monitor.weekly.computing import compute
from monitor.weekly.inputs import Asked
from monitor.weekly.record import Judgement, WeeklyReport
from monitor.weekly.week import Week
from tests.unit.weekly.test_coverage import place, target

STRATUM = place("canary", "short")
# Each test has a week of its own in the one store.
WEEKS = (Week.parse("2026-W45").earlier(2 * number) for number in itertools.count())
NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("store") / "davylamp-data") as opened:
        yield opened


@pytest.fixture
def week() -> Week:
    return next(WEEKS)


Computed = Callable[[Week], WeeklyReport]


@pytest.fixture
def computed(store: Store) -> Computed:
    def of(week: Week) -> WeeklyReport:
        store.writer.flush()
        known = (target(STRATUM),)
        asked = Asked(week=week, environment="lab", targets=known, objectives=(), accepted=())
        with closing(WeekReader(connect(store.location, read_only=True))) as reader:
            return compute(reader, asked)

    return of


def answer(at: datetime, outcome: str = "good", **given: Any) -> Sequence[Any]:
    """Return the rows of a verdict of one answer."""
    number = f"{next(NUMBERS)}"
    shared = {
        "trial": f"trial-{number}",
        "target": "glm",
        "model": "m",
        "probe": STRATUM.probe,
        "shape": STRATUM.shape,
        "stratum": STRATUM.stratum,
        "decided_at": at,
        "outcome": outcome,
        "verdict_class": "none",
        "reason": "",
        "scheduled": True,
        "source": "probe",
    }
    shared |= {name: value for name, value in given.items() if name != "rescores"}
    first = VerdictRow(
        id=f"verdict-{number}",
        checks_version="1",
        finding="",
        rescores=given.get("rescores", ""),
        **shared,
    )
    counted = {"counted": True, "exchange": 0, "hard": False, "tolerated": False}
    return [first, ExchangeVerdictRow(verdict=first.id, **shared, **counted)]


def leak_of(name: str, at: datetime) -> FindingRow:
    return FindingRow(
        id=f"finding-{name}-{at:%Y%m%d}",
        version=1,
        target=name,
        shape="boundary",
        stratum="over-4096/c1/cold/plain/pair",
        verdict_class="LEAK",
        opened_class="LEAK",
        state="confirmed",
        first_seen=at,
        last_seen=at,
        count=9,
        confirmations=2,
        children=(),
        trials=(),
        who="",
        why="",
        reproduced=2,
        changed_at=at,
        urgent=True,
        signals=(),
        suppressed_until=None,
        suppressed=0,
    )


def judgements(report: WeeklyReport) -> dict[str, Judgement]:
    return {row.target: row.judgement for row in report.targets}


def test_a_leak_of_a_target_that_is_not_configured_any_more_makes_a_report_bad(
    store: Store, week: Week, computed: Computed
) -> None:
    store.writer.put([*answer(week.since), leak_of("gone", week.since + timedelta(days=1))])
    report = computed(week)
    assert judgements(report)["gone"] is Judgement.BAD
    assert report.judgement is Judgement.BAD


def test_a_failing_node_of_a_target_that_is_not_configured_makes_a_report_bad(
    store: Store, week: Week, computed: Computed
) -> None:
    reading = NodeSnapshotRow(
        id=f"reading-{week.label}",
        at=week.since,
        node="prefill-0",
        target="former",
        engine="sglang",
        engine_version="0.5",
        role="prefill",
        conformity="fail",
        capacity_tokens=1,
        used_tokens=0,
        enforced_tokens=None,
        advertised_tokens=None,
        failed_rules=("a-rule",),
        warned_rules=(),
        unknown_rules=(),
        settings="{}",
    )
    store.writer.put([reading])
    assert judgements(computed(week))["former"] is Judgement.BAD


def test_a_week_of_errors_alone_has_no_data(store: Store, week: Week, computed: Computed) -> None:
    for hour in range(3):
        store.writer.put(answer(week.since + timedelta(hours=hour), "error"))
        store.writer.put(answer(week.since + timedelta(hours=hour), "invalid"))
    report = computed(week)
    assert not report.has_data
    told = {row.what: row.where for row in report.not_looked_at if row.target == "glm"}
    assert told["days"].count(",") == 6
    assert told["hours"] == "168 of 168 hours"
    store.writer.put(answer(week.since))
    again = computed(week)
    assert again.has_data
    assert {row.where for row in again.not_looked_at if row.what == "hours"} == {"167 of 168 hours"}


def test_leaks_that_judging_again_found_are_told_and_bad(
    store: Store, week: Week, computed: Computed
) -> None:
    for minute in range(5):
        at = week.since + timedelta(days=1, minutes=minute)
        kept = answer(at)
        said = {"source": "rescore", "scheduled": False, "verdict_class": "LEAK"}
        store.writer.put([*kept, *answer(at, "bad", rescores=kept[0].id, **said)])
    report = computed(week)
    assert [(r.target, r.verdict_class, r.answers) for r in report.rescored] == [("glm", "LEAK", 5)]
    [row] = report.targets
    assert (row.judgement, row.good, row.bad) == (Judgement.BAD, 5, 0)
    assert "judged again" in row.why


def test_what_judging_again_only_found_again_is_told_by_its_finding(
    store: Store, week: Week, computed: Computed
) -> None:
    at = week.since + timedelta(days=1)
    kept = answer(at, "bad", verdict_class="LEAK")
    said = {"source": "rescore", "scheduled": False, "verdict_class": "LEAK"}
    store.writer.put([*kept, *answer(at, "bad", rescores=kept[0].id, **said)])
    assert computed(week).rescored == ()


def test_verdicts_that_were_written_twice_are_kept_once(store: Store, week: Week) -> None:
    rows = answer(week.since)
    store.writer.put(rows)
    store.writer.put([rows[0], *answer(week.since + timedelta(hours=1))])
    store.writer.flush()
    span = Span(since=week.since, until=week.until)
    with closing(WeekReader(connect(store.location, read_only=True))) as reader:
        assert reader.kept_verdicts(span) == {"glm": 2}


def test_one_stratum_for_some_minutes_is_not_good(
    store: Store, week: Week, computed: Computed
) -> None:
    for minute in range(20):
        store.writer.put(answer(week.since + timedelta(minutes=minute)))
    [row] = [row for row in computed(week).targets if row.target == "glm"]
    assert row.judgement is Judgement.UNSURE
