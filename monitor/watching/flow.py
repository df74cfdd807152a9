"""What becomes of a verdict in the streams: scored, kept, said, and judged where outputs moved."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry

from monitor.checks import CHECKS_VERSION
from monitor.clock import Clock, new_id
from monitor.config import Config
from monitor.conventions.streams import NotWatched
from monitor.live import LiveTarget
from monitor.model import Lane, Trial, Verdict
from monitor.store import Store
from monitor.streams import Ages, StreamAlarm, StreamEvent, StreamKey, decide_stream
from monitor.watching.book import Book, Move
from monitor.watching.collector import StreamCollector
from monitor.watching.ending import Ending, alarm_of, keep_ended, place, place_of
from monitor.watching.fleet import JUDGE_PROBE, Fleet, scores_a_day
from monitor.watching.kept import Refused, read, row_of
from monitor.watching.scores import Score, scores_of
from monitor.watching.standing import Standing
from monitor.watching.tolerances import Tolerances

log = logging.getLogger(__name__)

# Lanes that say only that outputs moved: an alarm of theirs is a verdict, DRIFT.
MOVED = frozenset({Lane.FIRST_TOKEN, Lane.FACTS, Lane.TREND})
# At most so many of its own items is a judge asked on its first day; then fewer.
JUDGE_ITEMS_A_DAY = 300.0
Tell = Callable[[Verdict], None]


class Watching:
    """Watches the streams of all targets. Safe to use from several threads.

    What was kept when the installation was last open goes on; a state that cannot be read begins
    anew, and is counted in ``refused``.
    """

    def __init__(
        self, config: Config, targets: Mapping[str, LiveTarget], store: Store, clock: Clock
    ) -> None:
        self._clock = clock
        self._writer, self._audit = store.writer, store.audit
        self._judge = judge.target if (judge := config.settings.checks.judge) else None
        self._ages = Ages()
        self._unkept: dict[StreamKey, Standing] = {}
        self._untold: list[Verdict] = []
        self._keeping, self._noting = threading.Lock(), threading.Lock()
        names = {target.name for target in config.targets}
        objectives = {
            target.name: config.for_target(target).objective_percent for target in config.targets
        }
        known, refused = read(store.reader.detector_states(sorted(names)), CHECKS_VERSION)
        self.refused = len(refused)
        for each in refused:
            _say_refused(each)
        for standing in sorted(known, key=_changed):
            self._ages.resume(standing.key.target, standing.sent)
        fleet = Fleet(config.settings.detection, names)
        lost = {key: each.row.version for each in refused if (key := each.key) is not None}
        self._book = Book(fleet, Tolerances(targets, objectives), known, lost)

    def plan(self, target: str, trials: Mapping[tuple[str, str], float]) -> None:
        """Take the day plan of a target, trials a day by probe and stratum, before it is followed.

        Once every target is planned all thresholds are those of these plans.
        """
        judged = self._judge is not None and self._judge != target
        scores = scores_a_day(target, trials, judged=judged)
        if self._judge == target:
            own = StreamKey(target=target, lane=Lane.JUDGE, probe=JUDGE_PROBE)
            scores[own] = JUDGE_ITEMS_A_DAY
        self._book.plan(target, scores)

    def started(self, target: str) -> None:
        """Note that a target started anew, or changed: the age of its next exchange is 0."""
        self._ages.started(target)

    def take(self, trial: Trial, verdict: Verdict, tell: Tell) -> None:
        """Take the verdict of a trial; ``tell`` of the verdict of each stream that moved by it.

        A verdict is told before its alarm is kept: a process that dies in between tells it again,
        and so does the next call where telling failed: ``tell`` then goes on with the same one.
        Call it from one thread at a time.
        """
        scores = scores_of(trial, verdict, age=self._ages.take(trial))
        moves = self._book.take(scores, verdict.decided_at)
        self._note(moves)
        for move in moves:
            self._say(move)
            if move.raised and move.after.key.lane in MOVED:
                self._untold.append(_moved(move, trial.model, verdict.decided_at))
        while self._untold:
            tell(self._untold[0])
            del self._untold[0]
        self.keep()

    def take_item(self, event: StreamEvent) -> None:
        """Take the score of one of a judge's own items. It is kept with the next trial, or later.

        Does not wait for the disk.
        """
        score = Score(key=event.key, failed=event.y)
        moves = self._book.take([score], self._clock.now())
        for move in moves:
            self._say(move)
        self._note(moves)

    def end(self, ending: Ending) -> StreamKey:
        """End an alarm as a person says, and return whose it was. It is kept when this returns.

        Raises ``UsageError`` if not just one is meant, ``StoreError`` if it cannot be kept: it then
        goes on.
        """
        with self._keeping:  # what stood before must not be kept after it
            before = alarm_of(self.standings({ending.target}), ending)
            now = self._clock.now()
            keep_ended(self._audit, before, ending, now)
            move = self._book.end(before.key, now)
            if move is not None:
                self._note([move])
                self._say(move)
        return before.key

    def keep(self) -> None:
        """Keep every stream that changed; what there is no room for stays to be kept."""
        with self._keeping:
            with self._noting:
                changed = dict(self._unkept)
            now = self._clock.now()
            rows = [row_of(standing, CHECKS_VERSION, now) for standing in changed.values()]
            if rows and self._writer.put(rows, droppable=True):
                self._note_kept(changed)

    def close(self) -> None:
        """Keep what is left to be kept."""
        self.keep()

    def standings(self, targets: Collection[str]) -> tuple[Standing, ...]:
        """Return every stream of these targets as it stands now."""
        return self._book.standings(targets)

    def _note(self, moves: Collection[Move]) -> None:
        with self._noting:
            self._unkept |= {move.after.key: move.after for move in moves}

    def _note_kept(self, kept: Mapping[StreamKey, Standing]) -> None:
        with self._noting:
            for key, standing in kept.items():
                if self._unkept.get(key) is standing:
                    del self._unkept[key]

    def _say(self, move: Move) -> None:
        where, alarm = place_of(move.after.key), move.after.watch.alarm
        if move.raised and alarm is not None:
            log.error(
                "alarm (%s) of %s: %g of the last %d scores failed, evidence %.3g of %.3g",
                alarm.tier.name.lower(),
                where,
                alarm.alarm.bad,
                alarm.alarm.since,
                alarm.alarm.value,
                alarm.threshold,
            )
        elif move.resolved and move.after.not_watched is NotWatched.TOLERANCE:
            log.warning(
                "the alarm of %s is over without a clean score: more than half may fail now, "
                "and nobody watches the stream",
                where,
            )
        elif move.resolved:
            log.info("the alarm of %s is over", where)


def watching_over(
    config: Config,
    targets: Mapping[str, LiveTarget],
    store: Store,
    clock: Clock,
    metrics: CollectorRegistry,
) -> Watching:
    """Return what watches the streams of an installation, shown in ``metrics``. Close it."""
    watching = Watching(config, targets, store, clock)
    names = tuple(target.name for target in config.targets)
    metrics.register(
        StreamCollector(
            env=config.environment,
            targets=names,
            standings=lambda: watching.standings(names),
            refused=lambda: watching.refused,
        )
    )
    return watching


def _moved(move: Move, model: str, now: datetime) -> Verdict:
    watch, latched = move.after.watch, move.after.watch.alarm
    if latched is None:
        raise ValueError("a stream without an alarm did not move")
    alarm = StreamAlarm(
        key=move.after.key, model=model, y0=watch.y0, alarm=latched.alarm, ages=latched.ages
    )
    return decide_stream(
        alarm, verdict_id=new_id("verdict"), now=now, checks_version=CHECKS_VERSION
    )


def _say_refused(refused: Refused) -> None:
    row = refused.row
    where = place(row.target, row.probe, row.stratum, row.detector)
    log.error(
        "the evidence of %s begins anew: what was kept of it is refused (%s)", where, refused.why
    )


def _changed(standing: Standing) -> datetime:
    return standing.changed_at or datetime.min.replace(tzinfo=UTC)
