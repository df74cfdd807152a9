"""The report, computed: every question to the store, in one place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from monitor import __version__
from monitor.store.week_reader import Span, Tally, WeekReader
from monitor.weekly import unseen
from monitor.weekly.coverage import map_of, strata_of
from monitor.weekly.findings import findings_of, leaks_of
from monitor.weekly.inputs import Asked, Place
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
    FindingRow,
    Judgement,
    StratumRow,
    TargetRow,
    TrendRow,
    UnseenRow,
    WeeklyReport,
)
from monitor.weekly.serving import context_of, nodes_of
from monitor.weekly.streams import drift_of, streams_of
from monitor.weekly.targets import days_of, target_row, trends_of
from monitor.weekly.text import harmless

R = TypeVar("R", TrendRow, FindingRow, CellRow, StratumRow)


def compute(reader: WeekReader, asked: Asked) -> WeeklyReport:
    """Return the report of a week. Raises ``StoreError`` if the store gives no answer."""
    week = asked.week
    span = Span(since=week.since, until=week.until)
    by_place = _by_place(reader, span)
    names = sorted({target.name for target in asked.targets} | set(by_place))
    strata = tuple(
        row for name in names for row in strata_of(asked.known(name), name, by_place.get(name, {}))
    )
    coverage = _maps(strata)
    findings = findings_of(reader, span)
    trend, days = trends_of(reader, week, names), days_of(reader, week, names)
    targets = _targets(asked, names, trend, findings, coverage)
    streams, refused = streams_of(reader, names, reader.scores(span))
    context, nodes = context_of(reader, asked, span), nodes_of(reader, asked, span)
    unjudged = unjudged_of(reader, span, names)
    not_looked_at: tuple[UnseenRow, ...] = (
        *unseen.unseen_times(days, reader.looked_hours(span), asked.probed),
        *unseen.unseen_rows(unjudged, reader.kept_verdicts(span)),
        *unseen.unseen_shapes(findings),
        *unseen.unseen_strata(strata),
        *(row for target in asked.targets for row in unseen.unplanned(target)),
        *unseen.unseen_cells(coverage),
        *unseen.unreadable(refused),
        *unseen.unseen_sources(asked, context, nodes),
    )
    report = WeeklyReport(
        davylamp_version=__version__,
        environment=asked.environment,
        week=week.label,
        since=span.since,
        until=span.until,
        has_data=any(row.good + row.bad + row.errors + row.invalid for row in strata),
        judgement=_worst([row.judgement for row in targets]),
        chain=chain_of(reader, span),
        not_looked_at=not_looked_at,
        targets=targets,
        trend=trend,
        days=days,
        findings=findings,
        leaks=leaks_of(reader, span),
        objectives=objectives_of(reader, asked),
        coverage=coverage,
        strata=strata,
        streams=streams,
        drift=drift_of(reader, span),
        context=context,
        nodes=nodes,
        drill=drill_of(asked.drill),
        http=http_of(reader, span),
        unjudged=unjudged,
        noisiest_checks=checks_of(reader, span),
        costs=costs_of(reader, span),
        accepted=accepted_of(asked),
        changes=changes_of(reader, span),
        decisions=decisions_of(reader, span),
        methods=METHODS,
    )
    return harmless(report)


def _targets(
    asked: Asked,
    names: Sequence[str],
    trend: Sequence[TrendRow],
    findings: Sequence[FindingRow],
    cells: Sequence[CellRow],
) -> tuple[TargetRow, ...]:
    weeks, found, own = _by_target(trend), _by_target(findings), _by_target(cells)
    return tuple(
        target_row(name, asked.known(name), weeks[name], found.get(name, []), own.get(name, []))
        for name in names
    )


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


def _maps(strata: Sequence[StratumRow]) -> tuple[CellRow, ...]:
    return tuple(cell for rows in _by_target(strata).values() for cell in map_of(rows))


def _worst(judgements: Sequence[Judgement]) -> Judgement:
    """Return the worst judgement; of no target nothing could be told."""
    order = list(Judgement)
    return min(judgements, key=order.index, default=Judgement.UNSURE)
