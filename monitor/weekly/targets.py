"""What the week shows of each target: its judgement, its trend, its days."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.detect.sequence import confidence_sequence
from monitor.store.week_reader import Span, Tally, WeekReader, day_of
from monitor.weekly.judging import Seen, judged
from monitor.weekly.record import (
    CellRow,
    CellState,
    DayRow,
    TargetRow,
    Trend,
    TrendRow,
)
from monitor.weekly.week import Week

# This week and so many before it.
WEEKS = 5
_NOTHING = Tally()


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
    name: str, seen: Seen, weeks: Sequence[TrendRow], cells: Sequence[CellRow]
) -> TargetRow:
    """Return what the week shows of a target, by what was seen of it, its weeks and its cells."""
    now = seen.now
    judgement, why = judged(seen)
    own = [cell.state for cell in cells]
    failing = own.count(CellState.FAILING)
    clean = own.count(CellState.CLEAN)
    return TargetRow(
        target=name,
        model=seen.known.model if seen.known is not None else "",
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


def _trend(weeks: Sequence[TrendRow]) -> Trend:
    """Compare with the week before: shown only where the two intervals lie apart."""
    before, now = weeks[-2], weeks[-1]
    if not (before.good + before.bad and now.good + now.bad):
        return Trend.UNKNOWN
    if now.bad_at_least > before.bad_at_most:
        return Trend.WORSE
    return Trend.BETTER if now.bad_at_most < before.bad_at_least else Trend.NO_CHANGE_SHOWN
