"""Reports of rows in a store: whoever something is told of has a judgement."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from monitor.checks import CHECKS_VERSION
from monitor.detect.watch import Thresholds, begin
from monitor.model import Lane
from monitor.store import Store
from monitor.store.client import connect
from monitor.store.rows import ExchangeVerdictRow, FindingRow, NodeSnapshotRow, VerdictRow
from monitor.store.week_reader import Span, WeekReader
from monitor.streams import StreamKey
from monitor.watching import Standing
from monitor.watching.kept import row_of
from monitor.watching.tolerances import HeldBy
from monitor.weekly.computing import compute
from monitor.weekly.inputs import Asked
from monitor.weekly.methods import METHODS
from monitor.weekly.record import Judgement, WeeklyReport
from monitor.weekly.week import Week
from tests.unit.weekly.test_coverage import place, target

STRATUM = place("canary", "short")
NUMBERS = itertools.count()


Computed = Callable[..., WeeklyReport]


@pytest.fixture
def computed(store: Store) -> Computed:
    def of(week: Week, *nodes: str) -> WeeklyReport:
        store.writer.flush()
        known = (replace(target(STRATUM), nodes=nodes),)
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
    own = {"rescores", "finding"}
    shared |= {name: value for name, value in given.items() if name not in own}
    first = VerdictRow(
        id=f"verdict-{number}",
        checks_version="1",
        finding=given.get("finding", ""),
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


def reading_of(
    name: str, at: datetime, conformity: str, node: str = "prefill-0"
) -> NodeSnapshotRow:
    return NodeSnapshotRow(
        id=f"reading-{node}-{at:%Y%m%d%H}",
        at=at,
        node=node,
        target=name,
        engine="sglang",
        engine_version="0.5",
        role="prefill",
        conformity=conformity,
        capacity_tokens=1,
        used_tokens=0,
        enforced_tokens=None,
        advertised_tokens=None,
        failed_rules=("a-rule",) if conformity == "fail" else (),
        warned_rules=(),
        unknown_rules=(),
        settings="{}",
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
    store.writer.put([reading_of("former", week.since, "fail")])
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
    [found] = report.rescored
    assert (found.target, found.verdict_class, found.before, found.answers) == (
        *("glm", "LEAK", "good", 5),
    )
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


def test_what_was_found_worse_or_is_a_mistake_is_told_with_what_it_was(
    store: Store, week: Week, computed: Computed
) -> None:
    at = week.since + timedelta(days=1)
    again = {"source": "rescore", "scheduled": False}
    worse = answer(at, "bad", verdict_class="CONTRACT", finding="finding-1")
    milder = answer(at, "bad", verdict_class="LEAK", finding="finding-2")
    fine, unjudged = answer(at), answer(at, "invalid")
    store.writer.put([*worse, *milder, *fine, *unjudged])
    for kept, verdict_class in ((worse, "LEAK"), (milder, "CONTRACT"), (fine, "WRONG")):
        said = again | {"verdict_class": verdict_class, "rescores": kept[0].id}
        store.writer.put(answer(at, "bad", **said))
    store.writer.put(answer(at, "bad", verdict_class="WRONG", rescores=unjudged[0].id, **again))
    store.writer.put(answer(at, "bad", verdict_class="WRONG", rescores="verdict-gone", **again))
    report = computed(week)
    assert [(row.verdict_class, row.before, row.answers) for row in report.rescored] == [
        *(("LEAK", "CONTRACT", 1), ("WRONG", "good", 1)),
        *(("WRONG", "invalid", 1), ("WRONG", "not_kept", 1)),
    ]
    assert judgements(report)["glm"] is Judgement.BAD


@pytest.mark.parametrize("scheduled", [True, False])
def test_a_leak_in_no_finding_is_told_and_bad(
    store: Store, week: Week, computed: Computed, scheduled: bool
) -> None:
    at = week.since + timedelta(days=1)
    for minute in range(9):
        store.writer.put(answer(at + timedelta(minutes=minute)))
    store.writer.put(answer(at, "bad", verdict_class="LEAK", scheduled=scheduled))
    # These are told elsewhere: in a finding, in the rates, as drift, as judged again.
    store.writer.put(answer(at, "bad", verdict_class="LEAK", finding="finding-9"))
    store.writer.put(answer(at, "bad", verdict_class="WRONG"))
    store.writer.put(answer(at, "bad", verdict_class="DRIFT", source="stream", scheduled=False))
    report = computed(week)
    [row] = report.without_finding
    assert (row.target, row.verdict_class, row.source) == ("glm", "LEAK", "probe")
    assert (row.scheduled, row.verdicts, row.first_at) == (scheduled, 1, at)
    [of] = report.targets
    assert (of.judgement, of.why) == (
        Judgement.BAD,
        "1 bad verdict is in no finding, the worst LEAK",
    )


def test_what_people_asked_for_themselves_and_was_wrong_is_told(
    store: Store, week: Week, computed: Computed
) -> None:
    at = week.since + timedelta(days=1)
    store.writer.put(answer(at))
    store.writer.put(answer(at, "bad", verdict_class="WRONG", scheduled=False))
    report = computed(week)
    assert [(r.verdict_class, r.scheduled) for r in report.without_finding] == [("WRONG", False)]
    assert judgements(report)["glm"] is Judgement.UNSURE


def test_how_long_nodes_could_not_be_told_is_in_hours(
    store: Store, week: Week, computed: Computed
) -> None:
    hours = (0, 1, 2, 9, 10, 40, 41)
    for hour in hours:
        state = "unknown" if hour in {1, 9, 41} else "pass"
        reading = reading_of("glm", week.since + timedelta(hours=hour, minutes=30), state)
        store.writer.put([*answer(week.since), reading])
    report = computed(week)
    [node] = report.nodes
    assert (node.readings, node.unknown, node.hours_unknown) == (7, 3, 164)
    assert node.unknown_ratio == 3 / 7
    assert node.longest_unknown_hours == 30.0
    why = [
        row.why for row in report.not_looked_at if (row.what, row.where) == ("nodes", "all nodes")
    ]
    # From the last that could tell to the week's end.
    assert why == ["for 127.5 hours at a stretch no reading of any node could tell"]


def test_a_listed_node_is_held_to_the_whole_week_and_a_found_one_to_when_it_was_there(
    store: Store, week: Week, computed: Computed
) -> None:
    hour = timedelta(hours=1)
    begun = week.since + 3 * hour
    steady = [reading_of("glm", begun + n * hour, "pass", "A") for n in range(165)]
    once = [
        reading_of("glm", begun + 2 * hour, state, name)
        for name, state in (("B", "pass"), ("found", "pass"), ("C", "unknown"))
    ]
    store.writer.put([*answer(week.since), *steady, *once])
    report = computed(week, "A", "B", "C", "D")
    longest = {row.node: row.longest_unknown_hours for row in report.nodes}
    # Before its first reading nobody could look: the installation was new.
    assert longest == {"A": 1.0, "B": 163.0, "C": 165.0, "found": 0.0}
    told = {r.where: r.why for r in report.not_looked_at if r.what == "nodes"}
    assert told.keys() == {"node B", "node C", "node D", "node found"}
    assert "all nodes" not in told
    # One that was read before the week is held to all of it.
    before = reading_of("glm", week.since - timedelta(days=1), "pass", "A")
    store.writer.put([before])
    again = {row.node: row for row in computed(week, "A", "B", "C", "D").nodes}
    assert (again["A"].longest_unknown_hours, again["C"].longest_unknown_hours) == (3.0, 168.0)


def test_verdicts_that_were_written_twice_are_kept_once(store: Store, week: Week) -> None:
    rows = answer(week.since)
    store.writer.put(rows)
    store.writer.put([rows[0], *answer(week.since + timedelta(hours=1))])
    store.writer.flush()
    span = Span(since=week.since, until=week.until)
    with closing(WeekReader(connect(store.location, read_only=True))) as reader:
        assert reader.kept_verdicts(span) == {"glm": 2}


def test_a_target_whose_rows_have_expired_could_not_be_told(
    store: Store, week: Week, computed: Computed, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.writer.put(answer(week.since))
    monkeypatch.setattr(WeekReader, "kept_verdicts", lambda *_: {})
    [row] = [row for row in computed(week).targets if row.target == "glm"]
    assert (row.judgement, row.why) == (
        Judgement.UNSURE,
        "only the sums of 1 of 1 verdict are kept: a leak in no finding would not be seen",
    )


def test_one_stratum_for_some_minutes_is_not_good(
    store: Store, week: Week, computed: Computed
) -> None:
    for minute in range(20):
        store.writer.put(answer(week.since + timedelta(minutes=minute)))
    [row] = [row for row in computed(week).targets if row.target == "glm"]
    assert row.judgement is Judgement.UNSURE


def test_detectors_that_were_begun_after_the_week_are_not_told(
    store: Store, week: Week, computed: Computed
) -> None:
    before, later = week.since - timedelta(days=1), week.until + timedelta(hours=1)
    store.writer.put(answer(before, target="begun"))
    for name in ("begun", "late"):
        store.writer.put([*answer(week.since, "error", target=name), *answer(later, target=name)])
    keys = [
        StreamKey(target=name, lane=lane, probe=probe, stratum=stratum)
        for name in ("begun", "late")
        for lane, probe, stratum in (
            (Lane.HARD, STRATUM.probe, STRATUM.stratum),
            (Lane.FIRST_TOKEN, STRATUM.probe, ""),
            (Lane.TREND, "", ""),
        )
    ]
    for key in keys:
        watch = begin(0.001, Thresholds(page=1e6, ticket=None), by_age=key.lane is Lane.TREND)
        standing = Standing(
            key=key, watch=watch, held_by=HeldBy.DEFAULT, version=1, changed_at=later
        )
        store.writer.put([row_of(standing, CHECKS_VERSION, later)])
    report = computed(week)
    assert {(row.target, row.lane) for row in report.streams} == {
        ("begun", lane.value) for lane in (Lane.HARD, Lane.FIRST_TOKEN, Lane.TREND)
    }
    after = computed(Week.of(later))
    assert {row.target for row in after.streams} == {"begun", "late"}
    assert report.methods == METHODS, "no word of ours is cut"
