"""What the schedule must not keep to itself: missed runs and changes, counted, logged, stored."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime

from monitor.clock import Clock, new_id
from monitor.conventions import ChangeKind
from monitor.daemon.changes import Change
from monitor.sinks import PrometheusSink
from monitor.store import Store
from monitor.store.rows import ScheduleEventRow

log = logging.getLogger(__name__)

MISSED = "missed_runs"
_KINDS = {kind.value: kind for kind in ChangeKind}


class ScheduleRecord:
    """Counts, logs and stores; a ``ChangeLog``."""

    def __init__(self, store: Store, counters: PrometheusSink, clock: Clock) -> None:
        self._store = store
        self._counters = counters
        self._clock = clock

    def changes(self, since: datetime) -> Iterable[Change]:
        """Return the changes noted since then."""
        self._store.flush()
        return [
            Change(target=row.target, kind=_KINDS[row.kind], at=row.at)
            for row in self._store.reader.schedule_events(since)
            if row.kind in _KINDS
        ]

    def keep(self, change: Change) -> None:
        """Count, log and store a change."""
        self._counters.count_change(change.target, change.kind)
        log.info("%s changed (%s): asked more often for 24 hours", change.target, change.kind.value)
        self._put(change.target, "", change.kind.value, 1, change.at)

    def missed(self, target: str, probe: str, runs: int, why: str) -> None:
        """Count, log and store runs that did not happen."""
        self._counters.count_missed_runs(target, probe, runs)
        log.warning("missed %d runs of %s on %s: %s", runs, probe, target, why)
        self._put(target, probe, MISSED, runs, self._clock.now())

    def _put(self, target: str, probe: str, kind: str, count: int, at: datetime) -> None:
        row = ScheduleEventRow(
            id=new_id("event"), at=at, target=target, probe=probe, kind=kind, count=count
        )
        self._store.writer.put([row], droppable=True)
