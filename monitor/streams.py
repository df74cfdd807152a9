"""Streams: what a stream's detector looks at, one 0 or 1 for each valid scheduled exchange.

A verdict speaks of one trial. What moves slowly, or shows only in how often, shows in streams: this
module takes verdicts apart into scores by lane, and makes the verdict of a detector that alarmed.
The detectors are in ``detect``; whoever keeps their state and pages stands above.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from monitor.detect.binomial import upper_bound
from monitor.detect.esr import LARGEST_Y0, Alarm
from monitor.judge import Item, Said
from monitor.model import (
    Exchange,
    ExchangeVerdict,
    FirstTokens,
    Lane,
    Outcome,
    Signal,
    SignalKind,
    Status,
    Trial,
    Verdict,
    VerdictClass,
)
from monitor.sinks import PrometheusSink
from monitor.verdicts import consequence

# Probes whose exchanges all ask about as much of a model, so that their errors may be pooled.
TREND_PROBES = frozenset({"golden", "canary"})
# What may fail a lane that no calibration speaks of. First tokens never seen in 100 samples: 0 to
# 1.2 % a day over 15 clean days of a recorded endpoint.
UNCALIBRATED_Y0 = 0.05
# Of facts only prompts that seem settled are scored, and one whose facts vary by themselves seems
# so by luck: of its scores as many are 1 as vary. Simulated, 60 prompts once a day for 90 days:
# held to 5 %, every target whose facts vary in 10 % alarms; held to 25 %, none does that varies in
# up to 30 %, and a move of everything is told after 10 answers instead of 5.
UNCALIBRATED_FACTS_Y0 = 0.25
# Above the upper bound of what a healthy target did: a service's days differ (GPT-4o by 1.5 points,
# arXiv 2602.15889), and a detector held to the bound itself would call that a move.
MARGIN = 0.02
LEAST_Y0 = 1e-4
# From so many at once on, batches count together as well: each size of them is asked seldom.
MANY_AT_ONCE = 8
_OPINION = "JUDGE"
_FINGERPRINT = "FINGER"


def groups_of_stratum(stratum: str) -> tuple[str, ...]:
    """Return the groups that all answers of a stratum are in, by their names in a calibration."""
    axes = stratum.split("/")
    if len(axes) < 3:  # noqa: PLR2004 - length, concurrency and cache
        return ()
    at_once = axes[1].removeprefix("c")
    many = at_once.isdecimal() and int(at_once) >= MANY_AT_ONCE
    together = (f"{MANY_AT_ONCE} or more at once",) if many else ()
    return (f"{axes[0]} length", f"{at_once} at once", *together, f"{axes[2]} cache")


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamKey:
    """Which stream: a lane of a stratum. Pooled lanes have an empty ``stratum``, TREND no probe."""

    target: str
    lane: Lane
    probe: str = ""
    stratum: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEvent:
    """One score: ``y`` is 1 if the exchange failed in the way the lane is about.

    ``probe`` is the exchange's own, whatever is pooled; ``age`` is how many exchanges the target
    was sent before it since it started, as far as seen.
    """

    key: StreamKey
    probe: str
    y: int
    age: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamAlarm:
    """A detector's alarm with what it takes to say it: the stream, its model and its ``y0``.

    ``ages`` is set if only exchanges of that age since a start got worse.
    """

    key: StreamKey
    model: str
    y0: float
    alarm: Alarm
    ages: tuple[int, int | None] | None = None


def events(trial: Trial, verdict: Verdict, *, age: int = 0) -> tuple[StreamEvent, ...]:
    """Return the scores of a trial's exchanges, in order; none of one that is not scheduled.

    ``age`` is that of the trial's first exchange.
    """
    if not (trial.scheduled and verdict.scheduled):
        return ()
    asked = {exchange.index: exchange for exchange in trial.exchanges}
    return tuple(
        event
        for place, judged in enumerate(verdict.exchanges)
        if judged.counted and judged.outcome in (Outcome.GOOD, Outcome.BAD)
        for event in _scores(
            trial,
            asked[judged.exchange],
            judged,
            [s for s in verdict.signals if s.exchange == judged.exchange],
            age + place,
        )
    )


def _scores(
    trial: Trial,
    exchange: Exchange,
    judged: ExchangeVerdict,
    signals: Sequence[Signal],
    age: int,
) -> Iterator[StreamEvent]:
    def score(lane: Lane, bad: bool, *, probe: str = "", stratum: str = "") -> StreamEvent:
        key = StreamKey(target=trial.target, lane=lane, probe=probe, stratum=stratum)
        return StreamEvent(key=key, probe=trial.probe, y=int(bad), age=age)

    own = {"probe": trial.probe, "stratum": trial.stratum}
    mistaken = any(_is_mistake(signal) for signal in signals)
    yield score(Lane.HARD, judged.hard, **own)
    yield score(Lane.TOLERATED, mistaken, **own)
    if trial.probe in TREND_PROBES:
        yield score(Lane.TREND, judged.hard or mistaken)
    moved = _said(signals, _FINGERPRINT)
    if moved is not None:
        lane = Lane.FIRST_TOKEN if exchange.expectation.border_input else Lane.FACTS
        yield score(lane, moved, probe=trial.probe)
    wrong = _said(signals, _OPINION)
    if wrong is not None:
        yield score(Lane.JUDGE, wrong, probe=trial.probe)


def item_score(judge: str, item: Item, said: Said) -> StreamEvent | None:
    """Return the score of one of a judge's own items: 1 if it contradicts the label.

    ``None`` if it abstained or broke. The judge then moves, not what it judges: the stream is that
    of its own target, under the probe ``judge``.
    """
    if said not in (Said.RIGHT, Said.WRONG):
        return None
    key = StreamKey(target=judge, lane=Lane.JUDGE, probe="judge")
    return StreamEvent(key=key, probe="judge", y=int((said is Said.RIGHT) != item.right), age=0)


def _is_mistake(signal: Signal) -> bool:
    """Tell a tolerated failure that may count alone from another model's opinion, which may not."""
    tolerated = consequence(signal).kind is SignalKind.TOLERATED
    return signal.status is Status.FAIL and tolerated and signal.code != _OPINION


def _said(signals: Sequence[Signal], code: str) -> bool | None:
    """Return true if a check failed, false if it passed, ``None`` if it said neither."""
    statuses = {s.status for s in signals if s.code == code}
    if Status.FAIL in statuses:
        return True
    return False if Status.PASS in statuses else None


def y0_of(
    lane: Lane,
    *,
    objective_percent: float,
    tolerance: float,
    healthy: tuple[int, int] | None = None,
    margin: float = MARGIN,
) -> float | None:
    """Return the rate a lane may fail at, ``None`` if it is so large that nothing is judged.

    Hard failures may come as often as the objective leaves room. What is tolerated may come as
    often as ``tolerance`` says or, once calibrated (``healthy`` failed of judged), as the upper
    95 % bound on the healthy rate plus a margin: never as its mean, for a detector held to a mean
    alarms on every second healthy target.
    """
    room = max(LEAST_Y0, 1 - objective_percent / 100)
    if lane is Lane.HARD:
        return room
    if healthy is not None:
        largest = max(room, upper_bound(*healthy) + margin)
    else:
        own = {Lane.FIRST_TOKEN: UNCALIBRATED_Y0, Lane.FACTS: UNCALIBRATED_FACTS_Y0}
        largest = max(room, own.get(lane, tolerance))
    return largest if largest <= LARGEST_Y0 else None


def unseen_when_healthy(tokens: Sequence[FirstTokens]) -> tuple[int, int]:
    """Return how many first tokens of a calibration came once only, and of how many answers.

    That is the Good-Turing estimate of how often a healthy answer begins as none did before: each
    of these, had it come last, would have been unseen. Of undecided inputs alone, if there are any.
    """
    undecided = [each for each in tokens if len(each.seen) > 1] or tokens
    counts = [count for each in undecided for _, count in each.seen]
    return sum(count == 1 for count in counts), sum(counts)


# What failed, of the lanes that say only that outputs moved.
_MOVED = {
    Lane.FIRST_TOKEN: "answers to border inputs begin as none did before",
    Lane.FACTS: "answers hold other facts than before",
    Lane.TREND: "answers are wrong",
}


def decide_stream(
    found: StreamAlarm, *, verdict_id: str, now: datetime, checks_version: str
) -> Verdict:
    """Return the verdict of a stream whose outputs moved: DRIFT, with numbers and never a cause.

    Raises ``ValueError`` for a lane that says more than that, or less.
    """
    key = found.key
    if key.lane not in _MOVED:
        msg = f"the lane {key.lane.value} does not say that outputs moved"
        raise ValueError(msg)
    return Verdict(
        id=verdict_id,
        source="stream",
        trial="",
        target=key.target,
        model=found.model,
        probe=key.probe,
        shape=key.lane.value,
        stratum=key.stratum,
        decided_at=now,
        outcome=Outcome.BAD,
        verdict_class=VerdictClass.DRIFT,
        reason=_reason(found),
        signals=(),
        exchanges=(),
        checks_version=checks_version,
        scheduled=False,
    )


def _reason(found: StreamAlarm) -> str:
    alarm = found.alarm
    many = f"{alarm.bad:g} of the last {alarm.since} {_MOVED[found.key.lane]}"
    words = f"outputs moved: {many}; {found.y0:.1%} may be"
    if found.ages is None:
        return words
    first, end = found.ages
    which = f"{first + 1} to {end}" if end is not None else f"{first + 1} and on"
    return f"{words} (of exchanges number {which} after a start)"


class Ages:
    """How many exchanges each target was sent since it started, as far as that was seen."""

    def __init__(self) -> None:
        self._sent: dict[str, int] = {}

    def take(self, trial: Trial) -> int:
        """Return the age of a trial's first exchange, and count its exchanges."""
        age = self._sent.get(trial.target, 0)
        self._sent[trial.target] = age + len(trial.exchanges)
        return age

    def resume(self, target: str, age: int) -> None:
        """Go on from what was last seen of a target."""
        self._sent[target] = age

    def started(self, target: str) -> None:
        """Note that a target started anew, or changed: it is as good as new."""
        self._sent.pop(target, None)


class StreamSink:
    """Counts the scores of every verdict it is told of."""

    def __init__(self, counters: PrometheusSink) -> None:
        self._counters = counters

    def deliver(self, trial: Trial, verdict: Verdict) -> None:
        """Count a verdict's scores by lane."""
        for event in events(trial, verdict):
            self._counters.count_score(trial.target, event.probe, event.key.lane, bad=bool(event.y))

    def close(self) -> None:
        """Nothing to finish: the counters belong to whoever made them."""
