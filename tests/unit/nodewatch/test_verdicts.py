"""The verdict of a node: its class, its words, and whether somebody is woken."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from monitor.conventions.pages import Severity
from monitor.findings import Findings
from monitor.model import Outcome, Verdict, VerdictClass
from monitor.nodes.record import Conformity, KvUse, NodeVerdict, RuleMatch
from monitor.nodewatch import node_verdict
from monitor.nodewatch.news import SAID_AGAIN, News
from monitor.nodewatch.pressure import pressure_of
from monitor.nodewatch.rows import row_of
from monitor.paging import severity_of
from tests.builders import NOW
from tests.unit.nodes.readings import a_reading, counted
from tests.unit.nodewatch.building import POOL_BOUND, UNSAFE, UNTOLD, at, failing, gone, judged
from tests.unit.test_findings import MemoryFindings


def verdict_of(node: NodeVerdict, number: int = 1) -> Verdict:
    return node_verdict(
        node, model="glm-5.3", verdict_id=f"verdict-{number}", now=NOW, rules="ab" * 32
    )


@pytest.mark.parametrize(
    ("node", "outcome", "verdict_class"),
    [
        (judged(), Outcome.GOOD, VerdictClass.NONE),
        (judged(POOL_BOUND, conformity=Conformity.WARN), Outcome.GOOD, VerdictClass.SUSPECT),
        (failing(), Outcome.BAD, VerdictClass.UNSAFE_NODE),
        (judged(UNTOLD, conformity=Conformity.UNKNOWN), Outcome.INVALID, VerdictClass.NONE),
    ],
    ids=["pass", "warn", "fail", "unknown"],
)
def test_what_a_node_comes_to(
    node: NodeVerdict, outcome: Outcome, verdict_class: VerdictClass
) -> None:
    verdict = verdict_of(node)
    assert (verdict.outcome, verdict.verdict_class) == (outcome, verdict_class)
    assert (verdict.source, verdict.shape, verdict.stratum) == ("node", "node", "prefill-0")
    # Neither a trial nor an exchange: it is an event of no indicator of answers.
    assert (verdict.trial, verdict.exchanges, verdict.scheduled) == ("", (), False)


def test_the_reason_says_what_decided_and_since_when_it_is_public() -> None:
    verdict = verdict_of(judged(POOL_BOUND, UNSAFE, UNTOLD, conformity=Conformity.FAIL))
    assert verdict.reason == (
        "what is longer is not safely refused (sglang-pd-over-length, public since 2026-07-06)"
    )
    many = [replace(UNSAFE, rule=f"rule-{n}") for n in range(9)]
    reason = verdict_of(judged(*many, conformity=Conformity.FAIL)).reason
    assert reason.endswith("; and 5 more")


def test_a_node_is_one_finding_that_a_person_resolves() -> None:
    findings = Findings(MemoryFindings(), NOW)
    first = findings.record(verdict_of(failing()))
    again = findings.record(verdict_of(failing(), number=2))
    other = findings.record(verdict_of(failing(node="decode-0"), number=3))
    assert first is not None
    assert again is not None
    assert first.id == again.id != other.id
    assert findings.record(verdict_of(judged(), number=4)) is None
    assert len(findings.list_open()) == 2
    assert {f.verdict_class for f in findings.list_open()} == {VerdictClass.UNSAFE_NODE}


@pytest.mark.parametrize(
    ("node", "severity"),
    [
        (failing(), Severity.CRITICAL),
        (judged(replace(UNSAFE, shape=None), conformity=Conformity.FAIL), Severity.WARNING),
        (
            judged(
                UNSAFE,
                conformity=Conformity.FAIL,
                facts=replace(failing().snapshot.facts, pool_bound=False),
            ),
            Severity.WARNING,
        ),
        (
            judged(
                UNSAFE,
                conformity=Conformity.FAIL,
                facts=replace(failing().snapshot.facts, pool_bound=None),
            ),
            Severity.CRITICAL,
        ),
    ],
    ids=["not refused", "another fault", "the context is the limit", "not told"],
)
def test_who_is_called(node: NodeVerdict, severity: Severity) -> None:
    finding = Findings(MemoryFindings(), NOW).record(verdict_of(node))
    assert finding is not None
    assert severity_of(finding) is severity


@pytest.mark.parametrize(
    "node",
    [
        judged(),
        judged(POOL_BOUND, conformity=Conformity.WARN),
        judged(UNTOLD, conformity=Conformity.UNKNOWN),
        gone(failing()),
    ],
    ids=["pass", "warn", "unknown", "gone"],
)
def test_what_does_not_fail_opens_no_finding(node: NodeVerdict) -> None:
    assert Findings(MemoryFindings(), NOW).record(verdict_of(node)) is None


def test_a_rule_that_is_accepted_counts_for_nothing() -> None:
    accepted = replace(UNSAFE, accepted_until=NOW.date())
    verdict = verdict_of(judged(accepted))
    assert verdict.signals == ()
    assert row_of(judged(accepted)).failed_rules == ()


def test_another_rule_is_no_twin_of_a_dismissed_one() -> None:
    findings = Findings(MemoryFindings(), NOW)
    first = findings.record(verdict_of(failing()))
    findings.dismiss(first.id, "ann", "known", NOW, suppress=timedelta(days=7))
    assert findings.record(verdict_of(failing(), number=2)) is None
    other = RuleMatch(rule="another", conformity=Conformity.FAIL, why="worse")
    both = judged(UNSAFE, other, conformity=Conformity.FAIL)
    assert findings.record(verdict_of(both, number=3)) is not None


def test_a_row_has_numbers_and_rules() -> None:
    row = row_of(judged(UNSAFE, POOL_BOUND, UNTOLD, conformity=Conformity.FAIL))
    assert (row.capacity_tokens, row.used_tokens) == (681_280, 340_640)
    assert row.settings == '{"disaggregation_mode": "prefill", "tp_size": 8}'
    assert (row.failed_rules, row.warned_rules, row.unknown_rules) == (
        ("sglang-pd-over-length",),
        ("sglang-pool-bound",),
        ("sglang-below-floor",),
    )
    silent = row_of(gone(failing()))
    assert (silent.engine, silent.conformity, silent.capacity_tokens) == ("", "unknown", None)


def test_a_state_is_said_once_an_hour_and_another_at_once() -> None:
    news, node = News(), judged()
    assert news.is_news(node)
    news.note(node)
    assert not news.is_news(at(node, NOW + SAID_AGAIN - timedelta(seconds=1)))
    assert news.is_news(at(node, NOW + SAID_AGAIN))
    assert news.is_news(failing())
    assert news.is_news(judged(node="decode-0"))


def test_a_node_that_comes_and_goes_is_said_twice_an_hour() -> None:
    news, said = News(), 0
    for reading in range(120):
        node = failing() if reading % 2 else gone(failing())
        node = at(node, NOW + timedelta(seconds=30 * reading))
        if news.is_news(node):
            said += 1
            news.note(node)
    assert said == 2


def test_pressure_is_that_of_the_fullest_node() -> None:
    half = counted("a", kv=KvUse(usage_ratio=0.5, running=2, queued=0))
    full = counted("b", kv=KvUse(capacity_tokens=1000, used_tokens=970))
    assert pressure_of([half]) == 0.5
    assert pressure_of([half, full]) == 0.97
    assert pressure_of([a_reading("c"), half]) == 0.5
    assert pressure_of([a_reading("c")]) is None
    assert pressure_of([]) is None


def test_a_queue_is_pressure_once_many_wait() -> None:
    assert pressure_of([counted("a", kv=KvUse(running=0, queued=3))]) == 0
    assert pressure_of([counted("a", kv=KvUse(running=4, queued=16))]) == 0.8
    assert pressure_of([counted("a", kv=KvUse(running=1, queued=99))]) == 0.99
    assert pressure_of([counted("a", kv=KvUse(usage_ratio=7.0))]) == 1
