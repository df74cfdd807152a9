"""The sink that keeps everything: rows for the store's writer."""

from __future__ import annotations

from monitor.model import Trial, Verdict
from monitor.store import EvidenceHasher, Writer
from monitor.store.encode import judgement_rows, trial_rows


class ClickHouseSink:
    """Keeps a trial and its verdict, all of it or nothing; none of it is ever dropped."""

    def __init__(self, writer: Writer, hasher: EvidenceHasher) -> None:
        self._writer = writer
        self._hasher = hasher

    def deliver(self, trial: Trial, verdict: Verdict) -> None:
        """Keep the rows: they are on disk. Raises ``StoreError`` if the store takes none."""
        held = verdict.finding is not None
        rows = trial_rows(trial, self._hasher, held=held) if verdict.trial else []
        self._writer.put(rows + judgement_rows(verdict, trial, self._hasher))

    def close(self) -> None:
        """Nothing of its own to finish: the store is closed by whoever opened it."""
