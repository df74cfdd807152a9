"""One trial before all checks: what it is held against, what is measured, what is remembered of it.

The pipeline does this when a trial comes back, and ``rescore`` does it again later: the same
answers held against the same past give the same signals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from monitor.canaries import MarkerRegistry, PartialEvidence
from monitor.checks import CHECKS, judge_trial
from monitor.checks.remembered import remembered
from monitor.history import History, JudgeSettings, Memory, Observation, OwnerKey, owner_key
from monitor.measuring import Measuring, measure
from monitor.model import Calibration, Signal, Trial
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
    measured = await measure(trial, signals, history, measuring.scorer, measuring.second)
    history = replace(history, measured=measured)
    signals += judge_trial(trial, history, [c for c in CHECKS if c.measured])
    held.memory.remember(_observations(trial, signals, history))
    return signals


def _observations(trial: Trial, signals: Sequence[Signal], history: History) -> list[Observation]:
    """Return what to remember: stale answers, and parts that may add up to a proof."""
    owned = [signal for signal in signals if signal.owner is not None]
    stale = {
        signal.exchange: signal.owner.stratum_key
        for signal in owned
        if signal.variant.startswith("stale_own") and signal.owner
    }
    parts: dict[int, list[tuple[OwnerKey, PartialEvidence]]] = defaultdict(list)
    for signal in owned:
        if signal.variant == "partial" and signal.owner and signal.marker_id:
            part = PartialEvidence(signal.marker_id, signal.places, signal.evidence_bits or 0.0)
            parts[signal.exchange].append((owner_key(signal.owner), part))
    return [
        remembered(trial, e, history, stale_from=stale.get(e.index), parts=tuple(parts[e.index]))
        for e in trial.exchanges
        if e.response is not None
    ]
