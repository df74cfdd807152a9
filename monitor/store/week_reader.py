"""What the weekly report asks of the store. Values are always bound by the server.

What looks far back reads sums by hour or by day; findings, pages and signals of leaks are few.
Of everything that has versions the report sees those of before its end, so that what is decided
later changes no report of an earlier week.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from monitor.store.client import Row
from monitor.store.panels import Step, panel_rows, parameters
from monitor.store.rows import (
    TABLES,
    AuditRow,
    LadderRow,
    PageRow,
    ScheduleEventRow,
    VerdictRow,
)
from monitor.store.week_exchanges import ExchangeReader, Span, Tally, Timed
from monitor.store.week_questions import (
    ANY_AGAIN,
    CHANGES,
    DRAINS,
    LEAKS,
    NODE_BEGINNINGS,
    NODE_COUNTS,
    NODE_SILENCES,
    NODES,
    RESCORED,
    STORIES,
    TURNS,
    WITHOUT_FINDING,
    before,
    within,
)

__all__ = [
    "Drain",
    "FindingStory",
    "FindingTurn",
    "PageStory",
    "Span",
    "Tally",
    "Timed",
    "WeekReader",
    "day_of",
]

# An exchange is asked some time before its trial is judged.
_LONGEST_TRIAL = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingStory:
    """A finding up to a moment: how it stood then, and when it was what."""

    id: str
    target: str
    shape: str
    stratum: str
    verdict_class: str
    state: str
    count: int
    reproduced: int
    children: int
    first_seen: datetime
    proven_at: datetime | None
    acknowledged_at: datetime | None
    acknowledged_by: str
    closed_at: datetime | None
    closed_by: str
    out_of_rotation_at: datetime | None
    back_in_rotation_at: datetime | None
    rotation_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingTurn:
    """When a finding was opened, was closed, or became another class, and what it was from then."""

    at: datetime
    is_open: bool
    verdict_class: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageStory:
    """When a finding's page and ticket were first taken by a receiver, and acknowledged there."""

    paged_at: datetime | None
    ticketed_at: datetime | None
    acknowledged_at: datetime | None
    routes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drain:
    """One time that a target was out of rotation, as told of a finding that was ``closed_at``."""

    out_at: datetime
    back_at: datetime | None
    closed_at: datetime | None

    @property
    def is_withdrawn(self) -> bool:
        """True if somebody told that it was put back when it was taken out: it was not out."""
        return self.back_at is not None and self.back_at <= self.out_at

    @property
    def until(self) -> datetime | None:
        """Up to when it is known to have been out; ``None`` if it still is."""
        return min((at for at in (self.back_at, self.closed_at) if at is not None), default=None)


class WeekReader(ExchangeReader):
    """Reads what happened in a span of time."""

    def panel(self, name: str, span: Span) -> list[Row]:
        """Return the rows of a named question, by day."""
        return panel_rows(self._client, name, Step.DAY, parameters(span.since, span.until))

    def finding_stories(self, span: Span) -> tuple[FindingStory, ...]:
        """Return the findings that were open at some time of a span, as they stood at its end."""
        rows = self._client.query(STORIES, span.bound())
        return tuple(
            FindingStory(
                id=str(row[0]),
                target=str(row[1]),
                shape=str(row[2]),
                stratum=str(row[3]),
                verdict_class=str(row[4]),
                state=str(row[5]),
                count=int(row[6]),
                reproduced=int(row[7]),
                children=int(row[8]),
                first_seen=_utc(row[9]),
                proven_at=_maybe(row[10]),
                acknowledged_at=_maybe(row[11]),
                acknowledged_by=str(row[12]),
                closed_at=_maybe(row[13]),
                closed_by=str(row[14]),
                out_of_rotation_at=_maybe(row[15]),
                back_in_rotation_at=_maybe(row[16]),
                rotation_by=str(row[17]),
            )
            for row in rows
        )

    def page_stories(self, findings: Sequence[str], until: datetime) -> dict[str, PageStory]:
        """Return what receivers had taken of these findings by then."""
        taken = "outcome = 'accepted' AND action = 'trigger'"
        rows = self._client.query(
            f"SELECT finding, minOrNullIf(at, {taken} AND severity = 'critical'), "  # noqa: S608
            f"minOrNullIf(at, {taken} AND severity = 'warning'), "
            "minOrNullIf(at, outcome = 'accepted' AND action = 'acknowledge'), "
            f"arraySort(groupUniqArrayIf(route, {taken})) FROM {TABLES[PageRow]} FINAL "
            f"WHERE {before('at')} AND finding IN {{findings:Array(String)}} "
            "GROUP BY finding",
            {"until": until.astimezone(UTC), "findings": list(findings)},
        )
        return {
            str(finding): PageStory(
                paged_at=_maybe(paged),
                ticketed_at=_maybe(ticketed),
                acknowledged_at=_maybe(acknowledged),
                routes=tuple(map(str, routes)),
            )
            for finding, paged, ticketed, acknowledged, routes in rows
        }

    def turns(self, findings: Sequence[str], until: datetime) -> dict[str, list[FindingTurn]]:
        """Return by finding each turn that it took before then, in order."""
        found: dict[str, list[FindingTurn]] = {}
        bound = {"until": until.astimezone(UTC), "findings": list(findings)}
        for finding, at, is_open, verdict_class in self._client.query(TURNS, bound):
            turn = FindingTurn(at=_utc(at), is_open=bool(is_open), verdict_class=str(verdict_class))
            found.setdefault(str(finding), []).append(turn)
        return found

    def drains(self, findings: Sequence[str], until: datetime) -> dict[str, tuple[Drain, ...]]:
        """Return when the targets of these findings were out of rotation, as told by then."""
        bound = {"until": until.astimezone(UTC), "findings": list(findings)}
        found: dict[str, tuple[Drain, ...]] = {}
        for finding, out, back, closed in self._client.query(DRAINS, bound):
            drain = Drain(out_at=_utc(out), back_at=_maybe(back), closed_at=_maybe(closed))
            found[str(finding)] = (*found.get(str(finding), ()), drain)
        return found

    def leaks(self, span: Span) -> list[Row]:
        """Return sightings of registered texts in answers to others, by owner and victim."""
        bound = span.bound() | {"asked_since": span.since.astimezone(UTC) - _LONGEST_TRIAL}
        return self._client.query(LEAKS, bound)

    def rescored(self, span: Span) -> list[Row]:
        """Return what of kept answers was found worse when they were judged again in a span.

        Columns: target, class, what it was before, answers, first and last instant.
        """
        # In most weeks there is none, and to find the first verdicts all of them are read.
        if not self._client.query(ANY_AGAIN, span.bound())[0][0]:
            return []
        return self._client.query(RESCORED, span.bound())

    def without_finding(self, span: Span) -> list[Row]:
        """Return bad verdicts that are in no finding, and are not in the rates alone.

        Columns: target, class, source, scheduled, verdicts, first and last instant.
        """
        return self._client.query(WITHOUT_FINDING, span.bound())

    def moves(self, span: Span) -> list[Row]:
        """Return the verdicts of detectors: target, lane, probe, stratum, at, finding, reason."""
        return self._client.query(
            "SELECT target, shape, probe, stratum, decided_at, finding, reason "  # noqa: S608
            f"FROM {TABLES[VerdictRow]} FINAL WHERE {within('decided_at')} "
            "AND source = 'stream' ORDER BY decided_at, id",
            span.bound(),
        )

    def ladders(self, until: datetime) -> tuple[LadderRow, ...]:
        """Return the newest ladder of each target that was begun before then and could tell."""
        where = f"{before('started_at')} AND exit_code IN (0, 1) "
        return tuple(
            self._rows(
                LadderRow,
                f"{where}ORDER BY target, started_at DESC, id LIMIT 1 BY target",
                {"until": until.astimezone(UTC)},
                # One that was written twice is the same, and one of each target is taken.
                final=False,
            )
        )

    def node_readings(self, span: Span) -> list[Row]:
        """Return what was read of each node in a span, and since when it fails."""
        return self._client.query(NODES, span.bound())

    def node_beginnings(self, until: datetime) -> dict[str, datetime]:
        """Return by target when a node of it was first read, as far as rows are kept."""
        rows = self._client.query(NODE_BEGINNINGS, {"until": until.astimezone(UTC)})
        return {str(target): _utc(at) for target, at in rows}

    def node_counts(self, span: Span) -> dict[str, tuple[int, int, int]]:
        """Return by target how many readings of its nodes there are, failed and conformed."""
        rows = self._client.query(NODE_COUNTS, span.bound())
        return {str(target): (int(n), int(bad), int(well)) for target, n, bad, well in rows}

    def node_silences(self, span: Span) -> dict[str, float]:
        """Return by target the longest time without a reading of any node that could tell, in h.

        It begins with the span, or with the first reading ever if that is in it.
        """
        rows = self._client.query(NODE_SILENCES, span.bound())
        return {str(target): float(hours) for target, hours in rows}

    def changes(self, span: Span) -> list[Row]:
        """Return what of targets, calibrations, checks, models and nodes is new in a span.

        Columns: what, target, at, what it is now, who.
        """
        bound = span.bound() | {"earlier": span.with_before().since.astimezone(UTC)}
        found = [row for sql in CHANGES for row in self._client.query(sql, bound)]
        return sorted(found, key=lambda row: (row[2], row[1], row[0], row[3]))

    def missed_runs(self, span: Span) -> dict[str, int]:
        """Return how many runs of the schedule each target missed."""
        rows = self._client.query(
            f"SELECT target, sum(count) FROM {TABLES[ScheduleEventRow]} FINAL "  # noqa: S608
            f"WHERE {within('at')} AND kind = 'missed_runs' GROUP BY target",
            span.bound(),
        )
        return {str(target): int(number) for target, number in rows}

    def last_link(self, until: datetime) -> tuple[int, str, datetime] | None:
        """Return number, hash and time of the last link of the audit chain of before then."""
        where = f"{before('at')} ORDER BY seq DESC, hash LIMIT 1"
        found = self._rows(AuditRow, where, {"until": until.astimezone(UTC)}, final=False)
        return (found[0].seq, found[0].hash, found[0].at) if found else None

    def acts(self, span: Span) -> list[Row]:
        """Return action, actor and how often, of the audit chain."""
        return self._client.query(
            f"SELECT action, actor, uniqExact(seq) FROM {TABLES[AuditRow]} "  # noqa: S608
            f"WHERE {within('at')} GROUP BY action, actor ORDER BY action, actor",
            span.bound(),
        )


def day_of(text: str) -> date:
    """Return the day that a tally's ``at`` names."""
    return date.fromisoformat(text[:10])


def _utc(value: Any) -> datetime:
    found: datetime = value
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def _maybe(value: Any) -> datetime | None:
    return None if value is None else _utc(value)
