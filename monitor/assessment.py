"""One trial before all checks: what it is held against, what is measured, what is remembered of it.

The pipeline does this when a trial comes back, and ``rescore`` does it again later: the same
answers held against the same past give the same signals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from monitor.canaries import MarkerRegistry
from monitor.checks import CHECKS, foreign, judge_trial
from monitor.checks.foreign import OwnedPart
from monitor.checks.remembered import remembered
from monitor.history import History, JudgeSettings, Memory, Observation
from monitor.measuring import Measuring, measure
from monitor.model import Calibration, Signal, Status, Trial
from monitor.prompts import GoldenPrompt


class HeldTo(Protocol):
    """What the answers of one target are held against, beside what the installation knows."""

    @property
    def memory(self) -> Memory:
        """What is remembered of the target's answers so far."""

    @property
    def weak_model(self) -> bool:
        """True if wrong answers are ordinary for its model."""

    @property
    def judging(self) -> JudgeSettings:
        """What the configuration says of judging its answers."""

    @property
    def calibration(self) -> Calibration | None:
        """Its valid calibration."""


async def assess(
    trial: Trial,
    held: HeldTo,
    registry: MarkerRegistry,
    golden: Mapping[str, GoldenPrompt],
    measuring: Measuring,
) -> tuple[Signal, ...]:
    """Judge by what the answers hold, then by what instruments measure of them; remember them.

    Trials of one target are to come in the order in which they came back.
    """
    history = History(
        registry=registry,
        golden=golden,
        earlier=held.memory.recall(),
        fingers=held.memory.recall_fingers(),
        weak_model=held.weak_model,
        settings=held.judging,
        calibration=held.calibration,
    )
    signals = judge_trial(trial, history, [c for c in CHECKS if not c.measured])
    parts = _parts(trial, signals, history)
    measured = await measure(trial, signals, history, measuring.scorer, measuring.second)
    history = replace(history, measured=measured)
    signals += judge_trial(trial, history, [c for c in CHECKS if c.measured])
    held.memory.remember(_observations(trial, signals, parts, history))
    return signals


def _parts(
    trial: Trial, signals: Sequence[Signal], history: History
) -> dict[int, tuple[OwnedPart, ...]]:
    """Return by exchange what may add up to a proof, nothing if the search for it crashed."""
    if any(signal.code == foreign.CODE and signal.status is Status.ERROR for signal in signals):
        return {}
    return {e.index: foreign.parts_of(trial, e, history) for e in trial.exchanges}


def _observations(
    trial: Trial,
    signals: Sequence[Signal],
    parts: Mapping[int, tuple[OwnedPart, ...]],
    history: History,
) -> list[Observation]:
    """Return what to remember: stale answers, and parts that may add up to a proof."""
    stale = {
        signal.exchange: signal.owner.stratum_key
        for signal in signals
        if signal.variant.startswith("stale_own") and signal.owner
    }
    return [
        remembered(trial, e, history, stale_from=stale.get(e.index), parts=parts.get(e.index, ()))
        for e in trial.exchanges
        if e.response is not None
    ]
