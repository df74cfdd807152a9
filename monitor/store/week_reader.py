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
from monitor.store.reader import Reader
from monitor.store.rows import (
    TABLES,
    AuditRow,
    LadderRow,
    PageRow,
    ScheduleEventRow,
    VerdictRow,
)
from monitor.store.week_questions import (
    CHANGES,
    LEAKS,
    NODES,
    RESCORED,
    STORIES,
    before,
    within,
)

_OUTCOMES = (
    "sumIf(number, outcome = 'good'), sumIf(number, outcome = 'bad'), "
    "sumIf(number, outcome = 'error'), sumIf(number, outcome = 'invalid')"
)
# An exchange is asked some time before its trial is judged.
_LONGEST_TRIAL = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """From ``since`` up to before ``until``."""

    since: datetime
    until: datetime

    def bound(self) -> dict[str, Any]:
        """Return it as parameters."""
        return {"since": self.since.astimezone(UTC), "until": self.until.astimezone(UTC)}

    def with_before(self) -> Span:
        """Return it together with as long a time before it."""
        return Span(since=self.since - (self.until - self.since), until=self.until)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Scheduled exchanges that count, by outcome."""

    good: int = 0
    bad: int = 0
    errors: int = 0
    invalid: int = 0

    @property
    def valid(self) -> int:
        """Those that say something of the answers."""
        return self.good + self.bad

    @property
    def asked(self) -> int:
        """All of them."""
        return self.valid + self.errors + self.invalid

    def plus(self, other: Tally) -> Tally:
        """Return the sum."""
        return Tally(
            good=self.good + other.good,
            bad=self.bad + other.bad,
            errors=self.errors + other.errors,
            invalid=self.invalid + other.invalid,
        )


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


@dataclass(frozen=True, slots=True, kw_only=True)
class PageStory:
    """When a finding's page and ticket were first taken by a receiver, and acknowledged there."""

    paged_at: datetime | None
    ticketed_at: datetime | None
    acknowledged_at: datetime | None
    routes: tuple[str, ...]


class WeekReader(Reader):
    """Reads what happened in a span of time."""

    def panel(self, name: str, span: Span) -> list[Row]:
        """Return the rows of a named question, by day."""
        return panel_rows(self._client, name, Step.DAY, parameters(span.since, span.until))

    def tallies(
        self, span: Span, by: Sequence[str], step: Step = Step.DAY
    ) -> dict[tuple[str, ...], Tally]:
        """Return tallies by these columns of ours; ``at`` is the day or the hour as text."""
        named = ", ".join("toString(at)" if name == "at" else name for name in by)
        every = "hourly" if step is Step.HOUR else "daily"
        rows = self._client.query(
            f"SELECT {named}, {_OUTCOMES} FROM exchange_verdicts_{every} "  # noqa: S608 - ours
            f"WHERE {within('at')} AND scheduled AND counted AND source != 'rescore' "
            f"GROUP BY {', '.join(by)} ORDER BY {', '.join(by)}",
            span.bound(),
        )
        return {tuple(map(str, row[: len(by)])): _tally(row[len(by) :]) for row in rows}

    def looked_hours(self, span: Span) -> dict[str, int]:
        """Return in how many hours of each target a scheduled answer was judged."""
        rows = self._client.query(
            "SELECT target, uniqExact(at) FROM verdicts_hourly "  # noqa: S608 - ours
            f"WHERE {within('at')} AND scheduled AND source = 'probe' "
            "AND outcome IN ('good', 'bad') GROUP BY target",
            span.bound(),
        )
        return {str(target): int(hours) for target, hours in rows}

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

    def leaks(self, span: Span) -> list[Row]:
        """Return sightings of registered texts in answers to others, by owner and victim."""
        bound = span.bound() | {"asked_since": span.since.astimezone(UTC) - _LONGEST_TRIAL}
        return self._client.query(LEAKS, bound)

    def rescored(self, span: Span) -> list[Row]:
        """Return what of kept answers was found bad only when they were judged again in a span.

        Columns: target, class, answers, first and last instant.
        """
        return self._client.query(RESCORED, span.bound())

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
            )
        )

    def node_readings(self, span: Span) -> list[Row]:
        """Return what was read of each node in a span, and since when it fails."""
        return self._client.query(NODES, span.bound())

    def changes(self, span: Span) -> list[Row]:
        """Return what of targets, calibrations, checks, models and nodes is new in a span.

        Columns: what, target, at, what it is now, who.
        """
        bound = span.bound() | {"earlier": span.with_before().since.astimezone(UTC)}
        found = [row for sql in CHANGES for row in self._client.query(sql, bound)]
        return sorted(found, key=lambda row: (row[2], row[1], row[0], row[3]))

    def kept_verdicts(self, span: Span) -> dict[str, int]:
        """Return of how many verdicts of each target the rows themselves are still kept."""
        rows = self._client.query(
            f"SELECT target, count() FROM {TABLES[VerdictRow]} FINAL "  # noqa: S608
            f"WHERE {within('decided_at')} AND source != 'rescore' GROUP BY target",
            span.bound(),
        )
        return {str(target): int(number) for target, number in rows}

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

    def scores(self, span: Span) -> dict[tuple[str, str, str], int]:
        """Return how many scheduled verdicts of each stratum could be scored."""
        rows = self._client.query(
            "SELECT target, probe, stratum, sum(number) FROM verdicts_daily "  # noqa: S608
            f"WHERE {within('at')} AND scheduled AND source = 'probe' "
            "AND outcome IN ('good', 'bad') GROUP BY target, probe, stratum",
            span.bound(),
        )
        return {(str(t), str(p), str(s)): int(number) for t, p, s, number in rows}


def day_of(text: str) -> date:
    """Return the day that a tally's ``at`` names."""
    return date.fromisoformat(text[:10])


def _tally(numbers: Row) -> Tally:
    good, bad, errors, invalid = (int(number) for number in numbers)
    return Tally(good=good, bad=bad, errors=errors, invalid=invalid)


def _utc(value: Any) -> datetime:
    found: datetime = value
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def _maybe(value: Any) -> datetime | None:
    return None if value is None else _utc(value)
