"""How a target's calibration stands, as a record and in words."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.model import CalibrationState, CalibrationStatus, ToleranceSource
from monitor.reports.check import AnswersReport, CalibratedReport, QuarantinedReport

_SHOWN_QUARANTINED = 8


def calibrated_report(status: CalibrationStatus) -> CalibratedReport:
    """Return the record of how a calibration stands."""
    newest, valid = status.newest, status.valid
    return CalibratedReport(
        state=status.state.value,
        calibration=newest.id if newest else None,
        made_at=newest.made_at if newest else None,
        made_by=newest.made_by if newest else None,
        reason=newest.reason if newest else None,
        changed=list(status.changed),
        broken=list(status.broken),
        quarantined=[
            QuarantinedReport(
                prompt=prompt.name,
                version=prompt.version,
                asked=prompt.asked,
                missed=prompt.missed,
            )
            for prompt in (valid.quarantined if valid else ())
        ],
    )


def tolerance_words(answers: AnswersReport) -> str:
    """Return the tolerance in percent and who says it: ``6.1%, calibrated 2026-11-29``."""
    if answers.calibrated_at is not None:
        source = f"calibrated {answers.calibrated_at:%Y-%m-%d}"
    elif answers.tolerance_source == ToleranceSource.CONFIGURED.value:
        source = "as configured"
    else:
        source = "the default"
    return f"{percent(answers.tolerance)}, {source}"


def percent(share: float) -> str:
    """Return a share in percent with at most one digit after the point: ``10%``, ``6.1%``."""
    return f"{share * 100:.1f}".removesuffix(".0") + "%"


def calibrated_lines(target: str, calibrated: CalibratedReport) -> Iterator[str]:
    """Yield what is to be known of a calibration that is not simply there and in use."""
    made = f"{calibrated.made_at:%Y-%m-%d}" if calibrated.made_at else ""
    remedy = f"davylamp calibrate {target}"
    if calibrated.state == CalibrationState.STALE.value:
        changed = ", ".join(calibrated.changed).replace("_", " ")
        yield f"the calibration of {made} is stale ({changed} changed), so not used: `{remedy}`"
    elif calibrated.state == CalibrationState.BROKEN.value:
        yield (
            f"calibration {calibrated.broken[0]} is not what was signed, so none is used: "
            f"`{remedy} --replace --reason WHY`"
        )
    elif calibrated.broken:
        count = len(calibrated.broken)
        yield f"{count} older calibration{'' if count == 1 else 's'} not what was signed: not used"
    quarantined = calibrated.quarantined
    if quarantined:
        names = [f"{q.prompt} ({q.missed} of {q.asked})" for q in quarantined]
        more = len(names) - _SHOWN_QUARANTINED
        rest = f" and {more} more" if more > 0 else ""
        prompts = "golden prompt" if len(names) == 1 else "golden prompts"
        yield (
            f"{len(names)} {prompts} set aside, missed when calibrated: "
            f"{', '.join(names[:_SHOWN_QUARANTINED])}{rest}"
        )
