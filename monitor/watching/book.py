"""The book of watches: every stream of the installation, each held to what it may fail at."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from monitor.conventions.streams import NotWatched
from monitor.detect.watch import (
    Thresholds,
    Watch,
    begin,
    held_to,
    limited,
    resolved,
    step,
    unscored,
)
from monitor.model import Lane
from monitor.streams import StreamKey
from monitor.watching.ending import ended
from monitor.watching.fleet import Fleet
from monitor.watching.scores import Score
from monitor.watching.standing import Standing
from monitor.watching.tolerances import Held, HeldOf

# What stands for a stream that nobody can watch, so that it is shown nevertheless.
_UNWATCHABLE_Y0 = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """What one score did to a stream."""

    before: Watch
    after: Standing

    @property
    def raised(self) -> bool:
        """True if an alarm was raised: the first, again, or one tier up."""
        now = self.after.watch
        return (now.tickets, now.pages) != (self.before.tickets, self.before.pages)

    @property
    def resolved(self) -> bool:
        """True if the alarm is over."""
        return self.before.alarm is not None and self.after.watch.alarm is None


class Book:
    """Keeps a watch for each stream. Safe to use from several threads; it touches no disk.

    ``held_of`` says what a stream is held to now, ``known`` are streams as they stood before. Of
    ``lost`` ones only the version is known.
    """

    def __init__(
        self,
        fleet: Fleet,
        held_of: HeldOf,
        known: Iterable[Standing] = (),
        lost: Mapping[StreamKey, int] | None = None,
    ) -> None:
        self._lost = dict(lost or {})
        self._fleet = fleet
        self._held_of = held_of
        self._lock = threading.Lock()
        self._standings: dict[StreamKey, Standing] = {each.key: each for each in known}

    def plan(self, target: str, scores: Mapping[StreamKey, float]) -> None:
        """Take the scores a day of a target's streams. Call it before more of them are asked for.

        All thresholds follow.
        """
        with self._lock:
            self._fleet.plan(target, scores)

    def take(self, scores: Sequence[Score], now: datetime) -> tuple[Move, ...]:
        """Take the scores of one trial, and return what they did, in order.

        A stream that so much is tolerated of that nobody watches it takes none: its alarm is over.
        """
        with self._lock:
            moves = [self._step(score, now) for score in scores]
        return tuple(move for move in moves if move is not None)

    def end(self, key: StreamKey, now: datetime) -> Move | None:
        """End the alarm of a stream, as a person says; ``None`` if it is over already."""
        with self._lock:
            before = self._current(key, self._held_of(key))
            if before.watch.alarm is None:
                return None
            self._standings[key] = after = ended(before, now)
            return Move(before=before.watch, after=after)

    def _step(self, score: Score, now: datetime) -> Move | None:
        held = self._held_of(score.key)
        if held.y0 is None:
            return self._end(score, held, now)
        before = self._current(score.key, held)
        watch = before.watch
        if score.lost is not None:
            after = unscored(watch, score.lost)
        else:
            age = score.age if watch.by_age else None
            after = step(watch, score.failed, held.y0, of=score.of, age=age)
        standing = before.after(after, now, sent=score.sent)
        self._standings[score.key] = standing
        return Move(before=watch, after=standing)

    def _end(self, score: Score, held: Held, now: datetime) -> Move | None:
        """Take the alarm from a stream that nobody watches any more: no score could end it."""
        known = self._standings.get(score.key)
        if known is None or known.watch.alarm is None:
            return None
        ended = self._current(score.key, held)
        standing = ended.after(ended.watch, now, sent=score.sent)
        self._standings[score.key] = standing
        return Move(before=known.watch, after=standing)

    def _current(self, key: StreamKey, held: Held) -> Standing:
        """Return a stream as it stands by the thresholds and the tolerance of now."""
        limits, known = self._fleet.thresholds(key), self._standings.get(key)
        if known is None:
            y0 = held.y0 if held.y0 is not None else _UNWATCHABLE_Y0
            watch = begin(y0, limits or Thresholds(), by_age=key.lane is Lane.TREND)
            version = self._lost.get(key, 0)
            return self._told(
                Standing(key=key, watch=watch, held_by=held.by, version=version), held
            )
        watch = known.watch
        if held.y0 is not None and held.y0 != watch.y0:
            watch = held_to(watch, held.y0)
        if limits is not None and limits != watch.thresholds:
            watch = limited(watch, limits)
        if held.y0 is None and watch.alarm is not None:
            known, watch = replace(known, alarmed_at=None, onset_at=None), resolved(watch)
        return self._told(replace(known, watch=watch, held_by=held.by), held)

    def _told(self, standing: Standing, held: Held) -> Standing:
        key = standing.key
        asked = standing.asked or self._fleet.was_planned(key)
        return replace(standing, not_watched=self._why_not(key, held), asked=asked)

    def _why_not(self, key: StreamKey, held: Held) -> NotWatched | None:
        if held.y0 is None:
            return NotWatched.TOLERANCE
        share = self._fleet.share(key)
        if share is None:
            return NotWatched.NOT_PLANNED
        return NotWatched.WEIGHT if share.weight == 0 else None

    def standings(self, targets: Collection[str]) -> tuple[Standing, ...]:
        """Return every stream of these targets that is planned or has scores, as it stands now."""
        with self._lock:
            keys = dict.fromkeys((*self._fleet.streams(), *self._standings))
        found = [self._now(key) for key in keys if key.target in targets]
        return tuple(sorted(found, key=_order))

    def _now(self, key: StreamKey) -> Standing:
        # A lock for each: whoever has a score does not wait for thousands of streams to be shown.
        with self._lock:
            return self._current(key, self._held_of(key))


def _order(standing: Standing) -> tuple[str, ...]:
    key = standing.key
    return (key.target, key.probe, key.stratum, key.lane.value)
