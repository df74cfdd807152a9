"""From a trial and its verdict to scores: one for each stream the trial says something about. Pure.

The exchanges of a trial fail together, so a stream takes them as one score: the share that failed.
"""

from __future__ import annotations

from dataclasses import dataclass

from monitor.model import Lane, Outcome, Trial, Verdict
from monitor.streams import TREND_PROBES, StreamEvent, StreamKey, events


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What a trial says to one stream: ``failed`` of its exchanges failed, the first of this age.

    With the trial the target had been ``sent`` so many exchanges since its start. ``lost`` is why
    there is no score, ``error`` or ``invalid``.
    """

    key: StreamKey
    failed: int = 0
    of: int = 1
    age: int = 0
    sent: int = 0
    lost: Outcome | None = None


def scores_of(trial: Trial, verdict: Verdict, *, age: int) -> tuple[Score, ...]:
    """Return the scores of a trial that is scheduled; none of any other.

    ``age`` is that of its first exchange. Where every exchange ended in an error, or could not be
    judged, each stream that asks about all answers of the trial has lost a score.
    """
    grouped: dict[StreamKey, list[StreamEvent]] = {}
    for event in events(trial, verdict, age=age):
        grouped.setdefault(event.key, []).append(event)
    sent = age + len(trial.exchanges)
    found = tuple(
        Score(key=key, failed=sum(e.y for e in some), of=len(some), age=some[0].age, sent=sent)
        for key, some in grouped.items()
    )
    if found or not (trial.scheduled and verdict.scheduled):
        return found
    if verdict.outcome not in (Outcome.ERROR, Outcome.INVALID):
        return ()  # broken off on purpose: nothing was to be seen
    return tuple(Score(key=key, sent=sent, lost=verdict.outcome) for key in _asked(trial))


def _asked(trial: Trial) -> list[StreamKey]:
    """Return the streams that a trial is about whatever comes back."""
    own = {"target": trial.target, "probe": trial.probe}
    keys = [
        StreamKey(lane=lane, stratum=trial.stratum, **own) for lane in (Lane.HARD, Lane.TOLERATED)
    ]
    if trial.probe in TREND_PROBES:
        keys.append(StreamKey(lane=Lane.TREND, target=trial.target))
    if any(exchange.expectation.border_input for exchange in trial.exchanges):
        keys.append(StreamKey(lane=Lane.FIRST_TOKEN, **own))
    return keys
