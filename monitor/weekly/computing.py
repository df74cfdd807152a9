"""The report, computed: every question to the store, in one place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from monitor import __version__
from monitor.store.week_reader import Span, Tally, WeekReader
from monitor.weekly import unseen
from monitor.weekly.coverage import map_of, strata_of
from monitor.weekly.findings import findings_of, leaks_of, rescored_of, without_finding_of
from monitor.weekly.inputs import Asked, Place
from monitor.weekly.judging import Seen
from monitor.weekly.methods import METHODS
from monitor.weekly.objectives import objectives_of
from monitor.weekly.operation import (
    accepted_of,
    chain_of,
    changes_of,
    checks_of,
    costs_of,
    decisions_of,
    drill_of,
    http_of,
    unjudged_of,
)
from monitor.weekly.record import (
    CellRow,
    Judgement,
    StratumRow,
    UnseenRow,
    WeeklyReport,
)
from monitor.weekly.serving import context_of, nodes_of
from monitor.weekly.streams import drift_of, streams_of
from monitor.weekly.targets import target_row, times_of
from monitor.weekly.text import harmless


class _OfTarget(Protocol):
    """A row about one target."""

    @property
    def target(self) -> str: ...


R = TypeVar("R", bound=_OfTarget)


def compute(reader: WeekReader, asked: Asked) -> WeeklyReport:
    """Return the report of a week. Raises ``StoreError`` if the store gives no answer."""
    week = asked.week
    span = Span(since=week.since, until=week.until)
    by_place = _by_place(reader, span)
    findings, leaks = findings_of(reader, span), leaks_of(reader, span)
    rescored, nodes = rescored_of(reader, span), nodes_of(reader, asked, span)
    without = without_finding_of(reader, span)
    # Whatever is told of a target: one that is not configured any more has a judgement too.
    told: list[Sequence[_OfTarget]] = [findings, leaks, rescored, without, nodes]
    names = sorted({target.name for target in asked.targets} | set(by_place) | _named(told))
    strata = _strata(asked, names, by_place)
    coverage = _maps(strata)
    trend, days = times_of(reader, week, names)
    streams, refused = streams_of(reader, names, span)
    context, (objectives, uncounted) = context_of(reader, asked, span), objectives_of(reader, asked)
    report = WeeklyReport(
        davylamp_version=__version__,
        environment=asked.environment,
        week=week.label,
        since=span.since,
        until=span.until,
        has_data=any(row.good + row.bad for row in strata),
        judgement=Judgement.UNSURE,
        chain=chain_of(reader, span),
        trend=trend,
        days=days,
        findings=findings,
        leaks=leaks,
        rescored=rescored,
        without_finding=without,
        objectives=objectives,
        coverage=coverage,
        strata=strata,
        streams=streams,
        drift=drift_of(reader, span),
        context=context,
        nodes=nodes,
        drill=drill_of(asked.drill),
        http=http_of(reader, span),
        unjudged=unjudged_of(reader, span, names),
        noisiest_checks=checks_of(reader, span),
        costs=costs_of(reader, span),
        accepted=accepted_of(asked),
        changes=changes_of(reader, span),
        decisions=decisions_of(reader, span),
        methods=METHODS,
    )
    times = _Times(
        hours=reader.looked_hours(span),
        silences=reader.node_silences(span),
        kept=reader.kept_verdicts(span),
    )
    more = (*unseen.unreadable(refused), *uncounted)
    report = replace(report, not_looked_at=_unseen(report, asked, times, more))
    return harmless(_with_targets(report, asked, names, times))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Times:
    """By target: hours with a judged answer, hours without nodes that were told, verdicts kept."""

    hours: Mapping[str, int]
    silences: Mapping[str, float]
    kept: Mapping[str, int]


def _unseen(
    report: WeeklyReport, asked: Asked, times: _Times, more: Sequence[UnseenRow]
) -> tuple[UnseenRow, ...]:
    """Return what was not looked at, by all other tables."""
    return (
        *unseen.unseen_times(report.days, times.hours, asked.probed),
        *unseen.unseen_rows(report.unjudged, times.kept),
        *unseen.unseen_shapes(report.findings),
        *unseen.untold_rotation(report.findings),
        *unseen.unseen_strata(report.strata),
        *(row for target in asked.targets for row in unseen.unplanned(target)),
        *unseen.unseen_cells(report.coverage),
        *more,
        *unseen.unseen_nodes(asked, report.nodes, times.silences),
        *unseen.unseen_sources(asked, report.context),
    )


def _with_targets(
    report: WeeklyReport, asked: Asked, names: Sequence[str], times: _Times
) -> WeeklyReport:
    """Return a report with the judgement of each target, made of all its other tables."""
    trend, cells = _by_target(report.trend), _by_target(report.coverage)
    days, findings = _by_target(report.days), _by_target(report.findings)
    rescored, objectives = _by_target(report.rescored), _by_target(report.objectives)
    nodes, context = _by_target(report.nodes), _by_target(report.context)
    strata, without = _by_target(report.strata), _by_target(report.without_finding)
    verdicts = {row.target: row for row in report.unjudged}
    targets = []
    for name in names:
        seen = Seen(
            known=asked.known(name),
            now=trend[name][-1],
            hours=times.hours.get(name, 0),
            nodes_silent_hours=times.silences.get(name, 0.0),
            verdicts=verdicts[name].verdicts,
            rows_gone=unseen.rows_gone(verdicts[name], times.kept),
            days=days[name],
            findings=findings.get(name, ()),
            rescored=rescored.get(name, ()),
            without_finding=without.get(name, ()),
            objectives=objectives.get(name, ()),
            nodes=nodes.get(name, ()),
            context=context.get(name, ()),
            strata=strata.get(name, ()),
        )
        targets.append(target_row(name, seen, trend[name], cells.get(name, ())))
    worst = _worst([row.judgement for row in targets])
    return replace(report, targets=tuple(targets), judgement=worst)


def _by_target(rows: Iterable[R]) -> dict[str, list[R]]:
    grouped: dict[str, list[R]] = {}
    for row in rows:
        grouped.setdefault(row.target, []).append(row)
    return grouped


def _by_place(reader: WeekReader, span: Span) -> Mapping[str, dict[Place, Tally]]:
    found: dict[str, dict[Place, Tally]] = {}
    by = ("target", "probe", "shape", "stratum")
    for (target, probe, shape, stratum), tally in reader.tallies(span, by).items():
        found.setdefault(target, {})[Place(probe=probe, shape=shape, stratum=stratum)] = tally
    return found


def _named(tables: Iterable[Sequence[_OfTarget]]) -> set[str]:
    return {row.target for rows in tables for row in rows}


def _strata(
    asked: Asked, names: Sequence[str], found: Mapping[str, dict[Place, Tally]]
) -> tuple[StratumRow, ...]:
    return tuple(
        row for name in names for row in strata_of(asked.known(name), name, found.get(name, {}))
    )


def _maps(strata: Sequence[StratumRow]) -> tuple[CellRow, ...]:
    return tuple(cell for rows in _by_target(strata).values() for cell in map_of(rows))


def _worst(judgements: Sequence[Judgement]) -> Judgement:
    """Return the worst judgement; of no target nothing could be told."""
    order = list(Judgement)
    return min(judgements, key=order.index, default=Judgement.UNSURE)
