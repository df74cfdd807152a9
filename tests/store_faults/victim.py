"""A process that keeps verdicts until it is killed, and says of each when it is acknowledged.

Run as ``python -m tests.store_faults.victim FOLDER ROUND [KILL_AT]``. Two threads deliver trials of
every kind; an id is printed once ``deliver`` returned. ``KILL_AT`` names a step at which it kills
itself: ``insert-N`` after its Nth block, ``remove-N`` before it removes its Nth segment.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from itertools import count
from pathlib import Path

from monitor.sinks import ClickHouseSink
from monitor.store import Store, WriterLimits, open_store
from tests.unit.store.samples import good, trial, verdict

# Small batches, so that a death often falls between two steps of the writer.
LIMITS = WriterLimits(batch_rows=40, batch_seconds=0.02)
_EVERY = 10_000_000


def deliver_for_ever(store: Store, numbers: range) -> None:
    """Keep trials one after the other, and print the id of each verdict that is kept."""
    sink = ClickHouseSink(store.writer, store.hasher)
    for number in numbers:
        judged = verdict(number) if number % 3 == 0 else good(number)
        sink.deliver(trial(number), judged)
        os.write(1, f"{judged.id}\n".encode())


def die_at(step: str) -> None:
    """See to it that this process kills itself at a step."""
    from monitor.store import client as databases
    from monitor.store.spool import Spool

    name, _, wanted = step.partition("-")
    owner, method = {
        "insert": (databases._ClickHouse, "insert"),
        "remove": (Spool, "remove"),
    }[name]
    really, done = getattr(owner, method), count(1)

    def dying(*arguments: object, **named: object) -> object:
        found = really(*arguments, **named) if name == "insert" else None
        if next(done) == int(wanted):
            os.kill(os.getpid(), signal.SIGKILL)
        return found if name == "insert" else really(*arguments, **named)

    setattr(owner, method, dying)


def main(folder: str, round_number: str, kill_at: str = "") -> None:
    """Deliver until killed."""
    start = int(round_number) * _EVERY
    store = open_store(Path(folder), limits=LIMITS)
    if kill_at:
        die_at(kill_at)
    os.write(1, b"ready\n")
    threads = [
        threading.Thread(
            target=deliver_for_ever, args=(store, range(start + each, start + _EVERY, 2))
        )
        for each in range(2)
    ]
    for thread in threads:
        thread.start()


if __name__ == "__main__":
    main(*sys.argv[1:])
