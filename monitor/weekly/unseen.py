"""What nobody looked at. Nothing here is green because nothing was seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from monitor.findings import FindingState
from monitor.slo.objective import Sli
from monitor.weekly.coverage import mostly_unjudged
from monitor.weekly.events import TOLD_HERE
from monitor.weekly.inputs import Asked, Gap, KnownTarget
from monitor.weekly.judging import HOURS, LONGEST_UNKNOWN_HOURS
from monitor.weekly.record import CellRow, CellState, DayRow, FindingRow, StratumRow, UnseenRow
from monitor.weekly.running_record import ContextRow, NodeRow, UnjudgedRow
from monitor.weekly.week import Week

_EVERYWHERE = "all targets"
_CELLS = {
    CellState.NOT_PLANNED: "no plan asks this shape at this length and concurrency",
    CellState.NOT_ANSWERED: "asked, but no answer could be judged",
}
_REPORTED_SHAPE = "scan"
_MOST_NAMED = 10
_HOUR_SECONDS = 3_600.0


def unseen_strata(rows: Iterable[StratumRow]) -> Iterator[UnseenRow]:
    """Yield the strata that were planned and never asked, and those never or hardly judged."""
    for row in rows:
        asked = row.good + row.bad + row.errors + row.invalid
        if asked == 0:
            yield _row(row.target, "stratum", _place(row.probe, row.stratum), "never asked")
        elif row.good + row.bad == 0:
            why = f"asked {asked:,} times, no answer could be judged"
            yield _row(row.target, "stratum", _place(row.probe, row.stratum), why)
        elif mostly_unjudged(row):
            why = f"asked {asked:,} times, only {row.good + row.bad:,} could be judged"
            yield _row(row.target, "stratum", _place(row.probe, row.stratum), why)


def unplanned(target: KnownTarget) -> Iterator[UnseenRow]:
    """Yield what the plan of a target leaves out, with its price."""
    for gap in target.gaps:
        yield _gap_row(target.name, gap)


def unreadable(gaps: Iterable[tuple[str, Gap]]) -> Iterator[UnseenRow]:
    """Yield streams whose evidence could not be read."""
    for target, gap in gaps:
        yield _gap_row(target, gap)


def _gap_row(target: str, gap: Gap) -> UnseenRow:
    return UnseenRow(
        target=target,
        what=f"stratum ({gap.code})",
        where=_place(gap.probe, gap.stratum),
        why=gap.reason,
        tokens=gap.tokens,
    )


def unseen_cells(cells: Iterable[CellRow]) -> Iterator[UnseenRow]:
    """Yield cells of the coverage map that no plan asks, gathered by shape and concurrency."""
    missing: dict[tuple[str, str, str], list[str]] = {}
    for cell in cells:
        if cell.state is CellState.NOT_PLANNED:
            key = (cell.target, cell.shape, cell.concurrency)
            missing.setdefault(key, []).append(cell.length)
    for (target, shape, concurrency), lengths in missing.items():
        where = f"{shape} at {concurrency}: {', '.join(lengths)}"
        yield _row(target, "cells of the map", where, _CELLS[CellState.NOT_PLANNED])


def unseen_times(
    days: Iterable[DayRow], hours: Mapping[str, int], names: Sequence[str]
) -> Iterator[UnseenRow]:
    """Yield the days and hours in which a target was not judged at all."""
    silent: dict[str, list[str]] = {}
    for row in days:
        if row.good + row.bad == 0:
            silent.setdefault(row.target, []).append(row.day.isoformat())
    for name in names:
        without = silent.get(name, [])
        if without:
            yield _row(name, "days", ", ".join(without), "not one scheduled exchange was judged")
        looked = hours.get(name, 0)
        if looked < HOURS:
            where = f"{HOURS - looked} of {HOURS} hours"
            yield _row(name, "hours", where, "not one scheduled exchange was judged")


def rows_gone(row: UnjudgedRow, kept: Mapping[str, int]) -> int:
    """Return of how many verdicts of a target only the sums are left."""
    return max(0, row.verdicts - kept.get(row.target, 0))


def unseen_rows(verdicts: Iterable[UnjudgedRow], kept: Mapping[str, int]) -> Iterator[UnseenRow]:
    """Yield targets of whose verdicts only the sums are left: their rows have expired."""
    for row in verdicts:
        if gone := rows_gone(row, kept):
            where = f"{gone:,} of {row.verdicts:,} verdicts"
            why = (
                "only their sums are kept: leaks, drift, changes and evidence are not told of them"
            )
            yield _row(row.target, "rows", where, why)


def unseen_shapes(findings: Iterable[FindingRow]) -> Iterator[UnseenRow]:
    """Yield shapes that an open leak held back, and for how much of the week."""
    for each in findings:
        if each.shape == _REPORTED_SHAPE or each.seconds_held == 0:
            continue
        where = f"{each.shape}, for {each.seconds_held / _HOUR_SECONDS:.1f} of {HOURS} hours"
        why = f"held back while finding {each.finding} was open: asking would read others' text"
        yield _row(each.target, "shape", where, why)


def untold_rotation(findings: Iterable[FindingRow]) -> Iterator[UnseenRow]:
    """Yield proven findings of which nobody told whether their target left rotation, and when."""
    untold: dict[str, list[str]] = {}
    for each in findings:
        proven = each.detected_at is not None and each.state != FindingState.DISMISSED
        if proven and each.out_of_rotation_at is None:
            untold.setdefault(each.target, []).append(each.finding)
    for target, found in untold.items():
        more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
        why = "nobody told when the target was taken out of rotation, or it was not"
        yield _row(target, "rotation", ", ".join(found[:_MOST_NAMED]) + more, why)


def unseen_nodes(
    asked: Asked, nodes: Sequence[NodeRow], silences: Mapping[str, float]
) -> Iterator[UnseenRow]:
    """Yield targets and listed nodes that were not read, and when nodes could not be told."""
    read, told = {row.target for row in nodes}, {(row.target, row.node) for row in nodes}
    for target in asked.targets:
        if target.name not in read:
            why = "no reading is stored" if target.reads_nodes else "none is configured"
            yield _row(target.name, "nodes", "versions, settings and pools", why)
        for name in target.nodes:
            if (target.name, name) not in told:
                yield _row(target.name, "nodes", f"node {name}", "listed, and never read")
    for name, hours in sorted(silences.items()):
        if hours > LONGEST_UNKNOWN_HOURS:
            why = f"for {hours:.1f} hours at a stretch no reading of any node could tell"
            yield _row(name, "nodes", "all nodes", why)
    for row in nodes:
        if why := "; ".join(_untold(row, asked.week)):
            yield _row(row.target, "nodes", f"node {row.node}", why)


def _untold(row: NodeRow, week: Week) -> Iterator[str]:
    """Yield why a node that was read is not known all the time."""
    if row.unknown or row.longest_unknown_hours > LONGEST_UNKNOWN_HOURS:
        yield f"{row.unknown:,} of {row.readings:,} readings could not tell"
        yield (
            f"none could in {row.hours_unknown} of {HOURS} hours, "
            f"{row.longest_unknown_hours:.1f} in a row"
        )
    hours = (week.until - row.last_at).total_seconds() / _HOUR_SECONDS
    if hours > LONGEST_UNKNOWN_HOURS:
        yield f"not read since {row.last_at:%Y-%m-%d %H:%M} UTC, {hours:.1f} hours before the end"


def unseen_sources(asked: Asked, context: Iterable[ContextRow]) -> Iterator[UnseenRow]:
    """Yield what else was not measured: context, what Prometheus counts alone, the drill."""
    for row in context:
        if not row.in_week:
            when = f"last on {row.measured_at:%Y-%m-%d}" if row.measured_at else "never measured"
            yield _row(row.target, "context", "verified size", f"not measured in the week: {when}")
    others = sorted({each.name for each in asked.objectives if each.sli not in TOLD_HERE})
    if others:
        why = "requests of users are counted by Prometheus alone: see its recorded series"
        yield _row(_EVERYWHERE, "production", ", ".join(others), why)
    if not any(each.sli is Sli.PRODUCTION for each in asked.objectives):
        why = "no objective over what servers and gateways export is configured"
        yield _row(_EVERYWHERE, "production", "status codes and latency of users", why)
    if asked.drill is None:
        why = "not run, or its result was not given: nothing tells what would be caught, or when"
        yield _row(_EVERYWHERE, "drill", "time to detect", why)
    why = "answers to users are not read; what was reported or scanned counts in no rate here"
    yield _row(_EVERYWHERE, "traffic", "answers to users", why)


def _row(target: str, what: str, where: str, why: str) -> UnseenRow:
    return UnseenRow(target=target, what=what, where=where, why=why)


def _place(probe: str, stratum: str) -> str:
    return f"{probe} {stratum}".strip()
