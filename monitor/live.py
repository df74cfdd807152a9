"""A target that can be asked, and what its answers are held to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from monitor.engines.base import Engine
from monitor.history import JudgeSettings, Memory
from monitor.identifiers import Identifiers
from monitor.model import DEFAULT_TOLERANCE, Calibration, CalibrationStatus, ToleranceSource
from monitor.probes.base import TargetView

# A tolerance above this says wrong answers are ordinary for this model.
WEAK_MODEL_TOLERANCE = 0.10


@dataclass(slots=True, kw_only=True)
class LiveTarget:
    """A target that can be asked: its engine, credentials, and what is remembered of it.

    ``untagged_share`` of its trials carry nothing that marks them as probes: twins that would
    show whether marked ones are treated better. ``tolerance`` is that of its answers as a whole;
    with a calibration each group of a probe's answers has its own (``tolerance_of``). What it calls
    things goes through ``identifiers`` before anything reads it.
    """

    view: TargetView
    engine: Engine
    credentials: Mapping[str, str | None]
    timeout_seconds: float
    tolerance: float
    untagged_share: float = 0.0
    judging: JudgeSettings = field(default_factory=JudgeSettings)
    calibrated: CalibrationStatus = field(default_factory=CalibrationStatus)
    tolerance_source: ToleranceSource = ToleranceSource.DEFAULT
    memory: Memory = field(default_factory=Memory)
    identifiers: Identifiers = field(default_factory=Identifiers)

    @property
    def calibration(self) -> Calibration | None:
        """The calibration its answers are held against; ``None`` without a valid one."""
        return self.calibrated.valid

    @property
    def weak_model(self) -> bool:
        """True if wrong answers are ordinary for its model, as far as anybody vouches for it.

        A calibration counts what it set aside, too: a model that misses half of the prompts is
        weak, although it is right about the other half.
        """
        return is_weak(self.calibrated, self.tolerance, self.tolerance_source)

    def tolerance_of(self, probe: str, group: str = "") -> float:
        """Return the tolerance of a group of a probe's answers."""
        if self.calibration is None or self.tolerance_source is not ToleranceSource.CALIBRATED:
            return self.tolerance
        return self.calibration.tolerance_of(probe, group)

    def hold_to(self, calibrated: CalibrationStatus, configured: float | None) -> None:
        """Hold its answers to what is ``configured``, else to a valid calibration, else to 10 %.

        Golden prompts a valid calibration set aside are not asked for judgement; of border inputs
        those it showed to be undecided are asked.
        """
        self.calibrated, valid = calibrated, calibrated.valid
        self.tolerance, self.tolerance_source = tolerance_in_force(calibrated, configured)
        set_aside = valid.quarantined if valid is not None else ()
        tokens = valid.first_tokens if valid is not None else ()
        undecided = frozenset(each.border_input for each in tokens if len(each.seen) > 1)
        self.view = replace(self.view, quarantined=set_aside, undecided=undecided)


def tolerance_in_force(
    calibrated: CalibrationStatus, configured: float | None
) -> tuple[float, ToleranceSource]:
    """Return what is ``configured``, else by a valid calibration, else 10 %, and who says it."""
    if configured is not None:
        return configured, ToleranceSource.CONFIGURED
    if calibrated.valid is not None:
        return calibrated.valid.tolerance, ToleranceSource.CALIBRATED
    return DEFAULT_TOLERANCE, ToleranceSource.DEFAULT


def is_weak(calibrated: CalibrationStatus, tolerance: float, source: ToleranceSource) -> bool:
    """True if wrong answers are ordinary for a model with the tolerance that is in force."""
    bound = tolerance
    if calibrated.valid is not None and source is ToleranceSource.CALIBRATED:
        bound = max(bound, calibrated.valid.missed_at_most)
    return bound > WEAK_MODEL_TOLERANCE
