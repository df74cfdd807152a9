"""How often a stream may fail, and who says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from monitor.detect.esr import LARGEST_Y0
from monitor.live import LiveTarget
from monitor.model import CalibrationStatus, Lane, ToleranceSource
from monitor.streams import (
    TREND_PROBES,
    StreamKey,
    groups_of_stratum,
    unseen_when_healthy,
    y0_of,
)


class HeldBy(StrEnum):
    """Who says how often a stream may fail."""

    OBJECTIVE = "objective"
    CALIBRATED = "calibrated"
    CONFIGURED = "configured"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What a stream is held to; ``y0`` is ``None`` where so much is tolerated that none watches."""

    y0: float | None
    by: HeldBy


HeldOf = Callable[[StreamKey], Held]


def held(key: StreamKey, live: LiveTarget, objective_percent: float) -> Held:
    """Return what a stream is held to by the objective of its target, its calibration, or itself.

    What is tolerated is never less than the objective leaves room for.
    """
    if key.lane is Lane.HARD:
        return _held(y0_of(key.lane, objective_percent=objective_percent, tolerance=0.0), key, live)
    valid = live.calibration
    tokens = valid.first_tokens if valid is not None else ()
    y0 = y0_of(
        key.lane,
        objective_percent=objective_percent,
        tolerance=_tolerance(key, live),
        healthy=unseen_when_healthy(tokens) if tokens and key.lane is Lane.FIRST_TOKEN else None,
        margin=valid.margin if valid is not None else 0.0,
    )
    return _held(y0, key, live)


def _held(y0: float | None, key: StreamKey, live: LiveTarget) -> Held:
    usable = y0 if y0 is not None and y0 <= LARGEST_Y0 else None
    return Held(y0=usable, by=_by(key, live))


def _by(key: StreamKey, live: LiveTarget) -> HeldBy:
    if key.lane is Lane.HARD:
        return HeldBy.OBJECTIVE
    if key.lane is Lane.FIRST_TOKEN:
        valid = live.calibration
        recorded = valid is not None and bool(valid.first_tokens)
        return HeldBy.CALIBRATED if recorded else HeldBy.DEFAULT
    if key.lane is Lane.FACTS:
        return HeldBy.DEFAULT
    return HeldBy(live.tolerance_source.value)


def _tolerance(key: StreamKey, live: LiveTarget) -> float:
    """Return the tolerance of everything that a stream pools: the largest of its parts.

    A bound that holds for each part holds for whatever mixture of them is asked.
    """
    probes = sorted(TREND_PROBES) if key.lane is Lane.TREND else [key.probe]
    groups = ("", *groups_of_stratum(key.stratum))
    return max(live.tolerance_of(probe, group) for probe in probes for group in groups)


class Tolerances:
    """What every stream is held to now. Worked out anew where a target is held to something else.

    ``objectives`` are the percentages of good answers, by target.
    """

    def __init__(self, targets: Mapping[str, LiveTarget], objectives: Mapping[str, float]) -> None:
        self._targets = targets
        self._objectives = objectives
        self._known: dict[StreamKey, tuple[_Basis, Held]] = {}

    def __call__(self, key: StreamKey) -> Held:
        """Return what a stream is held to. Raises ``KeyError`` for a target that is not there."""
        live = self._targets[key.target]
        basis = _Basis(live.calibrated, live.tolerance, live.tolerance_source)
        known = self._known.get(key)
        if known is not None and known[0].same(basis):
            return known[1]
        found = held(key, live, self._objectives[key.target])
        self._known[key] = basis, found
        return found


@dataclass(frozen=True, slots=True)
class _Basis:
    calibrated: CalibrationStatus
    tolerance: float
    source: ToleranceSource

    def same(self, other: _Basis) -> bool:
        return (
            self.calibrated is other.calibrated
            and self.tolerance == other.tolerance
            and self.source is other.source
        )
