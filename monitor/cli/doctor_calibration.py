"""How the calibration of each target stands: one line for each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from monitor.cli.calibrations import calibrations_of
from monitor.cli.doctor_line import Line, Surroundings, fail, ok, warn
from monitor.errors import DavylampError
from monitor.model import CalibrationState, ToleranceSource
from monitor.reports.calibrated import calibrated_lines, percent
from monitor.reports.calibration import CalibrationReport


async def check_calibrations(around: Surroundings) -> AsyncIterator[Line]:
    """Say what each target's answers are held to, and by whom."""
    config = around.config
    try:
        # Off the loop: a store may have to be opened.
        reports = await asyncio.to_thread(calibrations_of, config, config.targets, around.clock)
    except DavylampError as error:
        yield warn("calibrations", f"not read: {error}", "see to the store first")
        return
    for name, report in reports.items():
        yield _line(f"{name} calibration", report)


def _line(what: str, report: CalibrationReport) -> Line:
    calibrated, held = report.calibrated, f"its tolerance is {percent(report.tolerance)}"
    remedy = f"davylamp calibrate {report.target}"
    if calibrated.state == CalibrationState.BROKEN.value:
        words = next(calibrated_lines(report.target, calibrated))
        return fail(what, words, f"{remedy} --replace --reason WHY")
    if calibrated.state == CalibrationState.STALE.value:
        return warn(what, next(calibrated_lines(report.target, calibrated)), remedy)
    if report.tolerance_source == ToleranceSource.CONFIGURED.value:
        return ok(what, f"{held}, as configured")
    if calibrated.state == CalibrationState.NONE.value:
        return ok(what, f"none, so {held}, the default; `{remedy}` measures it")
    aside = len(calibrated.quarantined)
    return ok(what, f"{held}, calibrated {calibrated.made_at:%Y-%m-%d}; {aside} prompts set aside")
