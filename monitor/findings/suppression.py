"""Twins of dismissed findings: what a person called no fault opens nothing for a stated time."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from monitor.errors import UsageError
from monitor.findings.evidence import failed_signals, opening_class, place_of
from monitor.findings.finding import Finding, FindingState
from monitor.model import Verdict, VerdictClass

# Text of somebody else is never noise, whoever says so.
ISOLATION_BROKEN = (VerdictClass.LEAK, VerdictClass.CROSSED)
MOST_SUPPRESSION = timedelta(days=90)


def suppressed_until(finding: Finding, lasting: timedelta, now: datetime) -> datetime:
    """Return until when a dismissed finding may keep its twins from opening.

    Raises ``UsageError`` for a LEAK or CROSSED, for no time or too long a time, and where nothing
    is known of what the finding's verdicts failed in.
    """
    if finding.verdict_class in ISOLATION_BROKEN:
        msg = f"{finding.id}: a {finding.verdict_class.label} is never suppressed"
        raise UsageError(msg)
    if not timedelta() < lasting <= MOST_SUPPRESSION:
        msg = f"{finding.id}: a pattern is suppressed for more than 0 and at most 90 days"
        raise UsageError(msg)
    if not finding.signals:
        msg = f"{finding.id}: it is not known which signals failed, so nothing can be its twin"
        raise UsageError(msg)
    return now + lasting


def suppressor_of(findings: Iterable[Finding], verdict: Verdict) -> Finding | None:
    """Return the dismissed finding that a verdict is a twin of, the latest of several.

    A twin has the same target, shape, stratum and class, and fails in nothing that the finding's
    own verdicts did not.
    """
    if verdict.verdict_class in ISOLATION_BROKEN:
        return None
    twins = [finding for finding in findings if _is_twin(finding, verdict)]
    return max(twins, key=lambda finding: (finding.changed_at, finding.id), default=None)


def _is_twin(finding: Finding, verdict: Verdict) -> bool:
    until = finding.suppressed_until
    return (
        finding.state is FindingState.DISMISSED
        and until is not None
        and verdict.decided_at < until
        and (finding.target, finding.shape, finding.stratum) == place_of(verdict)
        and opening_class(verdict) in (finding.opened_class, finding.verdict_class)
        and set(failed_signals(verdict)) <= set(finding.signals)
    )
