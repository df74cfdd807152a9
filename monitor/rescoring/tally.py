"""What judging again came to, counted as it goes: nothing in it grows with the trials."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from monitor.model import Outcome, Status, Verdict, VerdictClass
from monitor.reports.rescore import ChangedReport, CountReport, MatrixReport
from monitor.rescoring.opening import Missing, NotOpened

# The worst of the trials that are judged otherwise are listed; all are in the store.
MOST_LISTED = 1000
ISOLATION_BROKEN = (VerdictClass.LEAK, VerdictClass.CROSSED)
_Cell = tuple[VerdictClass, Outcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """A trial's first verdict, the one it is given now, and whether a finding tells of that.

    ``past_whole`` is true if all that was known then is known now.
    """

    old: Verdict
    new: Verdict
    covered: bool
    past_whole: bool

    @property
    def worse(self) -> bool:
        """True if it is bad now and was not, or is of a worse class than it was."""
        is_bad = self.new.outcome is Outcome.BAD
        return is_bad and (
            self.old.outcome is not Outcome.BAD or self.new.verdict_class > self.old.verdict_class
        )

    @property
    def unsure(self) -> bool:
        """True if the checks of today cannot judge what was judged."""
        judged = self.old.outcome is not Outcome.INVALID
        return judged and self.new.outcome is Outcome.INVALID

    @property
    def better(self) -> bool:
        """True if it is judged otherwise, neither worse nor for knowing less than was known."""
        return self.moved and self.past_whole and not (self.worse or self.unsure)

    @property
    def uncovered(self) -> bool:
        """True if it proves that isolation is broken, and no finding of this gravity says so."""
        return self.new.verdict_class in ISOLATION_BROKEN and not self.covered

    @property
    def moved(self) -> bool:
        """True if class or outcome is another one."""
        return _cell(self.old) != _cell(self.new)


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts, and the worst that changed."""

    trials: int = 0
    judged: int = 0
    earlier: int = 0
    worse: int = 0
    better: int = 0
    less_known: int = 0
    unsure: int = 0
    uncovered: int = 0
    moved: int = 0
    signals_only: int = 0
    missing: Counter[Missing] = field(default_factory=Counter)
    sealed_to: Counter[str] = field(default_factory=Counter)
    unreadable_why: Counter[str] = field(default_factory=Counter)
    versions: Counter[str] = field(default_factory=Counter)
    cells: Counter[tuple[_Cell, _Cell]] = field(default_factory=Counter)
    _listed: list[tuple[tuple[int, int, int], int, Again]] = field(default_factory=list)

    def not_opened(self, found: NotOpened) -> None:
        """Count a trial that cannot be judged again."""
        self.trials += 1
        self.missing[found.why] += 1
        if found.why is Missing.SEALED:
            self.sealed_to[found.detail] += 1
        elif found.why is Missing.UNREADABLE:
            self.unreadable_why[found.detail] += 1

    def judged_again(self, again: Again) -> None:
        """Count a trial that was judged again."""
        self.trials += 1
        self.judged += 1
        self.versions[again.old.checks_version] += 1
        self.cells[_cell(again.old), _cell(again.new)] += 1
        self.worse += again.worse
        self.unsure += again.unsure
        self.uncovered += again.uncovered
        self.better += again.better
        self.less_known += again.moved and not again.past_whole
        self.moved += again.moved
        self.signals_only += not again.moved and _failed(again.old) != _failed(again.new)
        if again.moved or again.uncovered:
            self._list(again)

    def _list(self, again: Again) -> None:
        gravity = (int(again.uncovered), int(again.worse), int(again.new.verdict_class))
        entry = (gravity, -self.judged, again)
        if len(self._listed) < MOST_LISTED:
            heapq.heappush(self._listed, entry)
        else:
            heapq.heappushpop(self._listed, entry)

    def changed(self) -> list[ChangedReport]:
        """Return the listed trials, the worst first, then in the order they were judged."""
        return [_changed(again) for _, _, again in sorted(self._listed, key=_order, reverse=True)]

    def matrix(self) -> list[MatrixReport]:
        """Return how many trials were judged how and are judged how, the worst first."""
        cells = sorted(self.cells.items(), key=lambda each: (-each[0][1][0], -each[0][0][0]))
        return [
            MatrixReport(
                old_class=old_class.label,
                old_outcome=old_outcome.value,
                new_class=new_class.label,
                new_outcome=new_outcome.value,
                trials=number,
            )
            for ((old_class, old_outcome), (new_class, new_outcome)), number in cells
        ]


def counts(counter: Counter[str]) -> list[CountReport]:
    """Return counts, the largest first."""
    return [CountReport(name=name, count=count) for name, count in counter.most_common()]


def _order(entry: tuple[tuple[int, int, int], int, Again]) -> tuple[tuple[int, int, int], int]:
    return entry[:2]


def _cell(verdict: Verdict) -> _Cell:
    return (verdict.verdict_class, verdict.outcome)


def _failed(verdict: Verdict) -> Counter[str]:
    return Counter(_codes(verdict))


def _codes(verdict: Verdict) -> Iterator[str]:
    for signal in verdict.signals:
        if signal.status is Status.FAIL:
            yield f"{signal.code}:{signal.variant}"
        elif signal.status is Status.ERROR:
            yield f"{signal.code}:error"


def _changed(again: Again) -> ChangedReport:
    old, new = again.old, again.new
    before, now = _failed(old), _failed(new)
    return ChangedReport(
        trial=old.trial,
        target=old.target,
        probe=old.probe,
        stratum=old.stratum,
        decided_at=old.decided_at,
        old_class=old.verdict_class.label,
        old_outcome=old.outcome.value,
        old_checks_version=old.checks_version,
        new_class=new.verdict_class.label,
        new_outcome=new.outcome.value,
        verdict=old.id,
        new_verdict=new.id,
        finding=old.finding,
        worse=again.worse,
        past_whole=again.past_whole,
        uncovered=again.uncovered,
        gained=sorted(now - before),
        lost=sorted(before - now),
    )
