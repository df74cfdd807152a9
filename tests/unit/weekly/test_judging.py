"""The judgement of a target: bad if anything is, good only where everything was seen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from monitor.slo.objective import Sli
from monitor.weekly.inputs import Gap
from monitor.weekly.judging import (
    HOURS,
    LEAST_HOURS,
    LONGEST_UNKNOWN_HOURS,
    MOST_UNKNOWN_SHARE,
    Seen,
    judged,
)
from monitor.weekly.record import (
    Attainment,
    DayRow,
    Judgement,
    ObjectiveRow,
    StratumRow,
    TrendRow,
)
from monitor.weekly.running_record import ContextRow, NodeRow, RescoredRow, WithoutFindingRow
from tests.unit.weekly.samples import WEEK, a_finding, a_row
from tests.unit.weekly.test_coverage import place, target
from tests.unit.weekly.test_targets import week

COUNTS = {"good": 1, "bad": 0, "errors": 0, "invalid": 0}
WELL = {
    "readings": 28,
    "conforming": 28,
    "failing": 0,
    "unknown": 0,
    "unknown_ratio": 0.0,
    "hours_unknown": 0,
    "longest_unknown_hours": 0.5,
}
BELOW = "fails below what it says"


def stratum(shape: str = "canary", **given: Any) -> StratumRow:
    row: StratumRow = a_row(StratumRow, **(COUNTS | {"shape": shape, "planned": True} | given))
    return row


def objective(attainment: Attainment, probe: str = "", sli: Sli = Sli.SEMANTIC) -> ObjectiveRow:
    given = {"objective": "answers", "attainment": attainment, "probe": probe, "sli": sli.value}
    row: ObjectiveRow = a_row(ObjectiveRow, **given)
    return row


def node(**given: Any) -> NodeRow:
    row: NodeRow = a_row(NodeRow, **(WELL | given))
    return row


def loose(verdict_class: str, **given: Any) -> WithoutFindingRow:
    row: WithoutFindingRow = a_row(WithoutFindingRow, verdict_class=verdict_class, **given)
    return row


def seen(now: TrendRow | None = None, **given: Any) -> Seen:
    """Return a week in which all was seen and nothing was bad, but what is given."""
    whole = Seen(
        known=target(),
        now=now if now is not None else week(2_995),
        hours=HOURS,
        days=[a_row(DayRow, day=day, **COUNTS) for day in WEEK.days],
        objectives=[objective(Attainment.MET)],
        nodes=[node()],
        context=[a_row(ContextRow, in_week=True, state="verified as advertised")],
        strata=[stratum(), stratum("boundary")],
    )
    return replace(whole, **given)


def test_good_stands_with_what_it_is_good_under() -> None:
    judgement, why = judged(seen(hours=100))
    assert judgement is Judgement.GOOD
    assert why == (
        "0 bad of 2,995 judged: at most 0.1000% by the exact bound of one look, only for the "
        "2 planned strata and 100 of 168 hours that were seen"
    )


BAD = {
    "a finding": ({"findings": [a_finding()]}, "1 finding, the worst LEAK"),
    "a finding that was closed": ({"findings": [a_finding(state="resolved")]}, "1 finding"),
    "findings": (
        {"findings": [a_finding(finding_class="DRIFT"), a_finding()]},
        "2 findings, the worst LEAK",
    ),
    "answers judged again": (
        {"rescored": [a_row(RescoredRow, verdict_class="LEAK", answers=100)]},
        "100 kept answers were found bad when judged again, the worst LEAK",
    ),
    "a leak in no finding": (
        {"without_finding": [loose("CONTRACT"), loose("LEAK", scheduled=False, verdicts=1)]},
        "1 bad verdict is in no finding, the worst LEAK",
    ),
    "an answer crossed in no finding": (
        {"without_finding": [loose("CROSSED", verdicts=2)]},
        "2 bad verdicts are in no finding, the worst CROSSED",
    ),
    "too many": ({"now": week(1_000, bad=50)}, "more than 0.1000% of its answers"),
    "an objective": ({"objectives": [objective(Attainment.MISSED)]}, "objective answers"),
    "one of a probe": ({"objectives": [objective(Attainment.MISSED, "pair")]}, "missed over"),
    "a node": (
        {"nodes": [node(failing=28)]},
        "1 node failed in 28 readings",
    ),
    "context": ({"context": [a_row(ContextRow, in_week=True, state=BELOW)]}, BELOW),
}


@pytest.mark.parametrize("name", BAD)
def test_anything_bad_is_bad_however_good_the_answers_are(name: str) -> None:
    given, words = BAD[name]
    judgement, why = judged(seen(**given))
    assert judgement is Judgement.BAD
    assert words in why


@pytest.mark.parametrize("name", BAD)
def test_what_is_bad_is_so_too_where_little_was_seen(name: str) -> None:
    given, _ = BAD[name]
    few = {"hours": 1, "strata": [stratum(good=0)], "now": week(0)} | given
    assert judged(seen(**few))[0] is Judgement.BAD


@pytest.mark.parametrize("name", [n for n in BAD if n.startswith(("a finding", "a node"))])
def test_a_target_that_is_not_configured_any_more_is_bad_by_what_is_open(name: str) -> None:
    given, _ = BAD[name]
    gone = {"known": None, "strata": (), "objectives": (), "context": (), "now": week(0)}
    assert judged(seen(**gone | given))[0] is Judgement.BAD


UNSURE = {
    "nothing asked": ({"now": week(0)}, "nothing was asked"),
    "not configured": ({"known": None}, "not configured any more"),
    "errors": ({"now": week(3_000, errors=3_001)}, "could be judged"),
    "errors alone": ({"now": week(0, errors=9)}, "only 0 of 9"),
    "invalid": ({"now": week(3_000, invalid=3_001)}, "could be judged"),
    "in review": (
        {"findings": [a_finding(finding_class="SUSPECT", state="needs_review")]},
        "1 finding in review",
    ),
    "a stratum": (
        {"strata": [stratum(), stratum(good=0, errors=9)]},
        "1 of 2 planned strata were never judged",
    ),
    "a boundary": (
        {"strata": [stratum(), stratum("boundary", good=0)]},
        "1 of 2 planned strata were never judged, 1 of them at boundaries",
    ),
    "a stratum that is hardly judged": (
        {"strata": [stratum(good=168), stratum(good=5, invalid=167)]},
        "in 1 of 2 planned strata less than half of what was asked could be judged",
    ),
    "no plan": ({"strata": [stratum(planned=False)]}, "nothing is planned"),
    "a day": (
        {"days": [a_row(DayRow, **(COUNTS | {"good": n})) for n in range(7)]},
        "on 1 of 7 days",
    ),
    "hours": ({"hours": LEAST_HOURS - 1}, "in 85 of 168 hours"),
    "a bad stratum": (
        {"now": week(100_000, bad=20), "strata": [stratum(good=0, bad=20)]},
        "in 1 stratum more were bad",
    ),
    "too few": ({"now": week(2_994)}, "leave up to 0.1000%"),
    "some bad": ({"now": week(5_000, bad=3)}, "may be bad"),
    "not shown": ({"objectives": [objective(Attainment.NOT_SHOWN)]}, "objective answers"),
    "unknown": ({"objectives": [objective(Attainment.UNKNOWN)]}, "not shown to be met"),
    "nodes": ({"known": replace(target(), nodes=("A",)), "nodes": ()}, "nodes were not read"),
    "found nodes": (
        {"known": replace(target(), finds_nodes=True), "nodes": ()},
        "nodes were not read",
    ),
    "a node that was never read": (
        {"known": replace(target(), nodes=("A", "B")), "nodes": [node(node="A")]},
        "never read: 1 of its 2 listed nodes",
    ),
    "unsure nodes": (
        {"nodes": [node(), node(unknown=3, unknown_ratio=MOST_UNKNOWN_SHARE + 0.01)]},
        "1 node could not be told for long: at worst in 11.0% of the readings",
    ),
    "a silent node": (
        {"nodes": [node(longest_unknown_hours=LONGEST_UNKNOWN_HOURS + 0.5)]},
        "for 12.5 hours at a stretch",
    ),
    "silent nodes": (
        {"nodes_silent_hours": LONGEST_UNKNOWN_HOURS + 0.5},
        "for 12.5 hours no reading of any node could tell",
    ),
    "coverage": (
        {"objectives": [objective(Attainment.MISSED, sli=Sli.COVERAGE)]},
        "not shown to be met: objective answers",
    ),
    "a bad answer in no finding": (
        {"without_finding": [loose("CONTRACT", verdicts=3)]},
        "3 bad verdicts are in no finding, the worst CONTRACT",
    ),
    "rows that expired": (
        {"verdicts": 9_000, "rows_gone": 1_234},
        "only the sums of 1,234 of 9,000 verdicts are kept: a leak in no finding would not be",
    ),
    "mistakes judged again": (
        {"rescored": [a_row(RescoredRow, verdict_class="WRONG", answers=2)]},
        "2 kept answers were found bad when judged again, the worst WRONG",
    ),
    "old context": ({"context": [a_row(ContextRow, in_week=False, state=BELOW)]}, "last measured"),
}


@pytest.mark.parametrize("name", UNSURE)
def test_what_was_not_seen_could_not_be_told(name: str) -> None:
    given, words = UNSURE[name]
    judgement, why = judged(seen(**given))
    assert judgement is Judgement.UNSURE
    assert words in why


def test_what_is_no_fault_leaves_a_target_good() -> None:
    dismissed = [a_finding(state="dismissed")]
    assert judged(seen(findings=dismissed))[0] is Judgement.GOOD
    by_probe = [objective(Attainment.MET), objective(Attainment.NOT_SHOWN, "pair")]
    assert judged(seen(objectives=by_probe))[0] is Judgement.GOOD
    mistakes = [loose("WRONG", scheduled=False)]
    assert judged(seen(without_finding=mistakes))[0] is Judgement.GOOD


def test_good_says_what_could_not_be_judged_and_what_was_dismissed() -> None:
    now = week(3_000, errors=1_000, invalid=1_345)
    dismissed = [a_finding(state="dismissed"), a_finding(state="dismissed")]
    judgement, why = judged(seen(now, findings=dismissed))
    assert judgement is Judgement.GOOD
    assert why.endswith(
        "hours that were seen; 2,345 of 5,345 asked could not be judged; "
        "2 findings dismissed in the week"
    )
    one = judged(seen(findings=dismissed[:1]))[1]
    assert one.endswith("hours that were seen; 1 finding dismissed in the week")


def test_good_says_of_how_few_verdicts_the_rows_are_gone() -> None:
    judgement, why = judged(seen(verdicts=9_000, rows_gone=90))
    assert judgement is Judgement.GOOD
    assert why.endswith("; only the sums of 90 of 9,000 verdicts are kept")
    assert judged(seen(verdicts=9_000, rows_gone=91))[0] is Judgement.UNSURE


def test_what_was_seen_in_the_week_is_told_before_what_objectives_came_to() -> None:
    given = {"objectives": [objective(Attainment.MISSED)], "nodes": [node(failing=28)]}
    assert judged(seen(**given))[1] == "1 node failed in 28 readings"
    given |= {"nodes": [node()], "context": [a_row(ContextRow, in_week=True, state=BELOW)]}
    assert judged(seen(**given))[1] == "its context fails below what it says"


def harsh(stratum: str, code: str = "not_gentle") -> Gap:
    return Gap(probe="prefill", stratum=stratum, code=code, reason="", tokens=None)


def test_sizes_that_the_configuration_spares_a_target_are_named_and_leave_it_good() -> None:
    long, short = "long/c1/cold/plain/one", "short/c1/cold/plain/one"
    known = replace(target(place("canary", "short")), gaps=(harsh(long), harsh(short)))
    row = replace(objective(Attainment.MISSED, sli=Sli.COVERAGE), bad=1)
    given = {"known": known, "strata": [stratum(stratum=short)]}
    judgement, why = judged(seen(objectives=[row], **given))
    assert judgement is Judgement.GOOD
    assert why.endswith("; size long left out as not gentle (gentle: false asks it)")
    # Nothing excuses an objective over answers, or a size that is left out for another reason.
    other = replace(known, gaps=(harsh(long), harsh("8k/c1/cold/plain/one", "budget")))
    both = replace(row, bad=2)
    frozen = replace(known, gaps=(harsh(long), harsh(long, "frozen")))
    for objectives, of in (
        ([objective(Attainment.NOT_SHOWN)], known),
        ([both], other),
        ([row], frozen),
        ([both], known),
    ):
        assert judged(seen(**given | {"objectives": objectives, "known": of}))[0] is (
            Judgement.UNSURE
        )


def test_good_says_how_many_readings_of_nodes_could_not_tell() -> None:
    most = node(
        unknown=2,
        unknown_ratio=MOST_UNKNOWN_SHARE,
        longest_unknown_hours=LONGEST_UNKNOWN_HOURS,
    )
    judgement, why = judged(seen(nodes=[most], nodes_silent_hours=LONGEST_UNKNOWN_HOURS))
    assert judgement is Judgement.GOOD
    assert why.endswith("; 2 of 28 readings of nodes could not tell")
