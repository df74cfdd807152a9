"""What the week shows of each target: its judgement, its trend, its days."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

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


def times_of(
    reader: WeekReader, week: Week, names: Sequence[str]
) -> tuple[tuple[TrendRow, ...], tuple[DayRow, ...]]:
    """Return the last weeks of each target, the oldest first, and each day of the last of them.

    Days without a count are among them.
    """
    span = Span(since=week.earlier(WEEKS - 1).since, until=week.until)
    of_days: dict[tuple[str, date], Tally] = {}
    of_weeks: dict[tuple[str, Week], Tally] = {}
    for (target, at), tally in reader.tallies(span, ("target", "at")).items():
        day = day_of(at)
        key = (target, Week(day - timedelta(days=day.weekday())))
        of_days[target, day] = tally
        of_weeks[key] = of_weeks.get(key, _NOTHING).plus(tally)
    weeks = [week.earlier(back) for back in range(WEEKS - 1, -1, -1)]
    trend = [_trend_row(n, w, of_weeks.get((n, w), _NOTHING)) for n in names for w in weeks]
    days = [_day_row(n, d, of_days.get((n, d), _NOTHING)) for n in names for d in week.days]
    return tuple(sorted(trend, key=lambda row: (row.target, row.week))), tuple(days)


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


def _day_row(target: str, day: date, tally: Tally) -> DayRow:
    return DayRow(
        target=target,
        day=day,
        good=tally.good,
        bad=tally.bad,
        errors=tally.errors,
        invalid=tally.invalid,
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
