"""The sink that keeps everything: rows for the store's writer."""

from __future__ import annotations

from monitor.model import Outcome, Trial, Verdict, VerdictClass
from monitor.store import EvidenceHasher, Writer
from monitor.store.encode import signal_rows, trial_rows, verdict_rows


class ClickHouseSink:
    """Queues a trial's rows. Verdicts are never dropped, nor is anything about one not good.

    The details of a good trial are dropped, and counted, while the store cannot keep up.
    """

    def __init__(self, writer: Writer, hasher: EvidenceHasher) -> None:
        self._writer = writer
        self._hasher = hasher

    def deliver(self, trial: Trial, verdict: Verdict) -> None:
        """Queue the rows. Raises ``StoreError`` if the store takes none for too long."""
        held = verdict.finding is not None
        details = trial_rows(trial, self._hasher, held=held)
        details += signal_rows(verdict, trial, self._hasher)
        if _is_plain(verdict):
            self._writer.put(verdict_rows(verdict))
            self._writer.put(details, droppable=True)
        else:
            self._writer.put(verdict_rows(verdict) + details)

    def close(self) -> None:
        """Nothing of its own to finish: the store is closed by whoever opened it."""


def _is_plain(verdict: Verdict) -> bool:
    return verdict.outcome is Outcome.GOOD and verdict.verdict_class is VerdictClass.NONE
