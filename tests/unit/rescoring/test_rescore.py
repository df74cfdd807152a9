"""Kept answers are judged again as they were; what is different or cannot be told is said."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from monitor.checks import CHECKS, CHECKS_VERSION
from monitor.checks.base import Check, failed, passed
from monitor.errors import UsageError
from monitor.findings import findings_in
from monitor.history import REMEMBERED_EXCHANGES, History
from monitor.model import Exchange, Outcome, Signal, Status, Trial, Verdict, VerdictClass
from monitor.reports.rescore import render_rescore
from monitor.reports.trial import trial_lines
from monitor.rescoring import RescoreStep
from monitor.rescoring.opening import Reopened
from monitor.store import Store, kept
from monitor.store.bodies import Opener, Sealer
from monitor.store.exchange_text import Kept, kept_text
from monitor.store.rows import BodyRow
from tests.builders import a_signal, an_exchange
from tests.unit.rescoring.recorded import ANOTHER, GOLDEN, OPENER, Edit, Sitting, configured
from tests.unit.store.body_keys import PRIVATE

SECRET = "the words of a customer"  # noqa: S105 - planted, to be looked for
GOOD = {"outcome": Outcome.GOOD, "verdict_class": VerdictClass.NONE, "signals": ()}


ONE_ID = "chatcmpl-9f3a1c7e2b4d8056"


def right(sitting: Sitting, answer: str = "The code is {}.", **more: str) -> Exchange:
    nonce = sitting.mint("tenant-b")
    prompt = f"Repeat {nonce}. {SECRET}"
    return an_exchange(prompt, answer.format(nonce), nonce=nonce, response={"headers": (), **more})


def said(report: object) -> str:
    return "\n".join(render_rescore(report))  # type: ignore[arg-type]


def test_the_same_checks_say_the_same(sitting: Sitting) -> None:
    trials = [sitting.trial(right(sitting), right(sitting, "no code")) for _ in range(3)]
    first = [sitting.judge(trial) for trial in trials]
    report = sitting.rescore()
    assert (report.exit_code, report.trials, report.judged) == (0, 3, 3)
    assert [(cell.old_class, cell.new_class, cell.trials) for cell in report.matrix] == [
        ("WRONG", "WRONG", 3)
    ]
    assert (report.changed, report.signals_only, report.worse) == ([], 0, 0)
    for trial, old in zip(trials, first, strict=True):
        before, again = sitting.verdicts(trial)
        assert before.id == again.rescores == old.id
        assert (again.source, again.scheduled, again.finding) == ("rescore", False, None)
        own = ("id", "source", "decided_at", "scheduled", "rescores")
        assert replace(again, **{name: getattr(before, name) for name in own}) == before
    assert "judged as before" in said(report)


def stricter(verdicts: Callable[[Exchange], Sequence[Signal]], code: str = "FACT") -> list[Check]:
    """Return the checks with another one in place of one."""

    def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
        return verdicts(exchange)

    return [replace(c, judge=judge) if c.code == code else c for c in CHECKS]


def test_a_check_that_changed_is_reported(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    worse, same = sitting.trial(right(sitting, "{} and a fact")), sitting.trial(right(sitting))
    better = sitting.trial(right(sitting, "no code, excused"))
    for trial in (worse, same, better):
        sitting.judge(trial)

    def fact(exchange: Exchange) -> Sequence[Signal]:
        wrong = "fact" in exchange.response.text if exchange.response else False
        return [failed("FACT", exchange, "missing", "gone") if wrong else passed("FACT", exchange)]

    excusing = stricter(lambda exchange: [passed("NONCE", exchange)], "NONCE")
    monkeypatch.setattr(
        "monitor.assessment.CHECKS",
        [
            next(c for c in stricter(fact) if c.code == each.code) if each.code == "FACT" else each
            for each in excusing
        ],
    )
    monkeypatch.setattr("monitor.rescoring.flow.CHECKS_VERSION", "99")
    monkeypatch.setattr("monitor.rescoring.result.CHECKS_VERSION", "99")
    report = sitting.rescore()
    assert (report.exit_code, report.worse, report.better) == (1, 1, 1)
    assert [(each.trial, each.worse) for each in report.changed] == [
        (worse.id, True),
        (better.id, False),
    ]
    assert (report.changed[0].gained, report.changed[0].lost) == (["FACT:missing"], [])
    assert (report.changed[1].gained, report.changed[1].lost) == ([], ["NONCE:absent"])
    assert {(c.old_class, c.new_class): c.trials for c in report.matrix} == {
        ("none", "WRONG"): 1,
        ("none", "none"): 1,
        ("WRONG", "none"): 1,
    }
    assert report.checks_version == "99"
    assert [each.count for each in report.old_checks_versions] == [3]
    assert sitting.verdicts(worse)[1].checks_version == "99"
    words = said(report)
    assert "1 trial worse than they were judged" in words
    assert f"WORSE      {worse.id}" in words
    assert "+FACT:missing" in words
    assert SECRET not in words + report.model_dump_json()


def test_the_same_class_for_other_reasons_is_counted(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    sitting.judge(sitting.trial(right(sitting, "no code")))
    monkeypatch.setattr(
        "monitor.assessment.CHECKS",
        stricter(lambda exchange: [failed("FACT", exchange, "missing", "gone")]),
    )
    report = sitting.rescore()
    assert (report.exit_code, report.signals_only, report.changed_trials) == (0, 1, 0)


def test_a_check_that_crashes_today_could_not_tell(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    sitting.judge(sitting.trial(right(sitting)))

    def crash(exchange: Exchange) -> Sequence[Signal]:
        raise ZeroDivisionError

    monkeypatch.setattr("monitor.assessment.CHECKS", stricter(crash))
    report = sitting.rescore()
    assert (report.exit_code, report.unsure, report.worse) == (3, 1, 0)
    assert "cannot be judged any more" in said(report)


def leaking(sitting: Sitting) -> Trial:
    donors = sitting.mint("tenant-a")
    return sitting.trial(right(sitting, "{} " + donors))


def test_a_leak_that_no_finding_tells_of_is_said_loudly(sitting: Sitting, store: Store) -> None:
    trial = leaking(sitting)
    sitting.judge(trial, **GOOD)
    findings = len(store.reader.open_findings())
    report = sitting.rescore()
    assert (report.exit_code, report.uncovered, report.worse) == (1, 1, 1)
    assert report.changed[0].uncovered
    assert report.changed[0].gained == ["FOREIGN:other_tenant"]
    words = said(report)
    assert "1 trial leak, and no finding says so" in words
    assert "!! LEAK WITHOUT A FINDING: glm canary short/c1/cold/plain/one" in words
    assert f"davylamp explain {trial.id}" in words
    known = store.reader.trial(trial.id)
    assert known is not None
    explained = "\n".join(trial_lines(known))
    assert f"  verdict none, good: {known.verdicts[0].reason}" in explained
    assert f"  judged again by checks {CHECKS_VERSION}: LEAK, bad: " in explained
    assert "signal, judged again   FOREIGN other_tenant: " in explained
    assert len(store.reader.open_findings()) == findings


def test_a_leak_is_covered_by_a_finding_unless_that_was_dismissed(
    sitting: Sitting, store: Store
) -> None:
    findings = findings_in(store, sitting.clock.now())
    kept_as: dict[str, str] = {}
    for became in ("open", "resolved", "dismissed"):
        trial = replace(leaking(sitting), stratum=f"short/{became}")
        opened = findings.record(sitting.judge(trial))
        assert opened is not None
        assert opened.verdict_class is VerdictClass.LEAK
        # The verdict is kept with its finding, as the pipeline does.
        kept_as[became] = f"{trial.id}-kept"
        sitting.judge(replace(trial, id=kept_as[became]), finding=opened.id)
        if became != "open":
            close = findings.resolve if became == "resolved" else findings.dismiss
            close(opened.id, "somebody", "because", sitting.clock.now())
    gone = leaking(sitting)
    sitting.judge(gone, finding="F-GONE")
    report = sitting.rescore()
    uncovered = {each.trial for each in report.changed if each.uncovered}
    assert uncovered & set(kept_as.values()) == {kept_as["dismissed"]}
    assert gone.id in uncovered


def test_it_goes_by_when_a_trial_was_judged_and_by_target(sitting: Sitting) -> None:
    early = sitting.trial(right(sitting))
    sitting.judge(early)
    sitting.clock.move(3600)
    middle = sitting.clock.now()
    late = [sitting.trial(right(sitting)), sitting.trial(right(sitting), target="gone")]
    for trial in late:
        sitting.judge(trial)
    report = sitting.rescore(since=middle)
    assert (report.judged, report.earlier) == (2, 1)
    assert len(sitting.verdicts(early)) == 1
    assert "no longer configured: gone" in said(report)
    assert sitting.rescore(until=middle).judged == 1
    only = sitting.rescore(targets=("gone",))
    assert (only.judged, only.targets) == (1, ["gone"])
    with pytest.raises(UsageError, match=r"no target 'glm-5' \(use one of: glm"):
        sitting.rescore(targets=("glm-5",))


def test_what_one_run_had_seen_another_had_not(sitting: Sitting) -> None:
    """A response id given twice is a fault only to who saw it the first time."""
    for _ in range(2):
        sitting.judge(sitting.trial(right(sitting, response_id=ONE_ID)))
    sitting.restarted("process-2")
    third = sitting.judge(sitting.trial(right(sitting, response_id=ONE_ID)))
    assert third.verdict_class is VerdictClass.NONE
    report = sitting.rescore()
    assert {(c.old_class, c.new_class): c.trials for c in report.matrix} == {
        ("none", "none"): 2,
        ("CONTRACT", "CONTRACT"): 1,
    }


def test_what_was_known_before_the_time_asked_about_is_known_again(sitting: Sitting) -> None:
    sitting.judge(sitting.trial(right(sitting, response_id=ONE_ID)))
    sitting.clock.move(86_400)
    since = sitting.clock.now()
    sitting.judge(sitting.trial(right(sitting, response_id=ONE_ID)))
    report = sitting.rescore(since=since)
    assert (report.earlier, report.judged, report.changed_trials) == (1, 1, 0)
    assert [cell.new_class for cell in report.matrix] == ["CONTRACT"]


def test_where_less_is_known_than_was_a_difference_is_no_progress(sitting: Sitting) -> None:
    def lost(row: BodyRow) -> None:
        return None

    sitting.judge(sitting.trial(right(sitting, response_id=ONE_ID)), edit=lost)
    again = sitting.trial(right(sitting, response_id=ONE_ID))
    assert sitting.judge(again).verdict_class is VerdictClass.CONTRACT
    sitting.restarted("process-2")
    for _ in range(2):
        sitting.judge(sitting.trial(right(sitting, response_id=ONE_ID)))
    report = sitting.rescore()
    assert (report.exit_code, report.absent, report.judged) == (0, 1, 3)
    assert (report.changed_trials, report.less_known, report.better) == (1, 1, 0)
    (changed,) = report.changed
    assert (changed.trial, changed.past_whole) == (again.id, False)
    words = said(report)
    assert "(less is known than was)" in words
    assert "1 trial judged otherwise perhaps only because texts from before are missing" in words


@pytest.mark.parametrize(("exchanges", "whole"), [(REMEMBERED_EXCHANGES - 1, False), (256, True)])
def test_what_is_missing_matters_for_as_long_as_it_would_be_remembered(
    sitting: Sitting, exchanges: int, whole: bool
) -> None:
    past = sitting.past
    past.miss()
    long = sitting.trial(*[an_exchange()] * exchanges)
    assert not past.take(Reopened(trial=long, process="process-1")).whole
    one = Reopened(trial=sitting.trial(an_exchange()), process="process-1")
    assert past.take(one).whole == whole


def test_markers_minted_later_are_not_known_yet(sitting: Sitting) -> None:
    """Evidence counts what it was searched in: the bits are those of then."""
    trial = leaking(sitting)
    sitting.judge(trial)
    sitting.clock.move(60)
    for _ in range(200):
        sitting.mint("tenant-a", trial="later")
    assert sitting.rescore().signals_only == 0
    before, again = sitting.verdicts(trial)
    assert before.signals == again.signals


def opinion_of(verdict: Verdict) -> list[Signal]:
    return [signal for signal in verdict.signals if signal.code == "JUDGE"]


OPINIONS = (
    (Status.FAIL, "wrong", "the judge holds it wrong, in both orders", "WRONG"),
    (Status.PASS, "", "the judge holds it right, in both orders", "none"),
    (Status.SKIP, "", "not asked this time", "none"),
    (Status.ERROR, "", "the judge failed", "none"),
)


def test_what_a_judge_said_then_counts_and_nobody_is_asked(
    sitting: Sitting, tmp_path: Path
) -> None:
    sitting.config = configured(tmp_path, judge=True)
    golden = GOLDEN["facts/capital-france"]
    named = {"golden": golden.name, "golden_version": golden.version}
    asked = an_exchange(golden.prompt, "The capital of France is Paris.", **named)
    wanted = {}
    for status, variant, words, came_to in OPINIONS:
        trial = sitting.trial(asked, probe="golden", shape="golden")
        first = sitting.judge(replace(trial, id=f"{trial.id}-unasked"))
        opinion = replace(a_signal("JUDGE", status, variant), explanation=words)
        others = [signal for signal in first.signals if signal.code != "JUDGE"]
        sitting.judge(trial, signals=(*others, opinion))
        wanted[trial.id] = ([opinion], came_to)
    assert "no judge was asked" in said(sitting.rescore())
    for trial_id, (opinions, came_to) in wanted.items():
        again = sitting.verdicts(replace(trial, id=trial_id))[1]
        assert opinion_of(again) == opinions
        assert again.verdict_class.label == came_to


def test_another_key_opens_none_of_it(sitting: Sitting) -> None:
    for key in (PRIVATE, PRIVATE, ANOTHER):
        sitting.judge(sitting.trial(right(sitting)), key=key)
    report = sitting.rescore(opener=Opener(ANOTHER))
    assert (report.exit_code, report.judged, report.sealed) == (0, 1, 2)
    assert [(each.name, each.count) for each in report.sealed_to] == [(OPENER.key_id, 2)]
    assert report.verdict.endswith("; 2 trials could not be judged again: 2 sealed to another key")
    stranger = sitting.rescore(opener=Opener(X25519PrivateKey.generate()))
    assert (stranger.exit_code, stranger.judged, stranger.sealed) == (3, 0, 3)
    assert "none could be judged again" in said(stranger)


def test_nothing_in_the_time_asked_about_is_nothing_told(sitting: Sitting) -> None:
    report = sitting.rescore()
    assert (report.exit_code, report.trials) == (3, 0)
    assert "there is nothing to judge" in said(report)


def test_a_trial_without_all_its_texts_is_not_judged(sitting: Sitting) -> None:
    trials = [sitting.trial(right(sitting), right(sitting)) for _ in range(3)]
    half, none, whole = trials
    sitting.judge(half, edit=lambda row: row if row.exchange else None)
    sitting.judge(none, edit=lambda row: None)
    sitting.judge(whole)
    report = sitting.rescore()
    assert (report.exit_code, report.judged, report.absent) == (0, 1, 2)
    assert report.verdict == (
        "judged as before; 2 trials could not be judged again: 2 without their texts"
    )
    assert "storage.bodies is not configured" in said(report)


def test_what_is_past_its_time_is_absent_and_evidence_is_not(
    sitting: Sitting, store: Store
) -> None:
    """The clock of these tests stands in the past: their bodies are older than a day."""
    plain, evidence = sitting.trial(right(sitting)), sitting.trial(right(sitting))
    sitting.judge(plain)
    sitting.judge(evidence, finding="F-OPEN")
    store.flush()
    keep = (
        "ALTER TABLE bodies MODIFY TTL "
        "toDateTime(stored_at) + toIntervalDay({}) DELETE WHERE NOT held"
    )
    for statement in (keep.format(0), "OPTIMIZE TABLE bodies FINAL", keep.format(3650)):
        store.writer.run(lambda client, it=statement: client.command(it))  # type: ignore[misc]
    report = sitting.rescore()
    assert (report.judged, report.absent) == (1, 1)
    assert len(sitting.verdicts(evidence)) == 2


def sealed_anew(text: bytes) -> Edit:
    """Return what puts another text, sealed for the same place, where a body was."""
    sealer = Sealer(PRIVATE.public_key())
    return lambda row: replace(row, sealed=sealer.seal(text, row.trial, row.exchange))


def damage(trial: Trial, how: str) -> Edit:
    alone, exchange = replace(trial, exchanges=()), trial.exchanges[0]
    whole = Kept(trial=alone, exchange=exchange, count=1, process="process-1")
    match how:
        case "newer":
            return sealed_anew(kept_text(whole).replace(b'"version":1}', b'"version":2}'))
        case "another trial":
            return sealed_anew(kept_text(replace(whole, trial=replace(alone, id="trial-else"))))
        case "another target":
            return sealed_anew(kept_text(replace(whole, trial=replace(alone, target="else"))))
        case "endless":
            endless = replace(exchange.timing, total_seconds=1e300)
            return sealed_anew(
                kept_text(replace(whole, exchange=replace(exchange, timing=endless)))
            )
        case "no record":
            return sealed_anew(SECRET.encode())
        case _:
            return flipped


def flipped(row: BodyRow) -> BodyRow:
    changed = bytearray(base64.b64decode(row.sealed))
    changed[60] ^= 1
    return replace(row, sealed=base64.b64encode(changed).decode())


DAMAGES = {
    "a bit": "sealed to another key or in another place, or changed since",
    "newer": (
        "a kept exchange of format 2 was written by a newer Davylamp "
        "(this one knows 1); use that version"
    ),
    "another trial": "a body that holds another exchange",
    "another target": "bodies that are not of one trial",
    "endless": "a body with times that cannot be",
    "no record": "a kept exchange is no JSON",
}


def test_what_is_damaged_is_counted_with_the_reason(sitting: Sitting) -> None:
    for how in DAMAGES:
        trial = sitting.trial(right(sitting))
        sitting.judge(trial, edit=damage(trial, how))
    report = sitting.rescore()
    assert (report.exit_code, report.unreadable, report.judged) == (3, len(DAMAGES), 0)
    assert {each.name: each.count for each in report.unreadable_why} == dict.fromkeys(
        DAMAGES.values(), 1
    )
    assert SECRET not in said(report)


def test_one_body_that_is_damaged_leaves_the_rest_unsure(sitting: Sitting) -> None:
    sitting.judge(sitting.trial(right(sitting)), edit=flipped)
    sitting.judge(sitting.trial(right(sitting)), key=ANOTHER)
    sitting.judge(sitting.trial(right(sitting)))
    report = sitting.rescore()
    assert (report.exit_code, report.judged, report.unreadable, report.sealed) == (3, 1, 1, 1)
    assert report.verdict == (
        "judged as before; 2 trials could not be judged again: 1 unreadable, "
        "1 sealed to another key"
    )


def test_pages_leave_nothing_out_and_take_nothing_twice(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "PAGE_VERDICTS", 3)
    monkeypatch.setattr(kept, "PAGE_CHARACTERS", 3000)
    trials = [sitting.trial(right(sitting)) for _ in range(11)]
    instants = [sitting.clock.now()] * 5
    for number, trial in enumerate(trials):
        at = {"decided_at": instants[number]} if number < len(instants) else {}
        sitting.judge(trial, **at)
        sitting.clock.move(1000 if number % 4 == 0 else 0)
    steps: list[RescoreStep] = []
    report = sitting.rescore(steps=steps)
    assert (report.trials, report.judged) == (11, 11)
    assert [len(sitting.verdicts(trial)) for trial in trials] == [2] * 11
    assert [(step.done, step.total) for step in steps] == [(n, 11) for n in range(1, 12)]


def test_who_opened_what_is_in_the_audit_chain(sitting: Sitting, store: Store) -> None:
    sitting.judge(sitting.trial(right(sitting)))
    before = store.audit.head
    sitting.rescore()
    begun, ended = store.audit.links(2)
    assert begun.seq == (before.seq if before else 1) + 1
    assert {link.action for link in (begun, ended)} == {"open_bodies"}
    assert {link.object for link in (begun, ended)} == {OPENER.key_id}
    assert {link.actor for link in (begun, ended)} == {"somebody"}
    assert '"what":"begun"' in begun.details
    assert '"judged":1' in ended.details
    assert store.audit.verify().whole


def test_judging_again_changes_no_finding(sitting: Sitting, store: Store) -> None:
    trial = leaking(sitting)
    findings = findings_in(store, sitting.clock.now())
    opened = findings.record(sitting.judge(trial))
    store.flush()
    before = store.reader.open_findings()
    sitting.rescore()
    assert opened is not None
    assert store.reader.open_findings() == before
