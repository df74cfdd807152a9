"""A clock that jumps back: what is kept before and after stands there once, everywhere."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

from monitor.sinks import ClickHouseSink
from monitor.store import Store, WriterLimits, open_store
from monitor.store.client import Client
from monitor.store.encode import trial_rows, verdict_rows
from monitor.store.private import EvidenceHasher
from monitor.store.segment import line_of
from monitor.store.spool import Spool
from tests.store_faults.counting import assert_exactly_once
from tests.unit.store.samples import NOW, good, trial
from tests.unit.store.spooling import SetClock

LIMITS = WriterLimits(batch_rows=50, batch_seconds=0.05)
# On, back within the hour, over midnight, by weeks, and on again; rows are kept for longer.
JUMPS = [timedelta(hours=3), -timedelta(minutes=20), -timedelta(days=2), -timedelta(days=20)]
JUMPS += [timedelta(days=30), -timedelta(seconds=1)]


class _Kept:
    """What was put, and when the clock said that was."""

    def __init__(self) -> None:
        self.clock = SetClock()
        self.decided: dict[int, datetime] = {}

    def deliver(self, store: Store, amount: int) -> None:
        sink = ClickHouseSink(store.writer, store.hasher)
        for _ in range(amount):
            number = self._next()
            at = self.clock.now()
            sink.deliver(trial(number, started_at=at), good(number, decided_at=at))

    def leave_behind(self, folder: Path, hasher: EvidenceHasher, amount: int) -> None:
        """Put rows as a process that then dies, and let the clock jump back while it lives."""
        spool = Spool.opened(folder, self.clock, LIMITS)
        for _ in range(amount):
            number = self._next()
            at = self.clock.now()
            asked, judged = trial(number, started_at=at), good(number, decided_at=at)
            rows = [*trial_rows(asked, hasher), *verdict_rows(judged)]
            spool.put(line_of(rows, at), len(rows))
            self.clock.instant -= timedelta(hours=5)
        spool.close()

    def _next(self) -> int:
        number = len(self.decided)
        self.decided[number] = self.clock.now()
        return number


def by_step(client: Client, step: str) -> dict[datetime, int]:
    sql = f"SELECT at, sum(number) FROM verdicts_{step} GROUP BY at"  # noqa: S608
    return {at: int(number) for at, number in client.query(sql)}


def held_against(store: Store, kept: _Kept) -> None:
    """See that each verdict is there once: in the tables and in the sums."""
    wanted = {good(number).id: at for number, at in kept.decided.items()}
    assert assert_exactly_once(store, wanted) == len(wanted)
    hours = Counter(at.replace(minute=0, second=0, microsecond=0) for at in wanted.values())
    days = Counter(at.replace(hour=0) for at in hours.elements())
    assert store.writer.run(lambda client: by_step(client, "hourly")) == hours
    assert store.writer.run(lambda client: by_step(client, "daily")) == days
    stats = store.writer.stats()
    assert (stats.queued_rows, stats.oldest_seconds) == (0, 0)


def read_once(store: Store, kept: _Kept) -> None:
    """See that each verdict is read of its trial once, with the time that the clock said."""
    for number, at in kept.decided.items():
        found = store.reader.trial(trial(number).id)
        assert found
        assert [(each.id, each.decided_at) for each in found.verdicts] == [(good(number).id, at)]


def test_each_verdict_is_there_once_whatever_the_clock_says(tmp_path: Path) -> None:
    path, kept = tmp_path / "store", _Kept()
    with open_store(path, limits=LIMITS, clock=kept.clock) as store:
        hasher = store.hasher
        for jump in JUMPS:
            kept.deliver(store, 2)
            kept.clock.instant += jump
            kept.deliver(store, 1)
        held_against(store, kept)
    # Another process, to which what was left behind is from the future.
    kept.leave_behind(path / "spool", hasher, 3)
    left = {file: file.read_bytes() for file in (path / "spool").glob("*.rows")}
    assert left
    kept.clock.instant = NOW - timedelta(days=9)
    with open_store(path, limits=LIMITS, clock=kept.clock) as store:
        kept.deliver(store, 2)
        held_against(store, kept)
    # It died before it could remove the segment, and the next one finds it at an earlier time.
    for file, content in left.items():
        file.write_bytes(content)
    kept.clock.instant -= timedelta(days=3)
    with open_store(path, limits=LIMITS, clock=kept.clock) as store:
        kept.deliver(store, 2)
        held_against(store, kept)
        read_once(store, kept)
