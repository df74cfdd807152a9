"""From one version of a finding to the next: opened, told more of, closed, opened again."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime

from monitor.findings.evidence import (
    failed_signals,
    is_bare_wrong,
    is_to_review,
    is_urgent,
    opening_class,
    place_of,
    trials_of,
)
from monitor.findings.finding import Decision, Finding, FindingState
from monitor.model import Verdict, VerdictClass

REMEMBERED_TRIALS = 200
# Of these the first stay, whatever comes: what opened a finding, what made it worse.
_FIRST_TRIALS = 50
REMEMBERED_CHILDREN = 256
REMEMBERED_SIGNALS = 64
_CLOSED_AS = {
    Decision.CONFIRM: FindingState.CONFIRMED,
    Decision.DISMISS: FindingState.DISMISSED,
    Decision.RESOLVE: FindingState.RESOLVED,
}
_ID_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ID_LENGTH = 8


def next_version(finding: Finding) -> Finding:
    """Return a changed finding as the version after the one it was made of."""
    return replace(finding, version=finding.version + 1)


def changed(finding: Finding, instant: datetime) -> Finding:
    """Return a finding changed then: a clock that jumps back does not turn its history round."""
    return replace(finding, changed_at=max(finding.changed_at, instant))


def opened(verdict: Verdict) -> Finding:
    """Return the finding that a verdict opens."""
    opened_class = opening_class(verdict)
    return Finding(
        id=_finding_id(verdict),
        version=0,
        target=verdict.target,
        shape=verdict.shape,
        stratum=verdict.stratum,
        verdict_class=opened_class,
        opened_class=opened_class,
        state=FindingState.NEEDS_REVIEW if is_to_review(verdict) else FindingState.CONFIRMED,
        first_seen=verdict.decided_at,
        last_seen=verdict.decided_at,
        changed_at=verdict.decided_at,
        trials=trials_of(verdict),
        signals=failed_signals(verdict)[:REMEMBERED_SIGNALS],
        urgent=is_urgent(verdict),
    )


def joined(finding: Finding, verdict: Verdict) -> Finding:
    """Add a verdict: the class never sinks, and bad evidence confirms what was in review."""
    told = _told(finding, verdict)
    return replace(told, count=finding.count + (not _is_known(finding, verdict)))


def confirmed_again(finding: Finding, verdict: Verdict) -> Finding:
    """Add a verdict that was to show the fault again: counted apart, if it did."""
    shown = not _is_known(finding, verdict) and _is_the_fault(finding, verdict)
    return replace(_told(finding, verdict), reproduced=finding.reproduced + shown)


def examined(finding: Finding, verdict: Verdict) -> Finding:
    """Add a verdict of a trial that a person asked for: evidence, but counted nowhere."""
    return _told(finding, verdict)


def decided(
    finding: Finding,
    decision: Decision,
    said: tuple[str, str, datetime],
    suppressed_until: datetime | None = None,
) -> Finding:
    """Return a finding after what was ``said`` of it: by whom, why and when."""
    who, why, now = said
    reason = f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ} {why}"
    state = _CLOSED_AS.get(decision) or _open_state(finding)
    return replace(
        changed(finding, now),
        state=state,
        who=who,
        why=reason,
        suppressed_until=suppressed_until,
    )


def suppressing(finding: Finding, verdict: Verdict) -> Finding:
    """Count a twin of a dismissed finding; its trial stays to be seen, the same one counts once."""
    return replace(
        changed(finding, verdict.decided_at),
        suppressed=finding.suppressed + (not _is_known(finding, verdict)),
        trials=_with_trial(finding, verdict),
    )


def _open_state(finding: Finding) -> FindingState:
    """Return the state of a finding that is opened again: what is proven stays so."""
    proven = finding.verdict_class > VerdictClass.WRONG
    return FindingState.CONFIRMED if proven else FindingState.NEEDS_REVIEW


def _told(finding: Finding, verdict: Verdict) -> Finding:
    children = finding.children
    if verdict.stratum not in finding.strata:
        children = (*children, verdict.stratum)[:REMEMBERED_CHILDREN]
    signals = {*finding.signals, *failed_signals(verdict)}
    return replace(
        changed(finding, verdict.decided_at),
        verdict_class=max(finding.verdict_class, verdict.verdict_class),
        state=finding.state if is_to_review(verdict) else FindingState.CONFIRMED,
        last_seen=max(finding.last_seen, verdict.decided_at),
        children=children,
        trials=_with_trial(finding, verdict),
        signals=tuple(sorted(signals))[:REMEMBERED_SIGNALS],
        urgent=finding.urgent or is_urgent(verdict),
    )


def _with_trial(finding: Finding, verdict: Verdict) -> tuple[str, ...]:
    """Return the trials to remember: the first ones and the newest.

    One that gives a worse class stands before all others: a fault is shown again by its like.
    """
    own, before = trials_of(verdict), finding.trials
    worse = verdict.verdict_class > finding.verdict_class
    trials = tuple(dict.fromkeys((*own, *before) if worse else (*before, *own)))
    if len(trials) <= REMEMBERED_TRIALS:
        return trials
    return (*trials[:_FIRST_TRIALS], *trials[_FIRST_TRIALS - REMEMBERED_TRIALS :])


def _is_known(finding: Finding, verdict: Verdict) -> bool:
    return bool(verdict.trial) and verdict.trial in finding.trials


def _is_the_fault(finding: Finding, verdict: Verdict) -> bool:
    """Tell whether a confirming verdict shows more than an ordinary mistake."""
    in_review = finding.opened_class is VerdictClass.SUSPECT
    return verdict.verdict_class > VerdictClass.WRONG or (in_review and not is_bare_wrong(verdict))


def _finding_id(verdict: Verdict) -> str:
    """Return an id that is the same whenever the same first verdict is recorded again."""
    text = "\0".join((*place_of(verdict), verdict.id))
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    letters = (_ID_LETTERS[(number >> (5 * place)) & 31] for place in range(_ID_LENGTH))
    return "F-" + "".join(letters)
