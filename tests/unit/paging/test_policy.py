"""Which finding wakes somebody: the table of consequences, row by row."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.conventions.pages import Route, Severity
from monitor.findings import Finding, FindingState
from monitor.model import VerdictClass
from monitor.paging import policy_of, severities_of, severity_of
from tests.unit.daemon.installed import config_of
from tests.unit.test_findings import bad, findings

CRITICAL, WARNING, NONE = Severity.CRITICAL, Severity.WARNING, Severity.NONE


OPENED = findings().record(bad(VerdictClass.LEAK))


def a_finding(verdict_class: VerdictClass = VerdictClass.LEAK, **fields: object) -> Finding:
    """Return an open finding as one verdict opens it."""
    assert OPENED is not None
    return replace(OPENED, verdict_class=verdict_class, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("verdict_class", "first", "urgent", "reproduced"),
    [
        (VerdictClass.LEAK, CRITICAL, CRITICAL, CRITICAL),
        (VerdictClass.CROSSED, CRITICAL, CRITICAL, CRITICAL),
        (VerdictClass.WRONG_INPUT, WARNING, CRITICAL, CRITICAL),
        (VerdictClass.CORRUPT, WARNING, WARNING, CRITICAL),
        (VerdictClass.CONTRACT, WARNING, WARNING, WARNING),
        (VerdictClass.UNSAFE_NODE, WARNING, CRITICAL, WARNING),
        (VerdictClass.DRIFT, WARNING, WARNING, WARNING),
        (VerdictClass.WRONG, NONE, NONE, NONE),
        (VerdictClass.SUSPECT, NONE, NONE, NONE),
    ],
)
def test_what_each_class_asks_for(
    verdict_class: VerdictClass, first: Severity, urgent: Severity, reproduced: Severity
) -> None:
    finding = a_finding(verdict_class)
    assert severity_of(finding) is first
    assert severity_of(replace(finding, urgent=True)) is urgent
    assert severity_of(replace(finding, reproduced=1)) is reproduced


FINDINGS_OF_ONE_EACH = [a_finding(each) for each in VerdictClass if each is not VerdictClass.NONE]
FINDINGS = st.builds(
    a_finding,
    st.sampled_from([each for each in VerdictClass if each is not VerdictClass.NONE]),
    state=st.sampled_from(FindingState),
    urgent=st.booleans(),
    reproduced=st.integers(0, 2),
)


@given(FINDINGS)
def test_what_is_in_review_or_closed_asks_for_nothing(finding: Finding) -> None:
    if finding.state is not FindingState.CONFIRMED:
        assert severity_of(finding) is NONE


@given(FINDINGS)
def test_every_severity_there_is_has_its_series(finding: Finding) -> None:
    if finding.is_open:
        assert severity_of(finding) in severities_of(finding.verdict_class, finding.state)


@given(FINDINGS)
def test_a_confirmation_never_lowers_a_severity(finding: Finding) -> None:
    order = [NONE, WARNING, CRITICAL]
    again = replace(finding, reproduced=finding.reproduced + 1)
    assert order.index(severity_of(again)) >= order.index(severity_of(finding))


def test_without_a_receiver_every_class_is_alertmanagers(tmp_path: Path) -> None:
    policy = policy_of(config_of(tmp_path))
    assert {policy.route_of(each) for each in VerdictClass} == {Route.ALERTMANAGER}
    assert not policy.is_direct(a_finding())


def test_with_one_leaks_are_direct_unless_the_configuration_says_otherwise(tmp_path: Path) -> None:
    hook = {"name": "incidents", "url": "http://127.0.0.1:9"}
    policy = policy_of(config_of(tmp_path, pages={"webhooks": [hook]}))
    direct = {each for each in VerdictClass if policy.route_of(each) is Route.DIRECT}
    assert direct == {VerdictClass.LEAK, VerdictClass.CROSSED}
    pages = {"webhooks": [hook], "routes": {"LEAK": "alertmanager", "DRIFT": "direct"}}
    policy = policy_of(config_of(tmp_path, pages=pages))
    direct = {each for each in VerdictClass if policy.route_of(each) is Route.DIRECT}
    assert direct == {VerdictClass.CROSSED, VerdictClass.DRIFT}
