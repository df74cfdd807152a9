"""Whether the draft of speculative decoding is still believed as it was. Pure.

A draft model that is hardly believed any more, or always, was the anomaly that showed corrupted KV
before answers did. Two questions, each with its own evidence (``detect.watch``):

*Out of band.* A vendor's rule for one answer: fewer than 1.4 tokens a step after more than 128
generated tokens (garbled: draft and target disagree), or more than 96 % of the draft taken (loops).
A node tells an average, and a healthy one may leave the band now and then: each reading with
enough tokens is one score, and ``OUT_OF_BAND`` of them may be out.

*Slow decay.* Acceptance follows what is asked, so hours are held against like hours: the mean of
each quarter of a day is one score, 1 if it is a fifth or more below the lower of the same quarters
of the first two days. ``LOW_QUARTERS`` of them may be. Simulated, 100 nodes for a month each whose
acceptance wanders by 6 % over hours and swings by 8 % with the day: no alarm (docs/decisions/0054);
a decay by 30 % within three days is told on its third or fourth day.

Both are watched by the mixture e-SR detector, whose threshold is so high that all nodes together
raise one false alarm in ``FALSE_ALARM_DAYS`` days of each kind, if the next score exceeds its rate
only by chance. Traffic that changes for good changes acceptance too: then the alarm is right, and
harmless.

That chance is a condition: each score is taken to leave the band, or to be low, by itself. What is
asked keeps acceptance where it is for minutes and hours, so a node whose healthy acceptance lies
near the edge of the band leaves it in many readings in a row, and is then a false alarm more often.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import fmean

from monitor.conventions.nodes import LiveKind, LiveState
from monitor.detect.thresholds import LARGEST
from monitor.detect.watch import Thresholds, Watch, begin, limited, step
from monitor.nodes.live_growth import Growth
from monitor.nodes.live_signal import LiveSignal
from monitor.nodes.record import NodeCounter, NodeSnapshot

LOWEST_LENGTH, HIGHEST_RATIO = 1.4, 0.96
LEAST_GENERATED = 128
# The share of readings that a healthy node may be out of the band.
OUT_OF_BAND = 0.05
FALSE_ALARM_DAYS = 90
QUARTERS_A_DAY = 4
REFERENCE_DAYS = 2
LOW_QUARTERS = 0.05
SMALLEST_DROP = 0.2
# So many readings make a mean of a quarter of a day.
LEAST_READINGS = 12
_DAY_SECONDS = 86_400
_STALE = timedelta(hours=1)
# Where the measure that was followed is gone for so long, the other one is followed instead.
_OTHER_MEASURE = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """Where acceptance of a healthy node lies: at least so many tokens a step, at most that share.

    Nothing is below 0 or above 1.
    """

    lowest_length: float = LOWEST_LENGTH
    highest_ratio: float = HIGHEST_RATIO


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How many nodes are watched together, and how often each is read in a day."""

    nodes: int
    readings_a_day: float

    @property
    def band_threshold(self) -> float:
        """The evidence at which acceptance is out of band."""
        return _threshold(self.nodes * self.readings_a_day)

    @property
    def decay_threshold(self) -> float:
        """The evidence at which acceptance has decayed."""
        return _threshold(self.nodes * min(QUARTERS_A_DAY, self.readings_a_day))


class AcceptanceWatch:
    """The acceptance of one node, over successive readings."""

    def __init__(self, band: Band, pace: Pace) -> None:
        self._band = band
        self._out = begin(OUT_OF_BAND, Thresholds(ticket=pace.band_threshold))
        self._decay = _Decay(pace)
        self._generated = 0.0
        self._last: datetime | None = None
        self._is_out = False
        self._value: float | None = None

    def take(
        self,
        snapshot: NodeSnapshot,
        grown: Growth | None,
        pace: Pace,
    ) -> Iterator[LiveSignal]:
        """Take a reading and what its counters ``grown`` by; yield nothing without speculation."""
        self._out = _paced(self._out, pace.band_threshold)
        self._decay.follow(pace)
        if grown is not None:
            self._generated += grown.by.get(NodeCounter.GENERATED_TOKENS, 0.0)
            length, ratio = snapshot.live.accept_length, _ratio(snapshot, grown.by)
            if self._generated >= LEAST_GENERATED and (length is not None or ratio is not None):
                self._generated = 0.0
                self._score(snapshot, length, ratio)
        if self._last is None and not _speculates(snapshot):
            return
        fresh = self._last is not None and snapshot.read_at - self._last <= _STALE
        yield self._band_signal(snapshot, fresh=fresh)
        yield self._decay.signal(snapshot, fresh=fresh)

    def _score(self, snapshot: NodeSnapshot, length: float | None, ratio: float | None) -> None:
        low = length is not None and length < self._band.lowest_length
        high = ratio is not None and ratio > self._band.highest_ratio
        self._is_out = low or high
        self._out = step(self._out, int(self._is_out), OUT_OF_BAND)
        self._last, self._value = snapshot.read_at, length if length is not None else ratio
        measure = "length" if length is not None else "ratio"
        self._decay.add(snapshot, self._value or 0.0, measure)

    def _band_signal(self, snapshot: NodeSnapshot, *, fresh: bool) -> LiveSignal:
        state, why = LiveState.UNKNOWN, "too few tokens were generated to tell"
        if self._out.alarm is not None:
            alarm = self._out.alarm.alarm
            state = LiveState.FAIL
            why = (
                f"{alarm.bad:g} of {alarm.since} readings out of the band of acceptance; "
                f"{OUT_OF_BAND:.0%} may be"
            )
        elif fresh and self._is_out:
            why = "acceptance was out of its band just now, too seldom so far to tell"
        elif fresh:
            state, why = LiveState.PASS, "acceptance is within its band"
        return _signal(snapshot, LiveKind.ACCEPTANCE_OUT_OF_BAND, state, why, self._value)


class _Decay:
    """Whether acceptance is lower than it was at the same hours when it was first seen."""

    def __init__(self, pace: Pace) -> None:
        self._watch = begin(LOW_QUARTERS, Thresholds(ticket=pace.decay_threshold))
        self._models: tuple[str, ...] = ()
        self._version = ""
        self._measure = ""
        self._at: datetime | None = None
        self._first: dict[int, list[float]] = {}
        self._quarter: int | None = None
        self._values: list[float] = []

    def follow(self, pace: Pace) -> None:
        """Take the number of nodes and readings from now on."""
        self._watch = _paced(self._watch, pace.decay_threshold)

    def add(self, snapshot: NodeSnapshot, value: float, measure: str) -> None:
        """Take a value. Of another model or version, or by another measure, all begins anew.

        What a reading does not tell of these is as it was. A measure that is left out for less
        than a day is waited for.
        """
        at = snapshot.read_at
        waits = self._at is not None and at - self._at <= _OTHER_MEASURE
        if self._measure and measure != self._measure and waits:
            return
        self._about(snapshot, measure)
        self._at = at
        quarter = int(at.timestamp() // (_DAY_SECONDS // QUARTERS_A_DAY))
        if self._quarter is not None and quarter != self._quarter:
            if len(self._values) >= LEAST_READINGS:
                self._take(self._quarter % QUARTERS_A_DAY, fmean(self._values))
            self._values = []
        self._quarter = quarter
        self._values.append(value)

    def _about(self, snapshot: NodeSnapshot, measure: str) -> None:
        before = (self._models, self._version, self._measure)
        self._models = tuple(sorted(snapshot.facts.models)) or self._models
        self._version = snapshot.facts.version or self._version
        self._measure = measure
        now = (self._models, self._version, self._measure)
        if any(was and is_now != was for was, is_now in zip(before, now, strict=True)):
            self._watch = begin(LOW_QUARTERS, self._watch.thresholds)
            self._first, self._quarter, self._values = {}, None, []

    def _take(self, place: int, mean: float) -> None:
        first = self._first.setdefault(place, [])
        if len(first) < REFERENCE_DAYS:
            first.append(mean)
            return
        low = mean <= (1 - SMALLEST_DROP) * min(first)
        self._watch = step(self._watch, int(low), LOW_QUARTERS)

    def signal(self, snapshot: NodeSnapshot, *, fresh: bool) -> LiveSignal:
        """Return how it stands."""
        known = sum(len(each) for each in self._first.values())
        needed = REFERENCE_DAYS * QUARTERS_A_DAY
        state, why = LiveState.UNKNOWN, f"{known} of {needed} quarters of a day to compare with"
        value = fmean(self._values) if self._values else None
        if self._watch.alarm is not None:
            alarm = self._watch.alarm.alarm
            state = LiveState.FAIL
            why = (
                f"acceptance was a fifth lower than at first in {alarm.bad:g} of {alarm.since} "
                f"quarters of a day; {LOW_QUARTERS:.0%} may be"
            )
        elif self._watch.scored and fresh:
            state, why = LiveState.PASS, "acceptance is what it was at first"
        elif self._watch.scored:
            why = "too few tokens were generated to tell"
        return _signal(snapshot, LiveKind.ACCEPTANCE_DECAYS, state, why, value)


def _signal(
    snapshot: NodeSnapshot, kind: LiveKind, state: LiveState, why: str, value: float | None
) -> LiveSignal:
    return LiveSignal(
        target=snapshot.target, node=snapshot.node, kind=kind, state=state, why=why, value=value
    )


def _speculates(snapshot: NodeSnapshot) -> bool:
    return (
        snapshot.live.accept_length is not None
        or snapshot.live.accept_ratio is not None
        or NodeCounter.DRAFTED in snapshot.live.counters
    )


def _ratio(snapshot: NodeSnapshot, grown: Mapping[NodeCounter, float]) -> float | None:
    """Return the share of the draft that was taken since the last reading, else what is stated."""
    drafted, accepted = grown.get(NodeCounter.DRAFTED), grown.get(NodeCounter.ACCEPTED)
    if drafted and accepted is not None and drafted >= LEAST_GENERATED:
        return accepted / drafted
    return snapshot.live.accept_ratio


def _threshold(scores_a_day: float) -> float:
    return min(max(1.0, FALSE_ALARM_DAYS * scores_a_day), LARGEST)


def _paced(watch: Watch, threshold: float) -> Watch:
    if watch.thresholds.ticket == threshold:
        return watch
    return limited(watch, Thresholds(ticket=threshold))
