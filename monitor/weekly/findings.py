"""The findings of the week with the instants that matter, and whose text was seen where."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

from monitor.findings import FindingState
from monitor.model import VerdictClass
from monitor.store.client import Row
from monitor.store.week_reader import (
    Drain,
    FindingStory,
    FindingTurn,
    PageStory,
    Span,
    WeekReader,
)
from monitor.weekly.record import FindingRow, LeakRow
from monitor.weekly.running_record import RescoredRow, WithoutFindingRow

_NOT_PAGED = PageStory(paged_at=None, ticketed_at=None, acknowledged_at=None, routes=())


def findings_of(reader: WeekReader, span: Span) -> tuple[FindingRow, ...]:
    """Return the findings that were open in a span, oldest first."""
    stories = reader.finding_stories(span)
    ids = [story.id for story in stories]
    pages, drains = reader.page_stories(ids, span.until), reader.drains(ids, span.until)
    turns = reader.turns(ids, span.until)
    return tuple(
        _row(
            story,
            pages.get(story.id, _NOT_PAGED),
            drains.get(story.id, ()),
            turns.get(story.id, ()),
            span,
        )
        for story in stories
    )


def _row(
    story: FindingStory,
    pages: PageStory,
    drains: Sequence[Drain],
    turns: Sequence[FindingTurn],
    span: Span,
) -> FindingRow:
    drained = [each for each in drains if not each.is_withdrawn]
    first_out = drained[0].out_at if drained else None
    said = [at for at in (story.acknowledged_at, pages.acknowledged_at) if at is not None]
    return FindingRow(
        finding=story.id,
        target=story.target,
        finding_class=story.verdict_class,
        shape=story.shape,
        stratum=story.stratum,
        further_strata=story.children,
        state=story.state,
        verdicts=story.count,
        reproduced=story.reproduced,
        reopened=sum(b.is_open and not a.is_open for a, b in pairwise(turns)),
        onset_at=story.first_seen,
        detected_at=story.proven_at,
        ticketed_at=pages.ticketed_at,
        paged_at=pages.paged_at,
        page_route=", ".join(pages.routes),
        acknowledged_at=min(said, default=None),
        acknowledged_by=story.acknowledged_by,
        out_of_rotation_at=story.out_of_rotation_at,
        back_in_rotation_at=story.back_in_rotation_at,
        rotation_by=story.rotation_by,
        closed_at=story.closed_at,
        closed_by=story.closed_by if story.closed_at is not None else "",
        seconds_to_detect=_seconds(story.first_seen, story.proven_at),
        seconds_to_page=_seconds(story.first_seen, pages.paged_at),
        seconds_to_rotation=_seconds(story.first_seen, first_out),
        seconds_to_close=_seconds(story.first_seen, story.closed_at),
        seconds_exposed=_exposed(story, drained, span.until),
        seconds_held=_held(turns, span),
    )


def _held(turns: Sequence[FindingTurn], span: Span) -> float:
    """Return for how much of a span an open LEAK held its shape back."""
    ends = [*(turn.at for turn in turns[1:]), span.until]
    return round(
        sum(
            max(0.0, (end - max(turn.at, span.since)).total_seconds())
            for turn, end in zip(turns, ends, strict=False)
            if turn.is_open and turn.verdict_class == VerdictClass.LEAK.label
        ),
        3,
    )


def _exposed(story: FindingStory, drains: Sequence[Drain], until: datetime) -> float | None:
    """Return how long users could meet a fault: since its onset, less what it was drained.

    Up to its closing, or the week's end. ``None`` if it was dismissed: there was no fault.
    """
    if story.state == FindingState.DISMISSED:
        return None
    end = story.closed_at or until
    seconds, since = 0.0, story.first_seen
    for drain in drains:
        # In order of when each began; what is told twice counts once.
        seconds += max(0.0, (min(drain.out_at, end) - since).total_seconds())
        since = max(since, min(drain.until or end, end))
    return round(seconds + max(0.0, (end - since).total_seconds()), 3)


def _seconds(since: datetime, until: datetime | None) -> float | None:
    return None if until is None else round((until - since).total_seconds(), 3)


def leaks_of(reader: WeekReader, span: Span) -> tuple[LeakRow, ...]:
    """Return sightings in the week of texts that belong to others."""
    return tuple(_leak(row) for row in reader.leaks(span))


def _leak(row: Row) -> LeakRow:
    return LeakRow(
        target=str(row[0]),
        finding=str(row[1]),
        verdict_class=str(row[2]),
        kind=str(row[3]),
        owner_target=str(row[4]),
        owner_tenant=str(row[5]),
        victim_tenant=str(row[6] or ""),
        sightings=int(row[7]),
        answers=int(row[12]),
        markers=int(row[8]),
        evidence_bits=None if row[9] is None else float(row[9]),
        first_at=row[10],
        last_at=row[11],
    )


def rescored_of(reader: WeekReader, span: Span) -> tuple[RescoredRow, ...]:
    """Return kept answers that were found bad, or worse, when judged again in the week."""
    return tuple(
        RescoredRow(
            target=str(target),
            verdict_class=str(verdict_class),
            before=str(before),
            answers=int(answers),
            first_at=first_at,
            last_at=last_at,
        )
        for target, verdict_class, before, answers, first_at, last_at in reader.rescored(span)
    )


def without_finding_of(reader: WeekReader, span: Span) -> tuple[WithoutFindingRow, ...]:
    """Return bad verdicts of the week that no finding tells of."""
    return tuple(
        WithoutFindingRow(
            target=str(target),
            verdict_class=str(verdict_class),
            source=str(source),
            scheduled=bool(scheduled),
            verdicts=int(verdicts),
            first_at=first_at,
            last_at=last_at,
        )
        for target, verdict_class, source, scheduled, verdicts, first_at, last_at in (
            reader.without_finding(span)
        )
    )
