"""What the week shows of each target: its judgement, its trend, its days."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.detect.binomial import upper_bound
from monitor.detect.sequence import confidence_sequence
from monitor.findings import FindingState
from monitor.model import VerdictClass
from monitor.store.week_reader import Span, Tally, WeekReader, day_of
from monitor.weekly.inputs import KnownTarget
from monitor.weekly.record import (
    CellRow,
    CellState,
    DayRow,
    FindingRow,
    Judgement,
    TargetRow,
    Trend,
    TrendRow,
)
from monitor.weekly.week import Week

# This week and so many before it.
WEEKS = 5
_NO_FAULT = frozenset({FindingState.DISMISSED.value})
_OPEN = frozenset({FindingState.NEEDS_REVIEW.value, FindingState.CONFIRMED.value})
_NOT_PROVEN = frozenset({VerdictClass.NONE.label, VerdictClass.SUSPECT.label})
_NOTHING = Tally()
_LEAST_VALID_SHARE = 0.5


def trends_of(reader: WeekReader, week: Week, names: Sequence[str]) -> tuple[TrendRow, ...]:
    """Return the last weeks of each target, the oldest first."""
    rows = []
    for back in range(WEEKS - 1, -1, -1):
        each = week.earlier(back)
        found = reader.tallies(Span(since=each.since, until=each.until), ("target",))
        rows += [_trend_row(name, each, found.get((name,), _NOTHING)) for name in names]
    return tuple(sorted(rows, key=lambda row: (row.target, row.week)))


def _trend_row(target: str, week: Week, tally: Tally) -> TrendRow:
    low, high = confidence_sequence(tally.bad, tally.valid)
    return TrendRow(
        target=target,
        week=week.label,
        good=tally.good,
        bad=tally.bad,
        errors=tally.errors,
        invalid=tally.invalid,
        bad_ratio=tally.bad / tally.valid if tally.valid else None,
        bad_at_least=low,
        bad_at_most=high,
    )


def days_of(reader: WeekReader, week: Week, names: Sequence[str]) -> tuple[DayRow, ...]:
    """Return each day of the week for each target, those without a count too."""
    span = Span(since=week.since, until=week.until)
    found = {
        (target, day_of(at)): tally
        for (target, at), tally in reader.tallies(span, ("target", "at")).items()
    }
    return tuple(
        DayRow(
            target=name,
            day=day,
            good=tally.good,
            bad=tally.bad,
            errors=tally.errors,
            invalid=tally.invalid,
        )
        for name in names
        for day in week.days
        for tally in (found.get((name, day), _NOTHING),)
    )


def target_row(
    name: str,
    known: KnownTarget | None,
    weeks: Sequence[TrendRow],
    findings: Sequence[FindingRow],
    cells: Sequence[CellRow],
) -> TargetRow:
    """Return what the week shows of a target, by its own weeks, findings and cells.

    This week is the last of the ``weeks``.
    """
    now = weeks[-1]
    judgement, why = _judged(known, now, findings)
    own = [cell.state for cell in cells]
    failing = own.count(CellState.FAILING)
    clean = own.count(CellState.CLEAN)
    return TargetRow(
        target=name,
        model=known.model if known is not None else "",
        judgement=judgement,
        why=why,
        trend=_trend(weeks),
        good=now.good,
        bad=now.bad,
        errors=now.errors,
        invalid=now.invalid,
        bad_ratio=now.bad_ratio,
        bad_at_least=now.bad_at_least,
        bad_at_most=now.bad_at_most,
        cells=len(own),
        cells_clean=clean,
        cells_failing=failing,
        cells_unknown=len(own) - clean - failing,
    )


def _judged(
    known: KnownTarget | None, now: TrendRow, findings: Sequence[FindingRow]
) -> tuple[Judgement, str]:
    room = round(1 - known.objective_ratio, 9) if known is not None else None
    shown = _shown_bad(room, now, findings)
    if shown:
        return Judgement.BAD, shown
    unsure = _not_told(room, now, findings)
    if unsure:
        return Judgement.UNSURE, unsure
    valid = now.good + now.bad
    most = upper_bound(now.bad, valid)
    if room is None or most > room:
        may = f", and {room:.4%} may be bad" if room is not None else ""
        return Judgement.UNSURE, f"{now.bad:,} bad of {valid:,} leave up to {most:.4%}{may}"
    return Judgement.GOOD, f"{now.bad:,} bad of {valid:,}: at most {most:.4%} where it was looked"


def _shown_bad(room: float | None, now: TrendRow, findings: Sequence[FindingRow]) -> str:
    """Return what shows that a target was bad, empty if nothing does."""
    faults = [
        each
        for each in findings
        if each.state not in _NO_FAULT and each.finding_class not in _NOT_PROVEN
    ]
    if faults:
        worst = max(faults, key=lambda each: VerdictClass[each.finding_class])
        return f"{_many(len(faults), 'finding')}, the worst {worst.finding_class}"
    if room is not None and now.bad_at_least > room:
        return f"more than {room:.4%} of its answers were bad, shown with 95 %"
    return ""


def _not_told(room: float | None, now: TrendRow, findings: Sequence[FindingRow]) -> str:
    """Return why nothing can be told of a target whatever its answers were, empty if it can."""
    valid = now.good + now.bad
    asked = valid + now.errors + now.invalid
    if not asked:
        return "nothing was asked of it"
    if room is None:
        return "it is not configured any more: what it is held to is not known"
    if valid < _LEAST_VALID_SHARE * asked:
        return f"only {valid:,} of {asked:,} exchanges could be judged"
    waiting = sum(each.state in _OPEN for each in findings)
    return f"{_many(waiting, 'finding')} in review" if waiting else ""


def _trend(weeks: Sequence[TrendRow]) -> Trend:
    """Compare with the week before: shown only where the two intervals lie apart."""
    before, now = weeks[-2], weeks[-1]
    if not (before.good + before.bad and now.good + now.bad):
        return Trend.UNKNOWN
    if now.bad_at_least > before.bad_at_most:
        return Trend.WORSE
    return Trend.BETTER if now.bad_at_most < before.bad_at_least else Trend.NO_CHANGE_SHOWN


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
