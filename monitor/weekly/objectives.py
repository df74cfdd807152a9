"""Objectives: whether each was met over its window, with intervals and what is left of the budget.

The bounds are those of a confidence sequence, which hold however often somebody looks: an
objective is looked at all the time.
"""

from __future__ import annotations

from collections.abc import Iterator

from monitor.detect.sequence import confidence_sequence
from monitor.slo.objective import Objective, Sli
from monitor.store.week_reader import WeekReader
from monitor.weekly.events import TOLD_HERE, Counts, Events, events_of, span_of
from monitor.weekly.inputs import Asked, KnownTarget
from monitor.weekly.record import Attainment, ObjectiveRow, UnseenRow

_LEAST_VALID_SHARE = 0.5


def objectives_of(
    reader: WeekReader, asked: Asked
) -> tuple[tuple[ObjectiveRow, ...], tuple[UnseenRow, ...]]:
    """Return every objective that is told here, of every configured target it is about.

    Beside them, those that are about nothing that was asked.
    """
    counts = Counts(reader=reader)
    told = [
        each
        for objective in asked.objectives
        if objective.sli in TOLD_HERE
        for each in _told(counts, asked, objective)
    ]
    rows = [each for each in told if isinstance(each, ObjectiveRow)]
    rows.sort(key=lambda row: (row.target, row.objective, row.probe))
    return tuple(rows), tuple(each for each in told if isinstance(each, UnseenRow))


def _told(counts: Counts, asked: Asked, objective: Objective) -> Iterator[ObjectiveRow | UnseenRow]:
    found, nothing = events_of(counts, asked, objective)
    for target in asked.targets:
        if objective.target not in ("", target.name):
            continue
        for probe in _probes(objective, target):
            events = found.get((target.name, probe), nothing)
            if events.there:
                yield _row(asked, objective, (target.name, probe), events)
            else:
                where = f"{objective.name} {probe}".strip()
                why = "nothing that was asked of it in the objective's window was streamed"
                yield UnseenRow(target=target.name, what="objective", where=where, why=why)


def _probes(objective: Objective, target: KnownTarget) -> list[str]:
    """Return the probes that an objective has a row for; one without a name is all of them."""
    if objective.sli is Sli.NODES:
        return [""] if target.reads_nodes else []
    if not target.asked:
        return []
    # Sizes are those of a target, whichever probes ask them.
    if not objective.by_probe or objective.sli is Sli.COVERAGE:
        return [""]
    named = {place.probe for place in target.planned}
    return sorted(named & set(objective.probes) if objective.probes else named)


def _row(asked: Asked, objective: Objective, of: tuple[str, str], events: Events) -> ObjectiveRow:
    rate = events.bad / events.valid if events.valid else 0.0
    low, high = _bounds(objective, events)
    least = 1 if objective.sli is Sli.COVERAGE else objective.least_valid
    known = events.valid >= least and events.valid >= _LEAST_VALID_SHARE * events.asked
    left = [1 - each / objective.room for each in (rate, low, high)]
    return ObjectiveRow(
        target=of[0],
        probe=of[1],
        objective=objective.name,
        sli=objective.sli.value,
        objective_ratio=objective.ratio,
        since=span_of(asked.week, objective).since,
        bad=events.bad,
        valid=events.valid,
        asked=events.asked,
        least_valid=least,
        attainment=_attainment(objective, known, (low, high)),
        attained_ratio=1 - rate if known else None,
        attained_at_least=1 - high,
        attained_at_most=1 - low,
        budget_left=left[0] if known else None,
        budget_left_low=left[2],
        budget_left_high=left[1],
        counted=events.counted,
    )


def _bounds(objective: Objective, events: Events) -> tuple[float, float]:
    """Return the bounds of the share of bad events. What is counted whole is what it is."""
    if objective.sli is Sli.COVERAGE and events.valid:
        return events.bad / events.valid, events.bad / events.valid
    return confidence_sequence(events.bad, events.valid)


def _attainment(objective: Objective, known: bool, bounds: tuple[float, float]) -> Attainment:
    low, high = bounds
    if low > objective.room:
        return Attainment.MISSED
    if not known:
        return Attainment.UNKNOWN
    if high <= objective.room:
        return Attainment.MET
    return Attainment.NOT_SHOWN
