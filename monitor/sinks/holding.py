"""The sink that holds what becomes evidence only now: it was written before there was a finding."""

from __future__ import annotations

from monitor.model import Status, Trial, Verdict
from monitor.store.holds import Holds


class HoldingSink:
    """Has evidence of other trials held, in the background. Tell it after what keeps the rows."""

    def __init__(self, holds: Holds) -> None:
        self._holds = holds

    def deliver(self, trial: Trial, verdict: Verdict) -> None:
        """Ask for it where a marker of another trial was found, or a confirmation came out good."""
        if (trial.confirms and verdict.finding is None) or _names_others(verdict):
            self._holds.settle_soon()

    def close(self) -> None:
        """Nothing of its own to finish: the store does what was asked for before it closes."""


def _names_others(verdict: Verdict) -> bool:
    return verdict.finding is not None and any(
        signal.status is Status.FAIL and signal.owner and signal.owner.trial != verdict.trial
        for signal in verdict.signals
    )
