"""One fault, one finding."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.errors import UsageError
from monitor.findings import (
    REMEMBERED_TRIALS,
    Decision,
    Finding,
    Findings,
    FindingState,
    Rotation,
    findings_in,
    from_row,
    is_bare_wrong,
    to_row,
)
from monitor.model import Outcome, Signal, Status, Verdict, VerdictClass
from monitor.store import open_store
from tests.unit.store.samples import NOW, good, verdict

FRESH = count()
NEVER = datetime.min.replace(tzinfo=UTC)
OPENING = [each for each in VerdictClass if each > VerdictClass.WRONG]


class MemoryFindings:
    """A store of findings that keeps every version."""

    def __init__(self) -> None:
        self.saved: list[Finding] = []
        self.decisions: list[Decision] = []
        self.rotations: list[Rotation] = []

    def load(self, since: datetime) -> list[Finding]:
        return [
            f
            for f in self.latest().values()
            if f.is_open or f.first_seen >= since or (f.suppressed_until or NEVER) >= since
        ]

    def latest(self) -> dict[str, Finding]:
        return {finding.id: finding for finding in self.saved}

    def fetch(self, finding_id: str) -> Finding | None:
        return self.latest().get(finding_id)

    def save(self, finding: Finding) -> None:
        self.saved.append(finding)

    def decide(self, finding: Finding, decision: Decision) -> None:
        self.saved.append(finding)
        self.decisions.append(decision)

    def rotate(self, finding: Finding, rotation: Rotation) -> None:
        self.saved.append(finding)
        self.rotations.append(rotation)


def bad(
    verdict_class: VerdictClass, stratum: str = "s1", shape: str = "canary", target: str = "glm"
) -> Verdict:
    return verdict(
        next(FRESH), target, verdict_class=verdict_class, stratum=stratum, shape=shape, probe=shape
    )


def suspect(
    code: str = "FOREIGN", stratum: str = "s1", shape: str = "canary", variant: str = "partial"
) -> Verdict:
    flag = Signal(code=code, variant=variant, status=Status.FAIL, exchange=0)
    return good(
        next(FRESH),
        verdict_class=VerdictClass.SUSPECT,
        signals=(flag,),
        stratum=stratum,
        shape=shape,
    )


def findings(store: MemoryFindings | None = None) -> Findings:
    return Findings(store or MemoryFindings(), NOW)


@pytest.mark.parametrize("verdict_class", OPENING)
def test_a_bad_verdict_opens_a_confirmed_finding(verdict_class: VerdictClass) -> None:
    opened = findings().record(bad(verdict_class))
    assert opened is not None
    assert opened.verdict_class is verdict_class
    assert opened.state is FindingState.CONFIRMED
    assert opened.id.startswith("F-")
    assert len(opened.id) == 10
    assert (opened.count, len(opened.trials)) == (1, 1)


def test_the_id_is_the_same_whenever_the_first_verdict_is() -> None:
    first = bad(VerdictClass.LEAK)
    one, other = findings().record(first), findings().record(first)
    assert one is not None
    assert other is not None
    assert one.id == other.id


@pytest.mark.parametrize("outcome", [Outcome.GOOD, Outcome.ERROR, Outcome.INVALID])
def test_what_is_not_bad_opens_none(outcome: Outcome) -> None:
    assert findings().record(good(1, outcome=outcome)) is None


def test_wrong_alone_opens_none_but_joins_its_stratum() -> None:
    book = findings()
    assert book.record(bad(VerdictClass.WRONG)) is None
    opened = book.record(bad(VerdictClass.CONTRACT))
    joined = book.record(bad(VerdictClass.WRONG))
    assert opened is not None
    assert joined is not None
    assert (joined.id, joined.count) == (opened.id, 2)
    assert joined.verdict_class is VerdictClass.CONTRACT


def test_the_class_is_raised_in_place() -> None:
    book = findings()
    opened = book.record(bad(VerdictClass.CONTRACT))
    raised = book.record(bad(VerdictClass.LEAK))
    after = book.record(bad(VerdictClass.CORRUPT))
    assert opened is not None
    assert raised is not None
    assert after is not None
    assert opened.id == raised.id == after.id
    assert after.verdict_class is VerdictClass.LEAK
    assert len(book.list_open()) == 1


@pytest.mark.parametrize("root_class", [VerdictClass.LEAK, VerdictClass.CROSSED])
def test_other_strata_of_the_shape_become_children(root_class: VerdictClass) -> None:
    book = findings()
    root = book.record(bad(root_class, "s1"))
    child = book.record(bad(VerdictClass.LEAK, "s2"))
    assert root is not None
    assert child is not None
    assert child.id == root.id
    assert (child.stratum, child.children, child.count) == ("s1", ("s2",), 2)


def test_another_shape_opens_its_own_even_in_the_same_cell() -> None:
    book = findings()
    book.record(bad(VerdictClass.LEAK, "s1", "canary"))
    book.record(bad(VerdictClass.LEAK, "s1", "tenant"))
    book.record(bad(VerdictClass.LEAK, "s2", "prefix"))
    assert len(book.list_open("glm")) == 3


def test_another_target_opens_its_own() -> None:
    book = findings()
    book.record(bad(VerdictClass.LEAK, target="glm"))
    book.record(bad(VerdictClass.LEAK, target="qwen"))
    assert [len(book.list_open(target)) for target in ("glm", "qwen", "none")] == [1, 1, 0]


def test_no_children_without_a_leak_and_no_wrong_children() -> None:
    book = findings()
    book.record(bad(VerdictClass.CONTRACT, "s1"))
    book.record(bad(VerdictClass.CONTRACT, "s2"))
    assert len(book.list_open()) == 2
    book.record(bad(VerdictClass.LEAK, "s3"))
    assert book.record(bad(VerdictClass.WRONG, "s4")) is None


def test_a_stratum_with_a_finding_of_its_own_keeps_it() -> None:
    book = findings()
    own = book.record(bad(VerdictClass.CONTRACT, "s2"))
    book.record(bad(VerdictClass.LEAK, "s1"))
    later = book.record(bad(VerdictClass.CONTRACT, "s2"))
    assert own is not None
    assert later is not None
    assert (later.id, later.count, later.children) == (own.id, 2, ())


def test_foreign_parts_are_reviewed_at_most_twice_a_stratum_a_day() -> None:
    store = MemoryFindings()
    book = findings(store)
    for _ in range(2):
        opened = book.record(suspect())
        assert opened is not None
        assert opened.state is FindingState.NEEDS_REVIEW
        joined = book.record(suspect())
        assert joined is not None
        assert joined.id == opened.id
        book.dismiss(opened.id, "ann", "chance", NOW)
    assert book.record(suspect()) is None
    assert findings(store).record(suspect()) is None, "a restart forgets nothing"
    assert book.record(suspect("ENTITY", "s2", variant="novel")) is not None
    tomorrow = replace(suspect(), decided_at=NOW + timedelta(days=1))
    assert book.record(tomorrow) is not None


def test_personal_data_is_reviewed_and_confirmed_at_most_twice_a_stratum_a_day() -> None:
    book = findings()
    for confirmed in (True, False):
        opened = book.record(suspect("ENTITY", variant="novel"))
        assert opened is not None
        assert (opened.state, opened.verdict_class) == (
            FindingState.NEEDS_REVIEW,
            VerdictClass.SUSPECT,
        )
        claims = [book.claim_confirmation(opened.id, NOW) for _ in range(3)]
        assert claims == [confirmed, confirmed, False]
        book.dismiss(opened.id, "ann", "a made-up address", NOW)
    assert book.record(suspect("ENTITY", variant="novel")) is None


def test_a_count_of_names_is_shown_and_opens_nothing() -> None:
    book = findings()
    assert book.record(suspect("ENTITY", variant="names")) is None
    assert book.record(suspect("ENTITY", variant="novel")) is not None


def wrong_with(code: str, variant: str) -> Verdict:
    flags = (
        Signal(code="FACT", variant="missing", status=Status.FAIL, exchange=1),
        Signal(code=code, variant=variant, status=Status.FAIL, exchange=0),
    )
    return replace(bad(VerdictClass.WRONG), signals=flags)


def test_a_mistake_beside_it_does_not_hide_personal_data() -> None:
    book = findings()
    opened = book.record(wrong_with("ENTITY", "novel"))
    assert opened is not None
    assert (opened.state, opened.verdict_class, opened.opened_class) == (
        FindingState.NEEDS_REVIEW,
        VerdictClass.SUSPECT,
        VerdictClass.SUSPECT,
    )
    again = book.record(wrong_with("ENTITY", "novel"), confirms=opened.id)
    assert again is not None
    assert again.reproduced == 1
    bare = book.record(wrong_with("FACT", "missing"), confirms=opened.id)
    assert bare is not None
    assert bare.reproduced == 1


@pytest.mark.parametrize(("code", "variant"), [("FOREIGN", "partial"), ("ENTITY", "names")])
def test_a_mistake_with_weaker_suspicions_is_a_bare_one(code: str, variant: str) -> None:
    assert is_bare_wrong(wrong_with(code, variant))
    assert findings().record(wrong_with(code, variant)) is None


def test_other_suspicions_are_only_counted() -> None:
    assert findings().record(suspect("BOUNDARY")) is None


def test_proof_confirms_what_was_in_review() -> None:
    book = findings()
    book.record(suspect())
    proven = book.record(bad(VerdictClass.LEAK))
    assert proven is not None
    assert proven.state is FindingState.CONFIRMED
    assert proven.opened_class is VerdictClass.SUSPECT


def test_an_open_leak_freezes_its_shape_until_it_is_resolved() -> None:
    book = findings()
    leak = book.record(bad(VerdictClass.LEAK, shape="tenant"))
    book.record(bad(VerdictClass.CROSSED, shape="burst"))
    assert leak is not None
    assert book.frozen_shapes("glm") == {"tenant": leak.id}
    assert book.frozen_shapes("qwen") == {}
    resolved = book.resolve(leak.id, "ann", "engine upgraded", NOW)
    assert (resolved.state, resolved.who) == (FindingState.RESOLVED, "ann")
    assert resolved.why == "2026-11-02T12:30:15Z engine upgraded"
    assert book.frozen_shapes("glm") == {}


def test_after_it_is_closed_the_same_fault_opens_another() -> None:
    book = findings()
    first = book.record(bad(VerdictClass.LEAK))
    assert first is not None
    book.resolve(first.id, "ann", "done", NOW)
    second = book.record(bad(VerdictClass.LEAK))
    assert second is not None
    assert second.id != first.id


def test_only_open_findings_can_be_decided() -> None:
    book = findings()
    with pytest.raises(UsageError, match="F-NOTHING: no open finding has this id"):
        book.confirm("F-NOTHING", "ann", "because", NOW)
    opened = book.record(suspect())
    assert opened is not None
    assert book.confirm(opened.id, "ann", "seen", NOW).state is FindingState.CONFIRMED
    book.dismiss(opened.id, "ann", "no", NOW)
    with pytest.raises(UsageError):
        book.resolve(opened.id, "ann", "again", NOW)


def test_a_finding_is_confirmed_at_most_twice() -> None:
    store = MemoryFindings()
    opened = findings(store).record(bad(VerdictClass.LEAK))
    assert opened is not None
    assert findings(store).claim_confirmation(opened.id, NOW)
    book = findings(store)
    assert book.claim_confirmation(opened.id, NOW)
    assert not book.claim_confirmation(opened.id, NOW)
    assert not book.claim_confirmation("F-NOTHING", NOW)


def test_the_same_trial_again_is_counted_once() -> None:
    book = findings()
    again = bad(VerdictClass.LEAK)
    book.record(again)
    recorded = book.record(again)
    assert recorded is not None
    assert recorded.count == 1


def test_what_opened_it_what_made_it_worse_and_what_is_new_are_remembered() -> None:
    book = findings()
    shown = [bad(VerdictClass.CORRUPT) for _ in range(400)]
    leak = shown[100] = bad(VerdictClass.LEAK)
    for each in shown:
        found = book.record(each)
    assert found is not None
    assert (len(found.trials), found.count) == (REMEMBERED_TRIALS, 400)
    assert found.trials[:2] == (leak.trial, shown[0].trial)
    assert found.trials[-100:] == tuple(each.trial for each in shown[-100:])
    assert len(set(found.trials)) == REMEMBERED_TRIALS
    assert book.record(shown[-1]) == replace(found, version=found.version + 1)


STEPS = st.lists(
    st.tuples(
        st.sampled_from([each for each in VerdictClass if each is not VerdictClass.NONE]),
        st.sampled_from(["s1", "s2", "s3"]),
        st.sampled_from(["canary", "tenant"]),
        st.sampled_from(["record", "record", "record", "resolve", "restart"]),
    ),
    max_size=40,
)


@given(STEPS)
def test_never_two_open_findings_of_one_stratum_and_no_class_ever_sinks(
    steps: list[tuple[VerdictClass, str, str, str]],
) -> None:
    store = MemoryFindings()
    book = findings(store)
    for verdict_class, stratum, shape, action in steps:
        if action == "restart":
            book = findings(store)
        elif action == "resolve" and book.list_open():
            book.resolve(book.list_open()[0].id, "ann", "done", NOW)
        elif verdict_class is VerdictClass.SUSPECT:
            book.record(suspect("FOREIGN", stratum, shape))
        else:
            book.record(bad(verdict_class, stratum, shape))
        places = Counter((f.target, f.shape, f.stratum) for f in book.list_open())
        assert set(places.values()) <= {1}
    worst: dict[str, VerdictClass] = {}
    versions: dict[str, int] = {}
    for saved in store.saved:
        assert saved.verdict_class >= worst.get(saved.id, VerdictClass.NONE)
        assert saved.version == versions.get(saved.id, 0) + 1
        worst[saved.id], versions[saved.id] = saved.verdict_class, saved.version


@pytest.mark.parametrize(
    ("code", "variant", "urgent"),
    [
        ("BOUNDARY", "replaced", True),
        ("USAGE_IN", "placeholder", True),
        ("USAGE_IN", "constant", True),
        ("USAGE_IN", "plateau", False),
        ("BOUNDARY", "truncated", False),
    ],
)
def test_a_prompt_that_was_replaced_is_urgent_and_stays_so(
    code: str, variant: str, urgent: bool, tmp_path: Path
) -> None:
    signal = Signal(code=code, variant=variant, status=Status.FAIL, exchange=0)
    passed = replace(signal, status=Status.PASS)
    with open_store(tmp_path / "store") as store:
        book = findings_in(store, NOW)
        opened = book.record(replace(bad(VerdictClass.WRONG_INPUT), signals=(passed,)))
        assert opened is not None
        assert not opened.urgent
        raised = book.record(replace(bad(VerdictClass.WRONG_INPUT), signals=(signal,)))
        later = book.record(replace(bad(VerdictClass.CORRUPT), signals=()))
        assert raised is not None
        assert later is not None
        assert (raised.id, raised.urgent, later.urgent) == (opened.id, urgent, urgent)
    with open_store(tmp_path / "store") as store:
        (again,) = findings_in(store, NOW).list_open()
        assert again.urgent is urgent
        history = store.reader.finding_history(again.id)
        assert [version.urgent for version in history] == [False, urgent, urgent]


def test_whoever_listens_is_told_of_each_change_once_it_is_kept() -> None:
    store, told = MemoryFindings(), []
    book = findings(store)
    book.listen(lambda: told.append(len(store.saved)))
    opened = book.record(bad(VerdictClass.LEAK))
    assert opened is not None
    book.record(good(1))
    book.claim_confirmation(opened.id, NOW)
    book.resolve(opened.id, "ann", "done", NOW)
    assert told == [1, 2, 3]
    found = book.find(opened.id)
    assert found is not None
    assert found.state is FindingState.RESOLVED
    assert book.find("F-NOTHING") is None


def test_findings_survive_a_restart(tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as store:
        book = findings_in(store, NOW)
        book.record(bad(VerdictClass.LEAK, "s1"))
        book.record(bad(VerdictClass.LEAK, "s2"))
        closed = book.record(bad(VerdictClass.CONTRACT, shape="burst"))
        assert closed is not None
        book.resolve(closed.id, "ann", "done", NOW)
        before = book.list_open()
    with open_store(tmp_path / "store") as store:
        book = findings_in(store, NOW + timedelta(days=3))
        assert book.list_open() == before
        assert [row.id for row in store.reader.open_findings("glm")] == [before[0].id]
        row = store.reader.finding(closed.id)
        assert row is not None
        assert from_row(row).state is FindingState.RESOLVED
        assert to_row(from_row(row)) == row
