"""Which finding a verdict belongs to, and what people decide about it.

A fault is named by its target, shape and trigger stratum (a stratum is a cell of one probe, so
the same cell of two shapes is two strata). From the first verdict until a person resolves or
dismisses it, everything bad there belongs to the same finding, whose class is the worst seen.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Protocol

from monitor.errors import UsageError
from monitor.findings.evidence import is_bare_wrong, is_to_review, place_of, tells_of_a_fault
from monitor.findings.finding import REPORTED_SHAPE, Decision, Finding, FindingState
from monitor.findings.rotation import Rotation, Turn, counted_back, takes_children, turned
from monitor.findings.said import hold_to_bounds
from monitor.findings.suppression import ISOLATION_BROKEN, suppressed_until, suppressor_of
from monitor.findings.versions import (
    changed,
    confirmed_again,
    decided,
    examined,
    joined,
    next_version,
    opened,
    suppressing,
)
from monitor.model import Verdict, VerdictClass

MAX_CONFIRMATIONS = 2
MAX_SUSPECT_FINDINGS_PER_DAY = 2


class FindingStore(Protocol):
    """Where findings survive a restart."""

    def load(self, since: datetime) -> Iterable[Finding]:
        """Return the findings that are open, were first seen since then, or suppress still."""

    def fetch(self, finding_id: str) -> Finding | None:
        """Return a finding as it stands, however long it has been closed."""

    def save(self, finding: Finding) -> None:
        """Keep a finding as it stands now; never lost once this returns."""

    def decide(self, finding: Finding, decision: Decision) -> None:
        """Keep what a person decided, and that they did; neither is lost once this returns.

        Evidence of a finding that is closed is no longer held; of one that is open again it is.
        """

    def rotate(self, finding: Finding, rotation: Rotation) -> None:
        """Keep what was told of a finding's target, and that it was; neither is lost after this."""


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

    def record(self, verdict: Verdict, *, confirms: str = "", examines: str = "") -> Finding | None:
        """Return the finding this verdict belongs to, opened or updated, or ``None``.

        The same trial again changes no count. A bare WRONG opens nothing, and any joins only in its
        own stratum: a model that errs now and then is not part of a leak elsewhere. ``confirms`` is
        the finding whose fault the trial was to show again, if it was sent for that; ``examines``
        the one that a person had it sent for, where mistakes alone are no evidence. A twin of what
        was dismissed opens nothing, as long as that was to last: it is counted there. Nothing new
        joins a leak whose target was out of rotation by then: that it knows nothing of.
        """
        if not tells_of_a_fault(verdict) or (examines and is_bare_wrong(verdict)):
            return None
        with self._lock:
            for meant, grown in ((confirms, confirmed_again), (examines, examined)):
                finding = self._known.get(meant)
                if finding is not None and finding.is_open:
                    return self._keep(grown(finding, verdict))
            own = self._open_at(place_of(verdict))
            if own is not None:
                return self._keep(joined(own, verdict))
            suppressor = suppressor_of(self._known.values(), verdict)
            if suppressor is not None:
                self._keep(suppressing(suppressor, verdict))
                return None
            root = self._root_of(verdict)
            if root is not None:
                return self._keep(joined(root, verdict))
            return self._keep(opened(verdict)) if self._may_open(verdict) else None

    def _open_at(self, place: tuple[str, str, str]) -> Finding | None:
        """Return the open finding of a stratum."""
        return _oldest(f for f in self._known.values() if f.is_open and _place(f) == place)

    def _root_of(self, verdict: Verdict) -> Finding | None:
        """Return the finding of broken isolation that a verdict of another stratum belongs to."""
        if verdict.verdict_class is VerdictClass.WRONG or verdict.shape == REPORTED_SHAPE:
            return None
        roots = [
            finding
            for finding in self._known.values()
            if finding.is_open
            and (finding.target, finding.shape) == (verdict.target, verdict.shape)
            and finding.verdict_class in ISOLATION_BROKEN
        ]
        known = _oldest(root for root in roots if verdict.stratum in root.strata)
        return known or _oldest(r for r in roots if takes_children(r, verdict.decided_at))

    def _may_open(self, verdict: Verdict) -> bool:
        if is_bare_wrong(verdict):
            return False
        if not is_to_review(verdict):
            return True
        day = verdict.decided_at.astimezone(UTC).date()
        opened = sum(
            finding.opened_class is VerdictClass.SUSPECT
            and _place(finding) == place_of(verdict)
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
            self._keep(changed(replace(finding, confirmations=finding.confirmations + 1), now))
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
        place, day = _place(finding), finding.first_seen.astimezone(UTC).date()
        return sum(
            other.confirmations
            for other in self._known.values()
            if _place(other) == place and other.first_seen.astimezone(UTC).date() == day
        )

    def confirm(self, finding_id: str, who: str, why: str, now: datetime) -> Finding:
        """Say that a finding in review is real. Raises ``UsageError`` if it is not open."""
        return self._decide(Decision.CONFIRM, self._open(finding_id), (who, why, now))

    def dismiss(
        self,
        finding_id: str,
        who: str,
        why: str,
        now: datetime,
        *,
        suppress: timedelta | None = None,
    ) -> Finding:
        """Close a finding as no fault, and ``suppress`` its twins for a time, never a leak's.

        Raises ``UsageError`` if it is not open, or if it may not be suppressed like that.
        """
        finding = self._open(finding_id)
        until = None if suppress is None else suppressed_until(finding, suppress, now)
        return self._decide(Decision.DISMISS, finding, (who, why, now), until)

    def resolve(self, finding_id: str, who: str, why: str, now: datetime) -> Finding:
        """Close a finding as mended. Raises ``UsageError`` if it is not open."""
        return self._decide(Decision.RESOLVE, self._open(finding_id), (who, why, now))

    def reopen(self, finding_id: str, who: str, why: str, now: datetime) -> Finding:
        """Open a closed finding again, with all that is known of it; it suppresses nothing more.

        Raises ``UsageError`` if there is none, or if its fault has an open finding already.
        """
        finding = self.find(finding_id) or self._store.fetch(finding_id)
        if finding is None:
            msg = f"{finding_id}: no closed finding has this id"
            raise UsageError(msg)
        if finding.is_open:
            raise UsageError(_stands(finding))
        return self._decide(Decision.REOPEN, finding, (who, why, now))

    def rotate(self, finding_id: str, turn: Turn) -> Finding:
        """Take down that an open finding's target was taken out of rotation, or put back.

        Nobody decides by that. Raises ``UsageError`` if it is not open, or as ``turned``.
        """
        seen = self._kept(finding_id)
        with self._lock:
            finding = self._known.get(seen.id, seen)
            if not finding.is_open:
                reopen = f"davylamp findings reopen {finding.id}"
                msg = f"{_stands(finding)}; rotation is told of open ones ({reopen}, if it is one)"
                raise UsageError(msg)
            kept = next_version(turned(finding, turn))
            self._store.rotate(kept, turn.rotation)
            self._changed(kept)
            return kept

    def _kept(self, finding_id: str) -> Finding:
        finding = self.find(finding_id) or self._store.fetch(finding_id)
        if finding is None:
            msg = f"{finding_id}: no open finding has this id"
            raise UsageError(msg)
        return finding

    def _open(self, finding_id: str) -> Finding:
        finding = self._kept(finding_id)
        if not finding.is_open:
            raise UsageError(_stands(finding))
        return finding

    def _decide(
        self,
        decision: Decision,
        seen: Finding,
        said: tuple[str, str, datetime],
        until: datetime | None = None,
    ) -> Finding:
        hold_to_bounds(*said[:2])
        with self._lock:
            # Verdicts may have joined it meanwhile, or somebody else have decided.
            finding = self._known.get(seen.id, seen)
            if finding.is_open is not seen.is_open:
                msg = (
                    f"{finding.id}: somebody decided about it at this moment; it is {finding.state}"
                )
                raise UsageError(msg)
            other = self._open_at(_place(finding))
            if decision is Decision.REOPEN and other is not None:
                msg = f"{finding.id}: {other.id} is open for the same fault; decide about that one"
                raise UsageError(msg)
            if decision is Decision.REOPEN:
                who, _, now = said
                finding = counted_back(finding, who, now)
            kept = next_version(decided(finding, decision, said, until))
            self._store.decide(kept, decision)
            self._changed(kept)
            return kept

    def list_open(self, target: str | None = None) -> tuple[Finding, ...]:
        """Return the open findings, worst first, then oldest first."""
        with self._lock:
            found = [
                finding
                for finding in self._known.values()
                if finding.is_open and target in (None, finding.target)
            ]
        return tuple(sorted(found, key=lambda f: (-f.verdict_class, f.first_seen, f.id)))

    def list_suppressing(self, now: datetime) -> tuple[Finding, ...]:
        """Return the dismissed findings that keep their twins from opening, soonest over first."""
        with self._lock:
            found = [(f.suppressed_until, f) for f in self._known.values()]
        lasting = [(until, f.id, f) for until, f in found if until is not None and until > now]
        return tuple(finding for _, _, finding in sorted(lasting, key=lambda each: each[:2]))

    def _keep(self, finding: Finding) -> Finding:
        kept = next_version(finding)
        self._store.save(kept)
        self._changed(kept)
        return kept

    def _changed(self, finding: Finding) -> None:
        self._known[finding.id] = finding
        for on_change in self._listeners:
            on_change()


def _stands(finding: Finding) -> str:
    """Return how a finding stands that cannot be decided about like that, since when, by whom."""
    stands = "open" if finding.is_open else "closed"
    since, by = f"{finding.first_seen.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}", ""
    if finding.who:
        # What was decided begins with when: later changes may be verdicts.
        since, by = finding.why.partition(" ")[0], f" by {finding.who}"
    return f"{finding.id}: is {stands} already ({finding.state}), since {since}{by}"


def _place(finding: Finding) -> tuple[str, str, str]:
    return (finding.target, finding.shape, finding.stratum)


def _oldest(findings: Iterable[Finding]) -> Finding | None:
    return min(findings, key=lambda finding: (finding.first_seen, finding.id), default=None)
