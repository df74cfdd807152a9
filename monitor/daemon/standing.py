"""How a target stands by the last verdict of each of its probes. Kept in memory, read once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from monitor.model import Outcome, Trial, Verdict
from monitor.store.rows import VerdictRow

# A verdict is believed for so many runs of its probe, for so long at least, and at most.
FRESH_RUNS = 3
FRESH = timedelta(minutes=5)
OLDEST = timedelta(days=7)
_SOURCE = "probe"


class State(StrEnum):
    """How a probe of a target stands: an outcome, or why there is none to go by."""

    GOOD = "good"
    BAD = "bad"
    ERROR = "error"
    INVALID = "invalid"
    STALE = "stale"
    NEVER = "never"
    NOT_PROBED = "not_probed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Last:
    """A probe's last verdict; ``seconds`` its trial took, ``None`` if only the store knows."""

    stratum: str
    outcome: Outcome
    class_label: str
    decided_at: datetime
    seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One probe of a target: its last verdict, and how often it asks (``None``: never)."""

    probe: str
    every_seconds: float | None
    last: Last | None

    def state(self, now: datetime) -> State:
        """Return how it stands at this moment."""
        if self.every_seconds is None:
            return State.NOT_PROBED
        if self.last is None:
            return State.NEVER
        runs = timedelta(seconds=FRESH_RUNS * self.every_seconds)
        if now - self.last.decided_at > min(max(runs, FRESH), OLDEST):
            return State.STALE
        return State(self.last.outcome.value)


class LastVerdicts:
    """The last verdict of each probe of each target: those that count, none that confirms."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, str], Last] = {}

    def recall(self, rows: Iterable[VerdictRow]) -> None:
        """Take what the store has; what was noted since is newer."""
        for row in rows:
            last = Last(
                stratum=row.stratum,
                outcome=Outcome(row.outcome),
                class_label=row.verdict_class,
                decided_at=row.decided_at,
                seconds=None,
            )
            self._last.setdefault((row.target, row.probe), last)

    def note(self, trial: Trial, verdict: Verdict) -> None:
        """Take a verdict as the last one of its probe, if it is one of a scheduled trial."""
        if not verdict.scheduled or verdict.source != _SOURCE:
            return
        self._last[verdict.target, verdict.probe] = Last(
            stratum=verdict.stratum,
            outcome=verdict.outcome,
            class_label=verdict.verdict_class.label,
            decided_at=verdict.decided_at,
            seconds=_seconds(trial),
        )

    def of(self, target: str, probe: str) -> Last | None:
        """Return the last verdict of a probe of a target."""
        return self._last.get((target, probe))


def _seconds(trial: Trial) -> float:
    ends = [
        (exchange.timing.started_at - trial.started_at).total_seconds()
        + exchange.timing.total_seconds
        for exchange in trial.exchanges
    ]
    return max([0.0, *ends])
