"""Objectives: whether each was met over its window, with intervals and what is left of the budget.

The bounds are those of a confidence sequence, which hold however often somebody looks: an
objective is looked at all the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

from monitor.detect.sequence import confidence_sequence
from monitor.slo.objective import Objective, Sli
from monitor.slo.windows import DAY
from monitor.store.panels import Step
from monitor.store.week_reader import Span, Tally, WeekReader
from monitor.weekly.inputs import Asked, KnownTarget
from monitor.weekly.record import Attainment, ObjectiveRow
from monitor.weekly.week import Week

# The others are worked out by Prometheus alone, from what only it keeps.
TOLD_HERE = frozenset({Sli.SEMANTIC, Sli.AVAILABILITY, Sli.NODES})
_LEAST_VALID_SHARE = 0.5
_Key = tuple[str, str]
_Events = tuple[int, int, int]


def objectives_of(reader: WeekReader, asked: Asked) -> tuple[ObjectiveRow, ...]:
    """Return every objective that is told here, of every configured target it is about."""
    rows = [row for each in asked.objectives for row in _rows(reader, asked, each)]
    return tuple(sorted(rows, key=lambda row: (row.target, row.objective, row.probe)))


def _rows(reader: WeekReader, asked: Asked, objective: Objective) -> Iterator[ObjectiveRow]:
    if objective.sli not in TOLD_HERE:
        return
    span = span_of(asked.week, objective)
    events = _events(reader, objective, span)
    for target in asked.targets:
        if objective.target not in ("", target.name):
            continue
        for probe in _probes(objective, target):
            found = events.get((target.name, probe), (0, 0, 0))
            yield _row(objective, target.name, probe, span, found)


def _probes(objective: Objective, target: KnownTarget) -> list[str]:
    """Return the probes that an objective has a row for; one without a name is all of them."""
    if objective.sli is Sli.NODES:
        return [""] if target.nodes else []
    if not target.asked:
        return []
    if not objective.by_probe:
        return [""]
    named = {place.probe for place in target.planned}
    return sorted(named & set(objective.probes) if objective.probes else named)


def span_of(week: Week, objective: Objective) -> Span:
    """Return the window of an objective up to a week's end."""
    return Span(since=week.until - timedelta(seconds=objective.window_seconds), until=week.until)


def _events(reader: WeekReader, objective: Objective, span: Span) -> Mapping[_Key, _Events]:
    """Return bad, valid and asked events by target and probe."""
    if objective.sli is Sli.NODES:
        return _readings(reader, span)
    step = Step.DAY if objective.window_seconds % DAY == 0 else Step.HOUR
    found: dict[_Key, Tally] = {}
    for (target, probe), tally in reader.tallies(span, ("target", "probe"), step).items():
        if objective.probes and probe not in objective.probes:
            continue
        key = (target, probe if objective.by_probe else "")
        found[key] = found.get(key, Tally()).plus(tally)
    if objective.sli is Sli.AVAILABILITY:
        return {k: (t.errors, t.valid + t.errors, t.asked) for k, t in found.items()}
    return {key: (tally.bad, tally.valid, tally.asked) for key, tally in found.items()}


def _readings(reader: WeekReader, span: Span) -> Mapping[_Key, _Events]:
    found: dict[_Key, _Events] = {}
    for row in reader.node_readings(span):
        target, readings, well, failing = str(row[0]), int(row[6]), int(row[7]), int(row[8])
        bad, valid, asked = found.get((target, ""), (0, 0, 0))
        found[target, ""] = (bad + failing, valid + well + failing, asked + readings)
    return found


def _row(
    objective: Objective, target: str, probe: str, span: Span, events: _Events
) -> ObjectiveRow:
    bad, valid, asked = events
    low, high = confidence_sequence(bad, valid)
    known = valid >= objective.least_valid and valid >= _LEAST_VALID_SHARE * asked
    left = [1 - rate / objective.room for rate in (bad / valid if valid else 0.0, low, high)]
    return ObjectiveRow(
        target=target,
        probe=probe,
        objective=objective.name,
        sli=objective.sli.value,
        objective_ratio=objective.ratio,
        since=span.since,
        bad=bad,
        valid=valid,
        asked=asked,
        least_valid=objective.least_valid,
        attainment=_attainment(objective, known, bad / valid if valid else 1.0, (low, high)),
        attained_ratio=1 - bad / valid if known else None,
        attained_at_least=1 - high,
        attained_at_most=1 - low,
        budget_left=left[0] if known else None,
        budget_left_low=left[2],
        budget_left_high=left[1],
    )


def _attainment(
    objective: Objective,
    known: bool,
    rate: float,
    bounds: tuple[float, float],
) -> Attainment:
    low, high = bounds
    if low > objective.room:
        return Attainment.MISSED
    if not known:
        return Attainment.UNKNOWN
    if high <= objective.room:
        return Attainment.MET
    return Attainment.NOT_SHOWN
