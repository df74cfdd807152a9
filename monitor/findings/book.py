"""Which finding a verdict belongs to, and what people decide about it.

A fault is named by its target, shape and trigger stratum (a stratum is a cell of one probe, so
the same cell of two shapes is two strata). From the first verdict until a person resolves or
dismisses it, everything bad there belongs to the same finding, whose class is the worst seen.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, time
from typing import Protocol

from monitor.errors import UsageError
from monitor.findings.finding import REPORTED_SHAPE, Finding, FindingState
from monitor.model import Outcome, Status, Verdict, VerdictClass

MAX_CONFIRMATIONS = 2
MAX_SUSPECT_FINDINGS_PER_DAY = 2
REMEMBERED_TRIALS = 200
REMEMBERED_CHILDREN = 256
_ISOLATION_BROKEN = (VerdictClass.LEAK, VerdictClass.CROSSED)
_PERSONAL_DATA = ("ENTITY", "novel")
# The prompt was dropped inside the engine, and something else was answered.
_URGENT = frozenset(
    {("BOUNDARY", "replaced"), ("USAGE_IN", "placeholder"), ("USAGE_IN", "constant")}
)
_ID_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ID_LENGTH = 8


class FindingStore(Protocol):
    """Where findings survive a restart."""

    def load(self, since: datetime) -> Iterable[Finding]:
        """Return the findings that are open or were first seen since then."""

    def save(self, finding: Finding) -> None:
        """Keep a finding as it stands now; never lost once this returns."""

    def decide(self, finding: Finding) -> None:
        """Keep what a person decided, and that they did; neither is lost once this returns.

        Evidence of a finding that is closed is no longer held.
        """


class Findings:
    """The findings of this installation. Safe to use from several threads."""

    def __init__(self, store: FindingStore, now: datetime) -> None:
        self._store = store
        self._lock = threading.Lock()
        today = datetime.combine(now.astimezone(UTC).date(), time(), UTC)
        self._known = {finding.id: finding for finding in store.load(today)}
        self._listeners: list[Callable[[], None]] = []

    def listen(self, on_change: Callable[[], None]) -> None:
        """Call ``on_change`` after each change of a finding; it must neither wait nor raise."""
        self._listeners.append(on_change)

    def find(self, finding_id: str) -> Finding | None:
        """Return a finding that is open, was closed since the start, or is of today."""
        with self._lock:
            return self._known.get(finding_id)

    def record(self, verdict: Verdict, *, confirms: str = "") -> Finding | None:
        """Return the finding this verdict belongs to, opened or updated, or ``None``.

        The same trial again changes no count. A bare WRONG opens nothing, and any joins only in its
        own stratum: a model that errs now and then is not part of a leak elsewhere. ``confirms`` is
        the finding whose fault the trial was to show again, if it was sent for that.
        """
        if not _tells_of_a_fault(verdict):
            return None
        with self._lock:
            confirmed = self._known.get(confirms)
            if confirmed is not None and confirmed.is_open:
                return self._keep(_with(confirmed, verdict, again=True))
            joined = self._joined(verdict)
            if joined is not None:
                return self._keep(_with(joined, verdict))
            if not self._may_open(verdict):
                return None
            return self._keep(_opened(verdict))

    def _joined(self, verdict: Verdict) -> Finding | None:
        """Return the open finding of the stratum, else the root it is a child of."""
        same_shape = [
            finding
            for finding in self._known.values()
            if finding.is_open
            and (finding.target, finding.shape) == (verdict.target, verdict.shape)
        ]
        own = [finding for finding in same_shape if finding.stratum == verdict.stratum]
        roots = [
            finding
            for finding in same_shape
            if finding.verdict_class in _ISOLATION_BROKEN
            and verdict.verdict_class is not VerdictClass.WRONG
            and verdict.shape != REPORTED_SHAPE
        ]
        oldest_first = sorted(own or roots, key=lambda finding: (finding.first_seen, finding.id))
        return next(iter(oldest_first), None)

    def _may_open(self, verdict: Verdict) -> bool:
        if is_bare_wrong(verdict):
            return False
        if not _is_to_review(verdict):
            return True
        day = verdict.decided_at.astimezone(UTC).date()
        opened = sum(
            finding.opened_class is VerdictClass.SUSPECT
            and (finding.target, finding.shape, finding.stratum) == _place(verdict)
            and finding.first_seen.astimezone(UTC).date() == day
            for finding in self._known.values()
        )
        return opened < MAX_SUSPECT_FINDINGS_PER_DAY

    def frozen_shapes(self, target: str) -> dict[str, str]:
        """Return the shapes not to be scheduled on a target: an open LEAK reads others' text."""
        with self._lock:
            return {
                finding.shape: finding.id
                for finding in self._known.values()
                if finding.target == target
                and finding.is_open
                and finding.verdict_class is VerdictClass.LEAK
            }

    def claim_confirmation(self, finding_id: str, now: datetime) -> bool:
        """Take one of the two confirmations a finding may have; false if there is none left."""
        with self._lock:
            if not self._may_confirm(finding_id):
                return False
            finding = self._known[finding_id]
            self._keep(_at(replace(finding, confirmations=finding.confirmations + 1), now))
            return True

    def may_confirm(self, finding_id: str) -> bool:
        """Return true while a finding has a confirmation left to claim."""
        with self._lock:
            return self._may_confirm(finding_id)

    def _may_confirm(self, finding_id: str) -> bool:
        finding = self._known.get(finding_id)
        if finding is None or not finding.is_open:
            return False
        return self._confirmations(finding) < MAX_CONFIRMATIONS

    def _confirmations(self, finding: Finding) -> int:
        """Return the confirmations that count against a finding's limit.

        A finding in review shares its limit with those of its stratum of the same day.
        """
        if finding.state is not FindingState.NEEDS_REVIEW:
            return finding.confirmations
        place, day = _stratum_of(finding), finding.first_seen.astimezone(UTC).date()
        return sum(
            other.confirmations
            for other in self._known.values()
            if _stratum_of(other) == place and other.first_seen.astimezone(UTC).date() == day
        )

    def confirm(self, finding_id: str, who: str, why: str, now: datetime) -> Finding:
        """Say that a finding in review is real. Raises ``UsageError`` if it is not open."""
        return self._decide(finding_id, FindingState.CONFIRMED, who, why, now)

    def dismiss(self, finding_id: str, who: str, why: str, now: datetime) -> Finding:
        """Close a finding as no fault. Raises ``UsageError`` if it is not open."""
        return self._decide(finding_id, FindingState.DISMISSED, who, why, now)

    def resolve(self, finding_id: str, who: str, why: str, now: datetime) -> Finding:
        """Close a finding as mended. Raises ``UsageError`` if it is not open."""
        return self._decide(finding_id, FindingState.RESOLVED, who, why, now)

    def _decide(
        self, finding_id: str, state: FindingState, who: str, why: str, now: datetime
    ) -> Finding:
        with self._lock:
            finding = self._known.get(finding_id)
            if finding is None or not finding.is_open:
                msg = f"{finding_id}: no open finding has this id"
                raise UsageError(msg)
            said = f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ} {why}"
            decided = _next(_at(replace(finding, state=state, who=who, why=said), now))
            self._store.decide(decided)
            self._changed(decided)
            return decided

    def list_open(self, target: str | None = None) -> tuple[Finding, ...]:
        """Return the open findings, worst first, then oldest first."""
        with self._lock:
            found = [
                finding
                for finding in self._known.values()
                if finding.is_open and target in (None, finding.target)
            ]
        return tuple(sorted(found, key=lambda f: (-f.verdict_class, f.first_seen, f.id)))

    def _keep(self, finding: Finding) -> Finding:
        kept = _next(finding)
        self._store.save(kept)
        self._changed(kept)
        return kept

    def _changed(self, finding: Finding) -> None:
        self._known[finding.id] = finding
        for on_change in self._listeners:
            on_change()


def _next(finding: Finding) -> Finding:
    return replace(finding, version=finding.version + 1)


def _at(finding: Finding, instant: datetime) -> Finding:
    """Return a finding changed then: a clock that jumps back does not turn its history round."""
    return replace(finding, changed_at=max(finding.changed_at, instant))


def _tells_of_a_fault(verdict: Verdict) -> bool:
    if verdict.outcome is Outcome.BAD:
        return verdict.verdict_class > VerdictClass.SUSPECT
    return verdict.verdict_class is VerdictClass.SUSPECT and any(
        signal.code == "FOREIGN" or (signal.code, signal.variant) == _PERSONAL_DATA
        for signal in verdict.signals
        if signal.status is Status.FAIL
    )


def is_bare_wrong(verdict: Verdict) -> bool:
    """True if all that is wrong is what a weak model does: no reason for a finding of its own.

    A wrong answer that holds somebody's personal data is reviewed like a right one that does. Parts
    of foreign markers are not: in a wrong answer they are mostly copy errors.
    """
    return verdict.verdict_class is VerdictClass.WRONG and not any(
        (signal.code, signal.variant) == _PERSONAL_DATA and signal.status is Status.FAIL
        for signal in verdict.signals
    )


def _is_to_review(verdict: Verdict) -> bool:
    """True if nothing is proven."""
    return verdict.verdict_class in (VerdictClass.SUSPECT, VerdictClass.WRONG)


def _place(verdict: Verdict) -> tuple[str, str, str]:
    return (verdict.target, verdict.shape, verdict.stratum)


def _stratum_of(finding: Finding) -> tuple[str, str, str]:
    return (finding.target, finding.shape, finding.stratum)


def _opened(verdict: Verdict) -> Finding:
    suspect = _is_to_review(verdict)
    opened_class = VerdictClass.SUSPECT if suspect else verdict.verdict_class
    return Finding(
        id=_finding_id(verdict),
        version=0,
        target=verdict.target,
        shape=verdict.shape,
        stratum=verdict.stratum,
        verdict_class=opened_class,
        opened_class=opened_class,
        state=FindingState.NEEDS_REVIEW if suspect else FindingState.CONFIRMED,
        first_seen=verdict.decided_at,
        last_seen=verdict.decided_at,
        changed_at=verdict.decided_at,
        trials=_evidence(verdict),
        urgent=_is_urgent(verdict),
    )


def _with(finding: Finding, verdict: Verdict, *, again: bool = False) -> Finding:
    """Add a verdict: the class never sinks, and bad evidence confirms what was in review.

    A verdict that shows the fault ``again`` on purpose is counted apart.
    """
    known = bool(_evidence(verdict)) and _evidence(verdict)[0] in finding.trials
    proven = verdict.verdict_class > VerdictClass.WRONG
    children = finding.children
    if verdict.stratum not in (finding.stratum, *children):
        children = (*children, verdict.stratum)[:REMEMBERED_CHILDREN]
    return replace(
        _at(finding, verdict.decided_at),
        verdict_class=max(finding.verdict_class, verdict.verdict_class),
        state=FindingState.CONFIRMED if proven else finding.state,
        last_seen=max(finding.last_seen, verdict.decided_at),
        count=finding.count if known or again else finding.count + 1,
        reproduced=finding.reproduced + (again and not known and _is_the_fault(finding, verdict)),
        children=children,
        trials=tuple(dict.fromkeys((*finding.trials, *_evidence(verdict))))[:REMEMBERED_TRIALS],
        urgent=finding.urgent or _is_urgent(verdict),
    )


def _is_the_fault(finding: Finding, verdict: Verdict) -> bool:
    """Tell whether a confirming verdict shows more than an ordinary mistake."""
    in_review = finding.opened_class is VerdictClass.SUSPECT
    return verdict.verdict_class > VerdictClass.WRONG or (in_review and not is_bare_wrong(verdict))


def _is_urgent(verdict: Verdict) -> bool:
    return any(
        signal.status is Status.FAIL and (signal.code, signal.variant) in _URGENT
        for signal in verdict.signals
    )


def _evidence(verdict: Verdict) -> tuple[str, ...]:
    return (verdict.trial,) if verdict.trial else ()


def _finding_id(verdict: Verdict) -> str:
    """Return an id that is the same whenever the same first verdict is recorded again."""
    text = "\0".join((*_place(verdict), verdict.id))
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    letters = (_ID_LETTERS[(number >> (5 * place)) & 31] for place in range(_ID_LENGTH))
    return "F-" + "".join(letters)
