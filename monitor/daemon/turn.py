"""The turn of one probe on one target: what it asks next, and which of its runs were lost. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from random import Random

from monitor.config import Target
from monitor.daemon.shares import Shares
from monitor.planning import ProbeChoice
from monitor.probes.base import TrialPlan


@dataclass(slots=True, kw_only=True)
class Turn:
    """One job of the schedule. ``every_seconds`` is the mean time between two runs."""

    target: Target
    choice: ProbeChoice
    every_seconds: float
    shares: Shares = field(default_factory=lambda: Shares({}))
    due: datetime | None = None

    @property
    def id(self) -> str:
        """The job's name."""
        return f"{self.target.name}/{self.choice.name}"

    def follow(self, rates: Mapping[str, float], every_seconds: float) -> None:
        """Take other rates; the time to the next run is then not to be counted as lost runs."""
        self.shares.reweigh(rates)
        self.every_seconds = every_seconds
        self.due = None

    def next(self, trials: Sequence[TrialPlan], rng: Random) -> TrialPlan | None:
        """Return one of the trials of the stratum whose turn it is."""
        stratum = self.shares.take({trial.stratum for trial in trials})
        able = [trial for trial in trials if trial.stratum == stratum]
        return rng.choice(able) if able else None

    def came(self, due: datetime) -> int:
        """Note that the run of ``due`` came; return how many before it were lost in a stall."""
        before, self.due = self.due, due
        if before is None:
            return 0
        return max(0, round((due - before).total_seconds() / self.every_seconds) - 1)
