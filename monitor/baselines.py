"""What the answers of each target are held against: its calibration as it stands, or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from monitor.calibration import calibrations_in, subject_parts
from monitor.checks import CHECKS_VERSION
from monitor.config import Config, Target
from monitor.live import LiveTarget
from monitor.model import CalibrationStatus
from monitor.planning import ProbeChoice
from monitor.prompts import GoldenPrompt
from monitor.sinks import PrometheusSink
from monitor.store import Store

Choose = Callable[[Config, Target], tuple[ProbeChoice, ...]]


class Baselines:
    """Holds live targets to the calibrations of one installation, and shows how those stand."""

    def __init__(
        self,
        config: Config,
        golden: Mapping[str, GoldenPrompt],
        choose: Choose,
        store: Store,
        counters: PrometheusSink,
    ) -> None:
        self._config = config
        self._golden = golden
        self._choose = choose
        self._counters = counters
        self.calibrations = calibrations_in(store)

    def parts(self, target: Target) -> tuple[tuple[str, str], ...]:
        """Return the digests of what the target's answers depend on today."""
        return parts_today(self._config, target, self._golden, self._choose)

    def status(self, target: Target) -> CalibrationStatus:
        """Return how the target's calibration stands, read from the store now."""
        return self.calibrations.status(target.name, self.parts(target))

    def hold(self, live: LiveTarget) -> None:
        """Hold a target to its calibration as the store has it now, and show that as metrics."""
        target = self._config.target(live.view.name)
        if target is not None:
            self._hold(live, target, self.status(target))

    def hold_all(self, targets: Mapping[str, LiveTarget]) -> None:
        """Hold every target to its calibration; those that have none cost nothing to look up."""
        recorded = self.calibrations.targets()
        for target in self._config.targets:
            known = target.name in recorded
            status = self.status(target) if known else CalibrationStatus()
            self._hold(targets[target.name], target, status)

    def _hold(self, live: LiveTarget, target: Target, status: CalibrationStatus) -> None:
        live.hold_to(status, self._config.for_target(target).tolerance)
        aside = len(live.view.quarantined)
        self._counters.set_calibration(target.name, live.calibrated.state, aside)


def held(targets: Mapping[str, LiveTarget], baselines: Baselines) -> Baselines:
    """Hold every target to its calibration; return what does that again when one is made."""
    baselines.hold_all(targets)
    return baselines


def parts_today(
    config: Config, target: Target, golden: Mapping[str, GoldenPrompt], choose: Choose
) -> tuple[tuple[str, str], ...]:
    """Return the digests of what a target's answers depend on by its configuration."""
    probes = {c.name: c.params.model_dump(mode="json") for c in choose(config, target)}
    return subject_parts(config, target, golden, checks_version=CHECKS_VERSION, probes=probes)
