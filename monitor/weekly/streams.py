"""The detectors of streams: what each would surely have seen in a week, and what moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from math import ceil, floor, log10

from monitor.checks import CHECKS_VERSION
from monitor.detect.power import least_detectable
from monitor.model import Lane
from monitor.store.rows import DetectorStateRow
from monitor.store.week_reader import Span, WeekReader
from monitor.watching import Standing
from monitor.watching.kept import read
from monitor.weekly.inputs import Gap
from monitor.weekly.running_record import DriftRow, StreamRow

# Their detector looks at how failures lie in time, not at how many there are.
_NOT_BY_RATE = frozenset({Lane.TREND})
# Lanes whose every scheduled verdict is a score.
_OF_VERDICTS = frozenset({Lane.HARD, Lane.TOLERATED})
# Target, probe and stratum.
_Place = tuple[str, str, str]
_Scores = Mapping[_Place, int]
_BEFORE_ALL = datetime(2000, 1, 1, tzinfo=UTC)


def streams_of(
    reader: WeekReader, names: Sequence[str], span: Span
) -> tuple[tuple[StreamRow, ...], tuple[tuple[str, Gap], ...]]:
    """Return the streams of these targets, and by target those whose state cannot be read.

    Those that had no score before the end of the span are none of it.
    """
    standings, refused = read(reader.detector_states(names), CHECKS_VERSION)
    scores = reader.scores(span)
    rows = [_stream(each, scores) for each in _begun(reader, standings, scores, span)]
    rows.sort(key=lambda row: (row.target, row.lane, row.probe, row.stratum))
    return tuple(rows), tuple((each.row.target, _gap(each.row)) for each in refused)


def _begun(
    reader: WeekReader, standings: Sequence[Standing], scores: _Scores, span: Span
) -> list[Standing]:
    """Return the streams that were begun before the end of a span."""
    places = _places(scores)
    if any(_is_later(each, places, span) for each in standings):
        # Only now, since it looks at all that was ever judged.
        places |= _places(reader.scores(Span(since=_BEFORE_ALL, until=span.until)))
    return [each for each in standings if not _is_later(each, places, span)]


def _is_later(standing: Standing, places: set[_Place], span: Span) -> bool:
    key = standing.key
    if standing.changed_at is None or standing.changed_at < span.until or key.lane is Lane.JUDGE:
        # What a judge is asked is no verdict: of it only the last change is known.
        return False
    return (key.target, key.probe, key.stratum) not in places


def _places(scores: _Scores) -> set[_Place]:
    """Return where scores were, by stratum and, as pooled lanes have them, by probe and target."""
    found = set(scores)
    for target, probe, _ in scores:
        found |= {(target, probe, ""), (target, "", "")}
    return found


def _gap(row: DetectorStateRow) -> Gap:
    return Gap(
        probe=row.probe,
        stratum=row.stratum,
        code="unreadable",
        reason=f"the state of its detector {row.detector} cannot be read: its evidence is not told",
        tokens=None,
    )


def _stream(standing: Standing, scores: _Scores) -> StreamRow:
    key, watch = standing.key, standing.watch
    limits = [each for each in (watch.thresholds.ticket, watch.thresholds.page) if each is not None]
    threshold = min(limits, default=None)
    by_verdicts = key.lane in _OF_VERDICTS
    in_week = scores.get((key.target, key.probe, key.stratum), 0) if by_verdicts else 0
    return StreamRow(
        target=key.target,
        lane=key.lane.value,
        probe=key.probe,
        stratum=key.stratum,
        tolerated_ratio=watch.y0,
        threshold=threshold,
        evidence=watch.value,
        scored=watch.scored,
        scored_in_week=in_week,
        alarms_at_least=None
        if threshold is None or not in_week or key.lane in _NOT_BY_RATE
        else least_alarming(watch.y0, threshold, in_week),
        alarmed_at=standing.alarmed_at,
        onset_at=standing.onset_at,
    )


def least_alarming(y0: float, threshold: float, scores: int) -> float | None:
    """Return a failure rate that surely alarms within so many scores with 95 %.

    It is the least for a threshold a little higher and a few scores less, both in two digits: a
    fleet has thousands of streams, but few kinds of them, and each kind takes milliseconds.
    """
    return _least(y0, _digits(threshold, ceil), int(_digits(scores, floor)))


def _digits(number: float, cut: Callable[[float], int]) -> float:
    unit = 10.0 ** max(0, floor(log10(number)) - 1)
    return cut(number / unit) * unit


@lru_cache(maxsize=4096)
def _least(y0: float, threshold: float, scores: int) -> float | None:
    return least_detectable(y0, threshold, scores)


def drift_of(reader: WeekReader, span: Span) -> tuple[DriftRow, ...]:
    """Return the verdicts of detectors in a span."""
    return tuple(
        DriftRow(
            target=str(target),
            lane=str(lane),
            probe=str(probe),
            stratum=str(stratum),
            at=at,
            finding=str(finding),
            said=str(said),
        )
        for target, lane, probe, stratum, at, finding, said in reader.moves(span)
    )
