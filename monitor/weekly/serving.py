"""Context that was verified against what is advertised, and the nodes that serve."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, time

from monitor.store.client import Row
from monitor.store.rows import LadderRow
from monitor.store.week_reader import Span, WeekReader
from monitor.weekly.inputs import Asked
from monitor.weekly.running_record import ContextRow, NodeRow

_DAY_SECONDS = 86_400.0
_HOUR_SECONDS = 3_600.0
_WEEK_HOURS = 7 * 24
FAILS_BELOW = "fails below what it says"


def context_of(reader: WeekReader, asked: Asked, span: Span) -> tuple[ContextRow, ...]:
    """Return the newest ladder of each target, and those that were never measured."""
    ladders = {row.target: row for row in reader.ladders(span.until)}
    names = {target.name for target in asked.targets if target.asked} | set(ladders)
    return tuple(_context(name, ladders.get(name), span) for name in sorted(names))


def _context(target: str, ladder: LadderRow | None, span: Span) -> ContextRow:
    if ladder is None:
        return ContextRow(
            target=target,
            measured_at=None,
            in_week=False,
            verified_tokens=None,
            verified_error_tokens=None,
            failed_tokens=None,
            enforced_tokens=None,
            advertised_tokens=None,
            advertised_source="",
            state="never measured",
        )
    return ContextRow(
        target=target,
        measured_at=ladder.started_at,
        in_week=ladder.started_at >= span.since,
        verified_tokens=ladder.verified_tokens,
        verified_error_tokens=ladder.verified_error_tokens,
        failed_tokens=ladder.failed_tokens,
        enforced_tokens=ladder.enforced_tokens or None,
        advertised_tokens=ladder.advertised_tokens or None,
        advertised_source=ladder.advertised_source,
        state=_state(ladder),
    )


def _state(ladder: LadderRow) -> str:
    if ladder.failed_tokens is not None:
        return FAILS_BELOW if ladder.exit_code else "fails beyond its limit"
    if not ladder.advertised_tokens:
        return "it advertises no size"
    reached = ladder.verified_tokens + ladder.verified_error_tokens >= ladder.advertised_tokens
    return "verified as advertised" if reached else "verified to less than advertised"


def nodes_of(reader: WeekReader, asked: Asked, span: Span) -> tuple[NodeRow, ...]:
    """Return what was read of each node in a span."""
    begun = reader.node_beginnings(span.until)
    listed = {(target.name, name) for target in asked.targets for name in target.nodes}
    rows = []
    for row in reader.node_readings(span):
        held = None
        if (row[0], row[1]) in listed:
            held = Span(since=max(span.since, begun[str(row[0])]), until=span.until)
        rows.append(_node(row, asked.faults_public, held))
    return tuple(rows)


def _node(row: Row, faults_public: Mapping[str, date], held: Span | None) -> NodeRow:
    since, until = row[10], row[11]
    dates = [faults_public[rule] for rule in row[12] if rule in faults_public]
    public = min(dates) if dates and until is not None else None
    return NodeRow(
        target=str(row[0]),
        node=str(row[1]),
        engine=str(row[2]),
        engine_version=str(row[3]),
        role=str(row[4]),
        conformity=str(row[5]),
        readings=int(row[6]),
        conforming=int(row[7]),
        failing=int(row[8]),
        unknown=int(row[9]),
        unknown_ratio=int(row[9]) / int(row[6]),
        hours_unknown=_WEEK_HOURS - int(row[16]),
        longest_unknown_hours=round(_longest_unknown(row, held), 4),
        failing_since=since,
        days_failing=_days(since, until),
        public_since=public,
        days_exposed=_days(_midnight(public), until),
        failed_rules=tuple(map(str, row[12])),
        warned_rules=tuple(map(str, row[13])),
        unknown_rules=tuple(map(str, row[14])),
        last_at=row[15],
    )


def _longest_unknown(row: Row, held: Span | None) -> float:
    """Return for how many hours at a stretch a node was not told of the time it is held to.

    One that is held to no time may come and go: it is told between its first and last reading.
    """
    within, first, last = float(row[17]), row[18], row[19]
    if held is None:
        return within
    if first is None or last is None:
        return _hours(held.since, held.until)
    return max(within, _hours(held.since, first), _hours(last, held.until))


def _hours(since: datetime, until: datetime) -> float:
    return (until - since).total_seconds() / _HOUR_SECONDS


def _midnight(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), UTC)


def _days(since: datetime | None, until: datetime | None) -> float | None:
    if since is None or until is None:
        return None
    return round((until - since).total_seconds() / _DAY_SECONDS, 4)
