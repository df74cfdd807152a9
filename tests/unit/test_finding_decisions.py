"""Opening again, suppressing twins, and that no order of it all breaks what findings promise."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.errors import UsageError
from monitor.findings import (
    MOST_SUPPRESSION,
    Finding,
    Findings,
    FindingState,
    StoredFindings,
    finding_named,
    findings_in,
)
from monitor.model import Signal, Status, Verdict, VerdictClass
from monitor.store import open_store
from tests.unit.store.samples import NOW
from tests.unit.test_findings import MemoryFindings, bad, findings, suspect

WEEK = timedelta(days=7)


def flawed(
    verdict_class: VerdictClass = VerdictClass.CONTRACT,
    *variants: str,
    stratum: str = "s1",
    shape: str = "canary",
    at: datetime = NOW,
) -> Verdict:
    """Return a bad verdict that fails in these variants of EMPTY."""
    signals = tuple(
        Signal(code="EMPTY", variant=variant, status=Status.FAIL, exchange=0)
        for variant in variants or ("empty",)
    )
    told = bad(verdict_class, stratum, shape)
    return replace(told, signals=signals, decided_at=at)


def opened_by(book: Findings, verdict: Verdict) -> Finding:
    finding = book.record(verdict)
    assert finding is not None
    return finding


def dismissed(book: Findings, verdict: Verdict, suppress: timedelta | None = WEEK) -> Finding:
    opened = opened_by(book, verdict)
    return book.dismiss(opened.id, "ann", "a known quirk", NOW, suppress=suppress)


@pytest.mark.parametrize("close", ["resolve", "dismiss"])
@pytest.mark.parametrize("verdict_class", [VerdictClass.LEAK, VerdictClass.CONTRACT])
def test_a_closed_finding_is_opened_again_with_all_it_knew(
    close: str, verdict_class: VerdictClass
) -> None:
    store = MemoryFindings()
    book = findings(store)
    opened = opened_by(book, bad(verdict_class))
    getattr(book, close)(opened.id, "ann", "done", NOW)
    # A restart days later: it is in the store only.
    later = Findings(store, NOW + timedelta(days=9))
    again = later.reopen(opened.id, "bob", "it is back", NOW + timedelta(days=9))
    assert (again.id, again.state, again.verdict_class) == (
        opened.id,
        FindingState.CONFIRMED,
        verdict_class,
    )
    assert (again.trials, again.count, again.first_seen) == (
        opened.trials,
        opened.count,
        opened.first_seen,
    )
    assert (again.who, again.why) == ("bob", "2026-11-11T12:30:15Z it is back")
    assert store.decisions[-1].value == "reopen"
    assert ("canary" in later.frozen_shapes("glm")) is (verdict_class is VerdictClass.LEAK)
    assert opened_by(later, bad(verdict_class)).id == opened.id


def test_what_was_in_review_is_in_review_again() -> None:
    book = findings()
    opened = opened_by(book, suspect())
    book.dismiss(opened.id, "ann", "no", NOW)
    assert book.reopen(opened.id, "ann", "yes", NOW).state is FindingState.NEEDS_REVIEW


def test_only_a_closed_finding_without_an_open_twin_is_opened_again() -> None:
    book = findings()
    with pytest.raises(UsageError, match="F-NOTHING: no closed finding has this id"):
        book.reopen("F-NOTHING", "ann", "why not", NOW)
    first = opened_by(book, bad(VerdictClass.CONTRACT))
    with pytest.raises(UsageError, match=r"is open already \(confirmed\), since 2026-\S+Z$"):
        book.reopen(first.id, "ann", "why not", NOW)
    book.resolve(first.id, "ann", "done", NOW)
    second = opened_by(book, bad(VerdictClass.CONTRACT))
    with pytest.raises(UsageError, match=f"{second.id} is open for the same fault"):
        book.reopen(first.id, "ann", "it is back", NOW)


def test_a_twin_of_what_was_dismissed_opens_nothing_and_is_counted_over_a_restart() -> None:
    store = MemoryFindings()
    book = findings(store)
    closed = dismissed(book, flawed())
    twin = flawed()
    assert book.record(twin) is None
    assert book.record(twin) is None, "the same trial again is counted once"
    book = Findings(store, NOW + timedelta(days=6))
    assert book.record(flawed(at=NOW + timedelta(days=6))) is None
    kept = store.latest()[closed.id]
    assert (kept.state, kept.suppressed, kept.count) == (FindingState.DISMISSED, 2, 1)
    assert twin.trial in kept.trials
    assert [f.id for f in book.list_suppressing(NOW + timedelta(days=6))] == [closed.id]
    assert book.list_suppressing(NOW + WEEK) == ()
    again = opened_by(book, flawed(at=NOW + WEEK))
    assert again.id != closed.id


@pytest.mark.parametrize(
    "other",
    [
        flawed(VerdictClass.CONTRACT, "empty", "other"),
        flawed(VerdictClass.CORRUPT),
        flawed(VerdictClass.LEAK),
        flawed(stratum="s2"),
        flawed(shape="tenant"),
        replace(flawed(), target="qwen"),
    ],
    ids=["more signals", "another class", "a leak", "another stratum", "another shape", "target"],
)
def test_what_differs_from_the_dismissed_pattern_opens_its_own(other: Verdict) -> None:
    book = findings()
    closed = dismissed(book, flawed(VerdictClass.CONTRACT, "empty", "zero"))
    assert book.record(flawed()) is None, "fewer of its signals are a twin's"
    assert opened_by(book, other).id != closed.id


def test_personal_data_that_was_dismissed_is_suppressed_beside_a_wrong_answer() -> None:
    book = findings()
    dismissed(book, suspect("ENTITY", variant="novel"))
    assert book.record(suspect("ENTITY", variant="novel")) is None
    assert book.record(suspect("FOREIGN")) is not None


@pytest.mark.parametrize("verdict_class", [VerdictClass.LEAK, VerdictClass.CROSSED])
def test_broken_isolation_is_never_suppressed(verdict_class: VerdictClass) -> None:
    book = findings()
    opened = opened_by(book, flawed(verdict_class))
    with pytest.raises(UsageError, match="is never suppressed"):
        book.dismiss(opened.id, "ann", "no", NOW, suppress=WEEK)
    assert book.list_open() == (opened,)


@pytest.mark.parametrize("lasting", [timedelta(), -WEEK, MOST_SUPPRESSION + timedelta(seconds=1)])
def test_how_long_is_bounded(lasting: timedelta) -> None:
    book = findings()
    opened = opened_by(book, flawed())
    with pytest.raises(UsageError, match="at most 90 days"):
        book.dismiss(opened.id, "ann", "no", NOW, suppress=lasting)
    unknown = opened_by(book, replace(flawed(stratum="s2"), signals=()))
    with pytest.raises(UsageError, match="not known which signals"):
        book.dismiss(unknown.id, "ann", "no", NOW, suppress=WEEK)


def test_an_open_finding_of_the_stratum_comes_before_a_suppression() -> None:
    book = findings()
    closed = dismissed(book, flawed())
    again = opened_by(book, flawed(VerdictClass.CORRUPT))
    assert opened_by(book, flawed()).id == again.id
    book.resolve(again.id, "ann", "done", NOW)
    book.reopen(closed.id, "ann", "a fault after all", NOW)
    assert opened_by(book, flawed()).id == closed.id
    book.resolve(closed.id, "ann", "done", NOW)
    assert book.record(flawed()) is not None, "opened again, it suppresses nothing more"


def test_trials_that_a_person_asked_for_are_evidence_and_counted_nowhere() -> None:
    book = findings()
    opened = opened_by(book, flawed())
    seen = book.record(flawed(VerdictClass.CORRUPT, stratum="s2"), examines=opened.id)
    assert seen is not None
    assert (seen.id, seen.count, seen.reproduced, seen.confirmations) == (opened.id, 1, 0, 0)
    assert (seen.verdict_class, seen.strata) == (VerdictClass.CORRUPT, ("s1", "s2"))
    book.resolve(opened.id, "ann", "done", NOW)
    assert opened_by(book, flawed()).id != opened.id
    other = book.record(flawed(stratum="s9"), examines=opened.id)
    assert other is not None
    assert other.id != opened.id, "a closed finding takes nothing more in"


def test_suppression_and_opening_again_are_kept_with_their_links(tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as store:
        closed = dismissed(findings_in(store, NOW), flawed())
    with open_store(tmp_path / "store") as store:
        book = findings_in(store, NOW + timedelta(days=3))
        assert book.record(flawed(at=NOW + timedelta(days=3))) is None
        shown = finding_named(store, closed.id[:5].lower())
        assert (shown.suppressed, shown.suppressed_until) == (1, NOW + WEEK)
        assert shown.signals == ("EMPTY/empty",)
        book.reopen(closed.id, "bob", "after all", NOW + timedelta(days=4))
        dismissing, opening = store.audit.links(2)
        assert (opening.action, opening.object, opening.actor) == ("reopen", closed.id, "bob")
        details = json.loads(dismissing.details)
        assert details["suppressed_until"] == "2026-11-09T12:30:15Z"
        assert details["signals"] == ["EMPTY/empty"]
        store.flush()
        history = store.reader.finding_history(closed.id)
        assert [(row.state, row.suppressed) for row in history] == [
            ("confirmed", 0),
            ("dismissed", 0),
            ("dismissed", 1),
            ("confirmed", 1),
        ]
        assert history[-1].suppressed_until is None
        with pytest.raises(UsageError, match="no finding has this id"):
            finding_named(store, "F-NONE")
        twin = replace(closed, id=f"{closed.id[:5]}{'0' * 5}")
        StoredFindings(store).save(twin)
        with pytest.raises(UsageError, match="several findings begin so"):
            finding_named(store, closed.id[:5])
        for short in ("", " ", "F", "F-", closed.id[:4], f"{closed.id[:5]}%", closed.id[2:]):
            with pytest.raises(UsageError, match="at least the next 3 characters"):
                finding_named(store, short)


CLASSES = [each for each in VerdictClass if each > VerdictClass.SUSPECT]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(CLASSES),
        st.sampled_from(["s1", "s2"]),
        st.sampled_from(["empty", "zero"]),
        st.sampled_from(
            [*["record"] * 4, "resolve", "dismiss", "suppress", "reopen", "restart", "days"]
        ),
    ),
    max_size=40,
)


@settings(deadline=None)
@given(STEPS)
def test_no_order_of_verdicts_and_decisions_breaks_what_findings_promise(
    steps: list[tuple[VerdictClass, str, str, str]],
) -> None:
    store, now = MemoryFindings(), NOW
    book = Findings(store, now)
    for verdict_class, stratum, variant, action in steps:
        now += timedelta(minutes=1)
        if action == "record":
            _check_record(book, store, flawed(verdict_class, variant, stratum=stratum, at=now))
        elif action == "restart":
            book = Findings(store, now)
        elif action == "days":
            now += timedelta(days=4)
        else:
            _decide(book, store, action, now)
        open_ids = {finding.id for finding in book.list_open()}
        assert open_ids == {f.id for f in store.latest().values() if f.is_open}
        places = Counter((f.target, f.shape, f.stratum) for f in book.list_open())
        assert set(places.values()) <= {1}
        for finding in store.latest().values():
            assert finding.suppressed_until is None or finding.state is FindingState.DISMISSED
            assert finding.suppressed_until is None or finding.verdict_class < VerdictClass.CROSSED
    versions: dict[str, int] = {}
    for saved in store.saved:
        assert saved.version == versions.get(saved.id, 0) + 1
        versions[saved.id] = saved.version


def _check_record(book: Findings, store: MemoryFindings, verdict: Verdict) -> None:
    """Record: each fault is in a finding, or counted as suppressed by one that may do so."""
    before = sum(finding.suppressed for finding in store.latest().values())
    found = book.record(verdict)
    after = sum(finding.suppressed for finding in store.latest().values())
    assert after - before in (0, 1)
    if found is None and verdict.verdict_class is not VerdictClass.WRONG:
        assert after == before + 1
        assert verdict.verdict_class < VerdictClass.CROSSED
    if found is not None:
        assert found.is_open
        assert after == before


def _decide(book: Findings, store: MemoryFindings, action: str, now: datetime) -> None:
    closed = [f for f in store.latest().values() if not f.is_open]
    try:
        if action == "reopen" and closed:
            book.reopen(closed[0].id, "ann", "again", now)
        elif action == "resolve" and book.list_open():
            book.resolve(book.list_open()[0].id, "ann", "done", now)
        elif action in ("dismiss", "suppress") and book.list_open():
            suppress = WEEK if action == "suppress" else None
            book.dismiss(book.list_open()[-1].id, "ann", "no", now, suppress=suppress)
    except UsageError as error:
        refused = str(error)
    else:
        return
    assert "never suppressed" in refused or "open for the same fault" in refused
