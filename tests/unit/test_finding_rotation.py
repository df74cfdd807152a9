"""What people tell of rotation: kept with who and when, and what a drained leak takes no more."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.errors import UsageError
from monitor.findings import (
    Decision,
    Finding,
    Findings,
    FindingState,
    Rotation,
    Turn,
    findings_in,
)
from monitor.model import VerdictClass
from monitor.paging.reconcile import decision_of
from monitor.reports.findings import decided_line
from monitor.store import open_store
from tests.unit.store.samples import NOW
from tests.unit.test_finding_decisions import flawed, opened_by
from tests.unit.test_findings import MemoryFindings, bad, findings

BROKEN = (VerdictClass.LEAK, VerdictClass.CROSSED)


def minutes(number: float) -> datetime:
    return NOW + timedelta(minutes=number)


def turn(rotation: Rotation = Rotation.DRAINED, told: float = 10, at: float | None = None) -> Turn:
    return Turn(
        rotation=rotation,
        who="ann",
        why="a leak",
        told_at=minutes(told),
        at=None if at is None else minutes(at),
    )


def leak(book: Findings, stratum: str = "s1", at: float = 0, **of: str) -> Finding:
    shape = of.get("shape", "canary")
    verdict_class = VerdictClass[of.get("verdict_class", "LEAK")]
    return opened_by(book, flawed(verdict_class, stratum=stratum, shape=shape, at=minutes(at)))


def test_it_is_kept_with_who_and_when_and_decides_nothing() -> None:
    store = MemoryFindings()
    book = findings(store)
    opened = leak(book)
    drained = book.rotate(opened.id, turn(at=5))
    assert drained == replace(
        opened,
        version=opened.version + 1,
        changed_at=minutes(10),
        out_of_rotation_at=minutes(5),
        rotation_by="ann",
        rotation_why="a leak",
    )
    assert decision_of(drained) == "", "a pipeline that drains acknowledges no page"
    assert (drained.is_out_of_rotation, store.rotations) == (True, [Rotation.DRAINED])
    back = book.rotate(opened.id, turn(Rotation.RETURNED, told=20))
    assert (back.out_of_rotation_at, back.back_in_rotation_at) == (minutes(5), minutes(20))
    assert not back.is_out_of_rotation
    again = book.rotate(opened.id, turn(told=30))
    assert (again.out_of_rotation_at, again.back_in_rotation_at) == (minutes(30), None)
    assert book.resolve(opened.id, "ann", "mended", minutes(40)).out_of_rotation_at == minutes(30)


@pytest.mark.parametrize("verdict_class", BROKEN)
def test_a_stratum_that_shows_after_the_target_was_drained_opens_its_own(
    verdict_class: VerdictClass,
) -> None:
    book = findings()
    name = verdict_class.name
    root = leak(book, verdict_class=name)
    assert leak(book, "s2", 1, verdict_class=name).id == root.id
    book.rotate(root.id, turn(at=5))
    assert leak(book, "late", 5, verdict_class=name).id == root.id, "it came before"
    other = leak(book, "s3", 6, verdict_class=name)
    assert (other.id != root.id, other.children) == (True, ())
    assert leak(book, "s1", 7, verdict_class=name).id == root.id, "the same fault again"
    assert leak(book, "s2", 7, verdict_class=name).id == root.id, "a child that is known"
    assert leak(book, "s4", 8, verdict_class=name).id == other.id, "nobody drained for that one"
    assert {each.id: each.children for each in book.list_open()} == {
        root.id: ("s2", "late"),
        other.id: ("s4",),
    }


def test_a_milder_fault_of_a_drained_target_is_its_own_too() -> None:
    book = findings()
    root = leak(book)
    book.rotate(root.id, turn())
    other = leak(book, "s2", 11, verdict_class="CONTRACT")
    assert other.id != root.id
    assert other.verdict_class is VerdictClass.CONTRACT


def test_put_back_it_takes_children_again_but_not_those_of_another() -> None:
    book = findings()
    root = leak(book)
    book.rotate(root.id, turn())
    other = leak(book, "s2", 11)
    assert leak(book, "s3", 12).id == other.id
    book.rotate(root.id, turn(Rotation.RETURNED, told=20))
    assert leak(book, "s4", 21).id == root.id
    assert leak(book, "s3", 22).id == other.id


def test_what_a_person_examines_belongs_to_what_they_examine() -> None:
    book = findings()
    root = leak(book)
    book.rotate(root.id, turn())
    looked = book.record(flawed(VerdictClass.LEAK, stratum="s2", at=minutes(11)), examines=root.id)
    assert looked is not None
    assert (looked.id, looked.children) == (root.id, ("s2",))


def test_opened_again_its_target_counts_as_in_rotation() -> None:
    book = findings()
    root = leak(book)
    book.rotate(root.id, turn())
    book.resolve(root.id, "ann", "mended", minutes(20))
    again = book.reopen(root.id, "bob", "it is back", minutes(30))
    assert (again.out_of_rotation_at, again.back_in_rotation_at) == (minutes(10), minutes(30))
    assert (again.rotation_by, again.rotation_why) == ("bob", "reopened")
    assert leak(book, "s2", 31).id == root.id


@pytest.mark.parametrize(
    ("told", "refusal"),
    [
        (turn(told=10, at=10.01), "is still to come, now is 2026-11-02T12:40:15.250Z"),
        (turn(at=-0.01), r"is before its onset, 2026-11-02T12:30:15.250Z: give --at a time since"),
        (turn(Rotation.RETURNED), "nobody told that its target is out of rotation now .* --at"),
    ],
    ids=["to come", "before the onset", "never out"],
)
def test_times_that_cannot_be_are_refused_with_what_to_do(told: Turn, refusal: str) -> None:
    store = MemoryFindings()
    book = findings(store)
    opened = leak(book)
    with pytest.raises(UsageError, match=f"^{opened.id}: .*{refusal}"):
        book.rotate(opened.id, told)
    assert store.saved == [opened]


def test_what_stands_so_already_or_is_closed_is_refused_with_what_to_do() -> None:
    book = findings()
    opened = leak(book)
    book.rotate(opened.id, turn())
    already = r"out of rotation already since 2026-11-02T12:40:15.250Z, as ann told \(davylamp "
    with pytest.raises(UsageError, match=f"{already}findings returned {opened.id}"):
        book.rotate(opened.id, turn(told=11))
    early = turn(Rotation.RETURNED, told=12, at=9.99)
    with pytest.raises(UsageError, match=r"before its target was taken out .*12:40:15.250Z"):
        book.rotate(opened.id, early)
    book.resolve(opened.id, "ann", "mended", minutes(20))
    closed = r"is closed already \(resolved\).* \(davylamp findings reopen F-"
    with pytest.raises(UsageError, match=closed):
        book.rotate(opened.id, turn(Rotation.RETURNED, told=21))
    with pytest.raises(UsageError, match="no open finding has this id"):
        book.rotate("F-NOTHING", turn())


def test_it_is_not_taken_out_before_it_was_put_back_unless_that_time_was_wrong() -> None:
    book = findings()
    opened = leak(book)
    book.rotate(opened.id, turn(told=10))
    book.rotate(opened.id, turn(Rotation.RETURNED, told=20))
    with pytest.raises(UsageError, match=r"is before its target was put back, 2026-11-02T12:50:15"):
        book.rotate(opened.id, turn(told=31, at=15))
    assert book.rotate(opened.id, turn(told=15)).out_of_rotation_at == minutes(20)
    book.rotate(opened.id, turn(Rotation.RETURNED, told=40, at=20))
    corrected = book.rotate(opened.id, turn(told=41, at=19))
    assert (corrected.out_of_rotation_at, corrected.back_in_rotation_at) == (minutes(19), None)


def test_a_time_is_as_good_as_it_was_shown() -> None:
    book = findings()
    odd = replace(bad(VerdictClass.LEAK), decided_at=NOW + timedelta(microseconds=700))
    opened = opened_by(book, odd)
    assert book.rotate(opened.id, turn(at=0)).out_of_rotation_at == NOW


def test_a_clock_that_jumps_back_turns_nothing_round() -> None:
    book = findings()
    opened = leak(book)
    assert book.rotate(opened.id, turn(told=-60)).out_of_rotation_at == opened.first_seen
    back = book.rotate(opened.id, turn(Rotation.RETURNED, told=-30))
    assert (back.back_in_rotation_at, back.changed_at) == (opened.first_seen, opened.changed_at)


def test_a_clock_that_jumped_back_puts_none_back_before_it_was_out() -> None:
    book = findings()
    opened = leak(book)
    book.rotate(opened.id, turn(told=60))
    book.resolve(opened.id, "ann", "mended", minutes(70))
    again = book.reopen(opened.id, "bob", "it is back", minutes(20))
    assert (again.out_of_rotation_at, again.back_in_rotation_at) == (minutes(60), minutes(60))


def test_only_who_opens_again_is_told_that_it_counts_as_in_rotation() -> None:
    book = findings()
    opened = leak(book)
    book.rotate(opened.id, turn(told=60))
    book.rotate(opened.id, turn(Rotation.RETURNED, told=70))
    confirmed = book.confirm(opened.id, "ann", "seen", minutes(65))
    assert decided_line(confirmed, Decision.CONFIRM) == f"{opened.id} is confirmed"
    book.rotate(opened.id, turn(told=80))
    book.resolve(opened.id, "ann", "mended", minutes(90))
    again = decided_line(book.reopen(opened.id, "ann", "seen", minutes(50)), Decision.REOPEN)
    assert f"in rotation (if it is not: davylamp findings drained {opened.id})" in again
    never = leak(book, shape="pair")
    book.resolve(never.id, "ann", "mended", minutes(90))
    plain = decided_line(book.reopen(never.id, "ann", "seen", minutes(91)), Decision.REOPEN)
    assert plain == f"{never.id} is confirmed"


def test_it_is_kept_over_a_restart_with_its_links_and_history(tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as store:
        book = findings_in(store, NOW)
        root = opened_by(book, flawed(VerdictClass.LEAK))
        book.rotate(root.id, turn(at=5))
    with open_store(tmp_path / "store") as store:
        book = findings_in(store, minutes(60))
        assert opened_by(book, flawed(VerdictClass.LEAK, stratum="s2", at=minutes(61))) != root
        book.rotate(root.id, turn(Rotation.RETURNED, told=62, at=61.5))
        drained, returned = store.audit.links(2)
        assert [(each.action, each.object, each.actor) for each in (drained, returned)] == [
            ("drained", root.id, "ann"),
            ("returned", root.id, "ann"),
        ]
        said = json.loads(drained.details)
        assert (said["happened_at"], said["target"]) == ("2026-11-02T12:35:15.250Z", "glm")
        assert json.loads(returned.details)["happened_at"] == "2026-11-02T13:31:45.250Z"
        assert "a leak" not in drained.details
        store.flush()
        history = store.reader.finding_history(root.id)
    assert [(row.out_of_rotation_at, row.back_in_rotation_at) for row in history] == [
        (None, None),
        (minutes(5), None),
        (minutes(5), minutes(61.5)),
    ]
    assert [row.rotation_why for row in history] == ["", "a leak", "a leak"]
    assert {row.who for row in history} == {""}


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["leak"] * 4 + ["drained", "returned", "resolve", "reopen", "restart"]),
        st.sampled_from(["s1", "s2", "s3", "s4"]),
    ),
    max_size=30,
)


@given(STEPS)
def test_in_no_order_is_a_leak_swallowed_by_one_whose_target_is_out(
    steps: list[tuple[str, str]],
) -> None:
    store, now = MemoryFindings(), 0.0
    book = findings(store)
    for action, stratum in steps:
        now += 1
        before = {each.id: each for each in store.latest().values()}
        if action == "restart":
            book = Findings(store, minutes(now))
        elif action == "leak":
            found = leak(book, stratum, now)
            was = before.get(found.id)
            if was is not None and was.is_out_of_rotation:
                assert stratum in was.strata
            knew = [each for each in before.values() if each.is_open and stratum in each.strata]
            assert not knew or found.id in {each.id for each in knew}
        else:
            _act(book, store, action, now)
    for finding in store.latest().values():
        out, back = finding.out_of_rotation_at, finding.back_in_rotation_at
        assert back is None or (out is not None and finding.first_seen <= out <= back)
        assert finding.state in (FindingState.CONFIRMED, FindingState.RESOLVED)


def _act(book: Findings, store: MemoryFindings, action: str, now: float) -> None:
    wanted = action == "reopen"
    one = next((f for f in store.latest().values() if f.is_open is not wanted), None)
    if one is None:
        return
    try:
        if action in list(Rotation):
            book.rotate(one.id, turn(Rotation(action), told=now))
        else:
            getattr(book, action)(one.id, "ann", "why", minutes(now))
    except UsageError as error:
        refused = str(error)
    else:
        return
    assert "already" in refused or "nobody told" in refused or "open for the same" in refused
