"""How calibrations stand, asked of the daemon that owns the store, else of the store itself."""

from __future__ import annotations

from dataclasses import dataclass

from monitor.app import store_of
from monitor.calibrating import stored_calibrations, uncalibrated
from monitor.clock import Clock
from monitor.config import Config, Target
from monitor.daemon.client import calibration_of_daemon
from monitor.errors import StoreBusyError
from monitor.model import PromptBaseline
from monitor.reports.calibrated import calibrated_lines
from monitor.reports.calibration import CalibrationReport
from monitor.store import owner_of
from monitor.store.store import KEY_FILE


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
    """The golden prompts a target is not asked, as far as that could be read; else why not."""

    prompts: tuple[PromptBaseline, ...] = ()
    notes: tuple[str, ...] = ()


def set_aside(config: Config, targets: tuple[Target, ...], clock: Clock) -> dict[str, SetAside]:
    """Return what the calibrations of these targets set aside; a store in use is only a note."""
    try:
        reports = calibrations_of(config, targets, clock)
    except StoreBusyError as error:
        unread = SetAside(notes=(f"its calibration is not known: {error}",))
        return {each.name: unread for each in targets}
    return {name: _set_aside(report) for name, report in reports.items()}


def _set_aside(report: CalibrationReport) -> SetAside:
    quarantined = report.calibrated.quarantined
    prompts = tuple(
        PromptBaseline(
            name=each.prompt,
            version=each.version,
            asked=each.asked,
            missed=each.missed,
            quarantined=True,
        )
        for each in quarantined
    )
    # What is set aside stands in the plan, one by one.
    others = report.calibrated.model_copy(update={"quarantined": []})
    return SetAside(prompts=prompts, notes=tuple(calibrated_lines(report.target, others)))


def calibrations_of(
    config: Config, targets: tuple[Target, ...], clock: Clock
) -> dict[str, CalibrationReport]:
    """Return how the calibrations of these targets stand, by target.

    Where there is no store yet, none is made for the question. Raises ``StoreBusyError`` if another
    process owns the store and does not answer.
    """
    owner = owner_of(config.storage_path)
    if owner is not None and owner.url is not None:
        return {each.name: calibration_of_daemon(config, owner, each.name) for each in targets}
    if not (config.storage_path / KEY_FILE).exists():
        return {each.name: uncalibrated(config, each, now=clock.now()) for each in targets}
    with store_of(config) as store:
        return stored_calibrations(config, store, targets, now=clock.now())
