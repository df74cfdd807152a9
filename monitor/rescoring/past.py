"""What the answers of each target are held against when they are judged again.

Today's checks, configuration, golden prompts and calibration; and of the past what was known when
they were judged first: the markers that were minted by then, and what that run of Davylamp had seen
of the target.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from monitor.canaries import InstallationKey, MarkerRegistry
from monitor.canaries.registry import Entry
from monitor.config import Config
from monitor.configured import judge_settings
from monitor.history import REMEMBERED_EXCHANGES, JudgeSettings, Memory
from monitor.live import is_weak, tolerance_in_force
from monitor.model import (
    Calibration,
    CalibrationStatus,
    Exchange,
    Measurement,
    Signal,
    Status,
    Trial,
    Verdict,
)
from monitor.prompts import GoldenPrompt
from monitor.rescoring.opening import Reopened

_JUDGE = "JUDGE"
_NOT_ASKED = "no judge is asked when answers are judged again"


class Markers:
    """A registry that knows the markers known at some time, which only moves on."""

    def __init__(self, key: InstallationKey, entries: Iterable[Entry]) -> None:
        self.registry = MarkerRegistry(key)
        self._later = deque(sorted(entries, key=lambda entry: entry.minted_at))

    def known(self, number: int) -> None:
        """Know as many as were known when a verdict was given, in the order of their minting."""
        while self._later and len(self.registry) < number:
            self.registry.restore(self._later.popleft())


@dataclass(slots=True, kw_only=True)
class Past:
    """What the answers of one target are held against; ``memory`` begins anew with each run.

    It is ``whole`` unless a trial that belongs into the memory could not be opened: what is judged
    otherwise may then be so because less is known than was.
    """

    weak_model: bool = False
    judging: JudgeSettings = field(default_factory=JudgeSettings)
    calibration: Calibration | None = None
    memory: Memory = field(default_factory=Memory)
    whole: bool = True
    _process: str = ""
    _missed: bool = False
    _since_missed: int = 0

    def take(self, found: Reopened) -> Past:
        """Make ready for judging a trial; what another run of Davylamp saw was not known in it."""
        if found.process != self._process:
            self.memory, self._process = Memory(), found.process
            self.whole = True
        if self._missed:
            # Of which run it was is not known: perhaps of this one.
            self.whole, self._missed, self._since_missed = False, False, 0
        elif self._since_missed >= REMEMBERED_EXCHANGES:
            self.whole = True
        self._since_missed += len(found.trial.exchanges)
        return self

    def miss(self) -> None:
        """Note that a trial could not be opened: nothing of it will be remembered."""
        self._missed = True


def past_of(config: Config, name: str, calibrated: CalibrationStatus) -> Past:
    """Return what a target's answers are held against today, as far as it is configured."""
    target = config.target(name)
    if target is None:
        return Past()
    tolerance, source = tolerance_in_force(calibrated, config.for_target(target).tolerance)
    return Past(
        weak_model=is_weak(calibrated, tolerance, source),
        judging=judge_settings(config, target),
        calibration=calibrated.valid,
    )


class EarlierOpinion:
    """Says of an answer what a judge said of it when it was judged first: none is asked again."""

    def __init__(self, verdict: Verdict) -> None:
        self._said = {s.exchange: s for s in verdict.signals if s.code == _JUDGE}

    async def opinion(self, trial: Trial, exchange: Exchange, golden: GoldenPrompt) -> Measurement:
        """Return what was said then."""
        return _measured(self._said.get(exchange.index))


def _measured(said: Signal | None) -> Measurement:
    if said is None:
        return Measurement(skipped={_JUDGE: _NOT_ASKED})
    if said.status is Status.ERROR:
        return Measurement(broken={_JUDGE: said.explanation})
    if said.status is Status.SKIP:
        return Measurement(skipped={_JUDGE: said.explanation})
    return Measurement(judged_right=said.status is Status.PASS)
