"""What is evidence of an open finding is held: no time to live ends it before a person closes it.

Rows whose verdict has a finding are written held. What becomes evidence later (the trial whose
marker leaked, a confirmation that came out good) is held afterwards, and what a closed finding held
is let go. Both follow from what the store says, so that nothing is forgotten by a crash in between:
the next ``settle`` finds what is left to do.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace

from monitor.errors import StoreError
from monitor.store.client import Location, connect
from monitor.store.reader import Reader
from monitor.store.rebuilding import Rebuilding
from monitor.store.writer import Writer

log = logging.getLogger(__name__)

# The column that names the trial. Verdicts come last: a trial whose verdict says what it should is
# done in every table.
TRIAL_COLUMNS = {
    "trials": "id",
    "exchanges": "trial",
    "exchange_verdicts": "trial",
    "signals": "trial",
    "bodies": "trial",
    "verdicts": "trial",
}
# A server takes the ids as part of a URL.
TRIALS_AT_ONCE = 2_000
# A change of many rows says nothing before its end.
_ANSWER_SECONDS = 3_600


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """How many trials were taken hold of, and how many were let go."""

    held: int
    released: int


class Holds:
    """Holds and lets go. Safe to use from several threads; close it before the store."""

    def __init__(self, location: Location, writer: Writer, reader: Reader) -> None:
        self._location = location
        self._writer = writer
        self._reader = reader
        self._lock = threading.Lock()
        self._waiting = threading.Lock()
        self._worker: ThreadPoolExecutor | None = None
        self._next: Future[None] | None = None
        self._closed = False

    def settle(self) -> Settled:
        """Hold what is evidence of an open finding, let go of what is not; return what changed.

        Nothing is written if there is nothing to change. Raises ``StoreError``.
        """
        with self._lock:
            self._writer.flush()
            # In this order: whatever is held by now, its finding was written before it.
            held = self._reader.held_trials()
            findings = [row.id for row in self._reader.open_findings()]
            evidence = self._reader.evidence_of(findings)
            missing = self._reader.not_held(findings)
            over = sorted(held - evidence.keys())
            for trials, value in ((sorted(missing), "true"), (over, "false")):
                if trials:
                    self._set(trials, value)
        if missing or over:
            log.info(
                "evidence: %d trials are held from now on, %d no more", len(missing), len(over)
            )
        return Settled(held=len(missing), released=len(over))

    def evidence(self) -> dict[str, str]:
        """Return the trials that are evidence of open findings, each with one of them."""
        return self._reader.evidence_of([row.id for row in self._reader.open_findings()])

    def settle_soon(self) -> None:
        """Settle in the background, once for however many ask before it begins.

        If that fails, it is said in the log and done when it is asked for next.
        """
        with self._waiting:
            waits = self._next and not (self._next.running() or self._next.done())
            if waits or self._closed:
                return
            if self._worker is None:
                self._worker = ThreadPoolExecutor(1, thread_name_prefix="store-holds")
            self._next = self._worker.submit(self._settle_quietly)

    def close(self) -> None:
        """Do what was asked for, then let go of the thread; safe to call twice."""
        with self._waiting:
            self._closed = True
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.shutdown(wait=True)

    def _settle_quietly(self) -> None:
        try:
            self.settle()
        except StoreError as error:
            log.error("evidence is held or let go later: %s", error)  # noqa: TRY400

    def _set(self, trials: list[str], value: str) -> None:
        """Change the rows of these trials in every table."""
        with closing(connect(replace(self._location, answer_seconds=_ANSWER_SECONDS))) as client:
            clustered = self._location.cluster is not None
            rebuilding = Rebuilding(self._writer, client, clustered=clustered)
            for some in _at_once(trials):
                for table, column in TRIAL_COLUMNS.items():
                    where = f"{column} IN {{trials:Array(String)}} AND held != {value}"
                    rebuilding.update(table, "held", value, where, {"trials": some})


def _at_once(trials: Collection[str]) -> Iterator[list[str]]:
    """Yield trials in parts of the size that one statement takes."""
    every = list(trials)
    for start in range(0, len(every), TRIALS_AT_ONCE):
        yield every[start : start + TRIALS_AT_ONCE]
