"""The events of objectives as the store has them: how many were bad, valid, and asked at all.

They are counted as the PromQL of ``monitor.slo.indicators`` counts them. Where the store cannot,
``Events.counted`` says how it differs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from monitor.slo.objective import Objective, Sli
from monitor.slo.objective_rules import COVERAGE_DAYS
from monitor.slo.windows import DAY
from monitor.store.panels import Step
from monitor.store.week_reader import Span, Tally, Timed, WeekReader
from monitor.weekly.coverage import is_harsh, length_order, size_of, sizes_of
from monitor.weekly.inputs import Asked, KnownTarget
from monitor.weekly.week import Week

_MOST_NAMED = 10
# By target and probe; an objective over all probes of a target has none.
Key = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """What happened in the window of an objective, and what was ``counted``, in words.

    ``there`` is false where the objective is about nothing that was asked.
    """

    bad: int = 0
    valid: int = 0
    asked: int = 0
    counted: str = ""
    there: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Asks the store for what objectives count, once for all that count the same."""

    reader: WeekReader
    _known: dict[tuple[Span, Step], Mapping[Key, Tally]] = field(default_factory=dict)

    def tallies(self, span: Span, step: Step) -> Mapping[Key, Tally]:
        """Return tallies of scheduled exchanges by target and probe."""
        if (span, step) not in self._known:
            found = self.reader.tallies(span, ("target", "probe"), step)
            self._known[span, step] = {
                (target, probe): tally for (target, probe), tally in found.items()
            }
        return self._known[span, step]


def span_of(week: Week, objective: Objective) -> Span:
    """Return the window of an objective up to a week's end."""
    seconds = COVERAGE_DAYS * DAY if objective.sli is Sli.COVERAGE else objective.window_seconds
    return Span(since=week.until - timedelta(seconds=seconds), until=week.until)


def events_of(
    counts: Counts, asked: Asked, objective: Objective
) -> tuple[Mapping[Key, Events], Events]:
    """Return the events of an objective, and those of whom it has none."""
    return _EVENTS[objective.sli](counts, asked, objective)


def _exchanges(
    counts: Counts, asked: Asked, objective: Objective
) -> tuple[Mapping[Key, Events], Events]:
    span = span_of(asked.week, objective)
    found: dict[Key, Tally] = {}
    for key, tally in counts.tallies(span, _step(objective)).items():
        if (of := _key(objective, key[0], key[1])) is not None:
            found[of] = found.get(of, Tally()).plus(tally)
    return {key: _of_tally(objective, tally) for key, tally in found.items()}, _of_tally(
        objective, Tally()
    )


def _of_tally(objective: Objective, tally: Tally) -> Events:
    if objective.sli is Sli.AVAILABILITY:
        return Events(
            bad=tally.errors,
            valid=tally.valid + tally.errors,
            asked=tally.asked,
            counted="scheduled exchanges; errors are bad",
        )
    counted = "scheduled exchanges that were judged"
    return Events(bad=tally.bad, valid=tally.valid, asked=tally.asked, counted=counted)


def _timed(
    counts: Counts, asked: Asked, objective: Objective
) -> tuple[Mapping[Key, Events], Events]:
    span, within = span_of(asked.week, objective), objective.within_seconds or 0.0
    first_token = objective.sli is Sli.FIRST_TOKEN
    found: dict[Key, Timed] = {}
    times = counts.reader.timed(span, within, _step(objective), first_token=first_token)
    for (target, probe), timed in times.items():
        if (of := _key(objective, target, probe)) is not None:
            found[of] = found.get(of, Timed()).plus(timed)
    return {key: _of_timed(objective, timed) for key, timed in found.items()}, _of_timed(
        objective, Timed()
    )


def _of_timed(objective: Objective, timed: Timed) -> Events:
    within = f"{objective.within_seconds:g} s"
    counted = f"exchanges of probes, by when they began; over {within} is bad"
    if objective.sli is Sli.FIRST_TOKEN:
        counted = f"first tokens of streamed exchanges, by when those began; over {within} is bad"
    if timed.not_kept:
        counted += f"; the times of up to {timed.not_kept:,} are not kept"
    return Events(
        bad=timed.slow,
        valid=timed.timed,
        asked=timed.timed + timed.not_kept,
        counted=counted,
        # A target that cannot stream has no first tokens.
        there=bool(objective.sli is Sli.LATENCY or timed.streamed or not timed.kept),
    )


def _nodes(
    counts: Counts, asked: Asked, objective: Objective
) -> tuple[Mapping[Key, Events], Events]:
    counted = "stored readings of nodes; Prometheus counts scrapes"
    readings_of = counts.reader.node_counts(span_of(asked.week, objective))
    return {
        (target, ""): Events(bad=failed, valid=failed + well, asked=readings, counted=counted)
        for target, (readings, failed, well) in readings_of.items()
    }, Events(counted=counted)


def _sizes(
    counts: Counts, asked: Asked, objective: Objective
) -> tuple[Mapping[Key, Events], Events]:
    span = span_of(asked.week, objective)
    judged = counts.reader.judged_strata(span)
    scheduled: dict[str, set[str]] = {}
    for (name, stratum), tally in counts.reader.tallies(span, ("target", "stratum")).items():
        if tally.valid:
            scheduled.setdefault(name, set()).add(size_of(stratum))
    return {
        (target.name, ""): _covered(
            target,
            {size_of(stratum) for stratum in judged.get(target.name, set())},
            scheduled.get(target.name, set()),
        )
        for target in asked.targets
    }, Events()


def _covered(target: KnownTarget, looked: set[str], scheduled: set[str]) -> Events:
    """Return which sizes of a target were not judged, of those that are known at all."""
    known = sizes_of(target)
    sizes = known.keys() | looked
    missing = sorted(sizes - looked, key=length_order)
    besides = sorted(looked - scheduled, key=length_order)
    said = [f"prompt sizes by the plan of now, not judged in {COVERAGE_DAYS} days is bad"]
    if missing:
        said.append(f"not judged: {_named([_why_not(size, known[size]) for size in missing])}")
    if besides:
        said.append(f"judged by none of the exchanges that are counted: {_named(besides)}")
    return Events(bad=len(missing), valid=len(sizes), asked=len(sizes), counted="; ".join(said))


def _why_not(size: str, codes: frozenset[str]) -> str:
    if is_harsh(codes):
        return f"{size} (left out as not gentle: gentle: false would ask it)"
    left_out = sorted(codes - {""})
    return f"{size} (left out: {', '.join(left_out)})" if left_out == sorted(codes) else size


def _named(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _key(objective: Objective, target: str, probe: str) -> Key | None:
    if objective.probes and probe not in objective.probes:
        return None
    return target, probe if objective.by_probe else ""


def _step(objective: Objective) -> Step:
    return Step.DAY if objective.window_seconds % DAY == 0 else Step.HOUR


_Source = Callable[[Counts, Asked, Objective], tuple[Mapping[Key, Events], Events]]
_EVENTS: Mapping[Sli, _Source] = {
    Sli.SEMANTIC: _exchanges,
    Sli.AVAILABILITY: _exchanges,
    Sli.LATENCY: _timed,
    Sli.FIRST_TOKEN: _timed,
    Sli.NODES: _nodes,
    Sli.COVERAGE: _sizes,
}
# Requests of users are counted by Prometheus alone, from what only it keeps.
TOLD_HERE = frozenset(_EVENTS)
