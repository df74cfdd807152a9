"""What nobody looked at is told, whatever kept anybody from it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from monitor.slo import Objective
from monitor.slo.objective import Sli
from monitor.weekly import unseen
from monitor.weekly.inputs import Asked, Gap, KnownTarget
from monitor.weekly.record import CellState, DayRow, StratumRow
from monitor.weekly.running_record import ContextRow, NodeRow, UnjudgedRow
from tests.unit.weekly.samples import WEEK, a_cell, a_finding, a_row


def asked(*objectives: Objective, nodes: tuple[str, ...] = (), finds: bool = False) -> Asked:
    known = KnownTarget(
        name="glm",
        model="m",
        asked=True,
        nodes=nodes,
        finds_nodes=finds,
        objective_ratio=0.999,
        planned=(),
        gaps=(
            Gap(probe="abort", stratum="pages/c2", code="not_gentle", reason="harm", tokens=1_994),
        ),
    )
    return Asked(week=WEEK, environment="lab", targets=(known,), objectives=objectives, accepted=())


def objective(name: str, sli: Sli) -> Objective:
    return Objective(
        name=name, sli=sli, ratio=0.99, window_seconds=86_400, volume_a_day=0, volume_from=""
    )


def test_days_and_hours_without_a_verdict() -> None:
    days = [
        a_row(DayRow, day=day, good=int(day == WEEK.days[0]), bad=0, errors=5, invalid=2)
        for day in WEEK.days[:3]
    ]
    rows = list(unseen.unseen_times(days, {"glm": 100}, ["glm", "kimi"]))
    assert [(row.target, row.what, row.where) for row in rows] == [
        ("glm", "days", "2026-11-03, 2026-11-04"),
        ("glm", "hours", "68 of 168 hours"),
        ("kimi", "hours", "168 of 168 hours"),
    ]
    whole = [a_row(DayRow, day=day) for day in WEEK.days]
    assert not list(unseen.unseen_times(whole, {"glm": 168}, ["glm"]))


def test_strata_that_were_never_asked_never_answered_or_hardly_judged() -> None:
    counts = {"good": 0, "bad": 0, "errors": 0, "invalid": 0}
    never = a_row(StratumRow, **counts)
    mute = a_row(StratumRow, **(counts | {"errors": 4, "invalid": 1}))
    fine = a_row(StratumRow, **(counts | {"good": 1}))
    blind = a_row(StratumRow, **(counts | {"good": 5, "errors": 1, "invalid": 166}))
    half = a_row(StratumRow, **(counts | {"good": 5, "errors": 2, "invalid": 3}))
    rows = list(unseen.unseen_strata([never, mute, fine, blind, half]))
    assert [row.why for row in rows] == [
        "never asked",
        "asked 5 times, no answer could be judged",
        "asked 172 times, only 5 could be judged",
    ]


def test_what_a_plan_leaves_out_with_its_price() -> None:
    [row] = unseen.unplanned(asked().targets[0])
    assert (row.what, row.where, row.tokens) == ("stratum (not_gentle)", "abort pages/c2", 1_994)


def test_cells_without_a_plan_are_gathered_by_shape() -> None:
    cells = [a_cell(CellState.NOT_PLANNED, length=length) for length in ("8k", "32k")]
    [row] = unseen.unseen_cells([*cells, a_cell(CellState.CLEAN), a_cell(CellState.FAILING)])
    assert row.where == "canary at c1: 8k, 32k"


def test_shapes_that_an_open_leak_held_back_and_for_how_long() -> None:
    held = 143 * 3600.0
    leaks = [
        a_finding(shape="pair", seconds_held=168 * 3600.0),
        a_finding(shape="burst", closed_at=WEEK.until, finding="F-1", seconds_held=held),
        a_finding(shape="golden", finding_class="CROSSED", seconds_held=0.0),
        a_finding(shape="scan", seconds_held=held),
    ]
    rows = list(unseen.unseen_shapes(leaks))
    assert [row.where for row in rows] == [
        "pair, for 168.0 of 168 hours",
        "burst, for 143.0 of 168 hours",
    ]
    assert rows[1].why == "held back while finding F-1 was open: asking would read others' text"


def test_verdicts_of_which_only_sums_are_left() -> None:
    rows = [a_row(UnjudgedRow, target=name, verdicts=10) for name in ("glm", "kimi", "gone")]
    found = list(unseen.unseen_rows(rows, {"glm": 10, "kimi": 7}))
    assert [(row.target, row.where) for row in found] == [
        ("kimi", "3 of 10 verdicts"),
        ("gone", "10 of 10 verdicts"),
    ]


def test_context_that_is_old_or_was_never_measured() -> None:
    never = a_row(ContextRow, target="kimi", in_week=False, measured_at=None)
    old = a_row(ContextRow, in_week=False, measured_at=WEEK.since - timedelta(days=3))
    now = a_row(ContextRow, target="mute", in_week=True)
    rows = list(unseen.unseen_sources(asked(), [never, old, now]))
    assert [(r.target, r.why) for r in rows if r.what == "context"] == [
        ("kimi", "not measured in the week: never measured"),
        ("glm", "not measured in the week: last on 2026-10-30"),
    ]


def test_nodes_that_are_not_configured_not_read_or_could_not_tell() -> None:
    def told(of: Asked, *nodes: NodeRow, silent: float = 0.0) -> list[str]:
        rows = list(unseen.unseen_nodes(of, nodes, {"glm": silent}))
        assert {row.what for row in rows} <= {"nodes"}
        return [row.why for row in rows]

    assert told(asked()) == ["none is configured"]
    of = asked(finds=True)
    assert told(of) == ["no reading is stored"]
    last = WEEK.until - timedelta(hours=12)
    unsure = a_row(
        NodeRow,
        unknown=3,
        readings=28,
        hours_unknown=30,
        longest_unknown_hours=7.25,
        last_at=last,
    )
    assert told(of, unsure) == [
        "3 of 28 readings could not tell; none could in 30 of 168 hours, 7.2 in a row"
    ]
    well = replace(unsure, unknown=0)
    assert told(of, well) == []
    assert told(of, well, silent=60.0) == [
        "for 60.0 hours at a stretch no reading of any node could tell"
    ]


def test_each_listed_node_that_was_not_read_and_each_that_fell_silent_is_named() -> None:
    def told(*nodes: NodeRow) -> list[tuple[str, str]]:
        rows = unseen.unseen_nodes(asked(nodes=("A", "B")), nodes, {"glm": 0.5})
        return [(row.where, row.why) for row in rows]

    well = a_row(
        NodeRow,
        node="A",
        unknown=0,
        readings=168,
        hours_unknown=0,
        longest_unknown_hours=1.0,
        last_at=WEEK.until - timedelta(hours=1),
    )
    never = ("node B", "listed, and never read")
    assert told(well) == [never]
    assert told() == [
        ("versions, settings and pools", "no reading is stored"),
        ("node A", "listed, and never read"),
        never,
    ]
    at = WEEK.since + timedelta(hours=1)
    once = replace(well, node="B", readings=1, hours_unknown=167, last_at=at)
    words = "not read since 2026-11-02 01:00 UTC, 167.0 hours before the end"
    # One that was found and is gone is held to the time in which it was there.
    found = replace(once, node="found", longest_unknown_hours=0.0)
    silent = replace(once, longest_unknown_hours=167.0)
    assert told(well, found, silent) == [
        ("node found", words),
        (
            "node B",
            "0 of 1 readings could not tell; none could in 167 of 168 hours, 167.0 in a row; "
            + words,
        ),
    ]


def test_objectives_of_prometheus_alone_production_the_drill_and_traffic() -> None:
    of = asked(objective("semantic", Sli.SEMANTIC), objective("slow", Sli.LATENCY))
    rows = {row.what: row.where for row in unseen.unseen_sources(of, [])}
    assert rows["production"] == "status codes and latency of users"
    assert {"drill", "traffic"} <= rows.keys()
    mapped = asked(objective("users", Sli.PRODUCTION))
    [row] = [row for row in unseen.unseen_sources(mapped, []) if row.what == "production"]
    assert (row.where, "Prometheus alone" in row.why) == ("users", True)


def test_streams_that_cannot_be_read() -> None:
    gap = Gap(probe="canary", stratum="s", code="unreadable", reason="damaged", tokens=None)
    [row] = unseen.unreadable([("glm", gap)])
    assert (row.target, row.what, row.why) == ("glm", "stratum (unreadable)", "damaged")
