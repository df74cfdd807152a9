"""What a sitting came to, as a report; and how a calibration stands, for ``--show``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from monitor import __version__
from monitor.app import Installation
from monitor.baselines import parts_today
from monitor.calibrating.planning import Sitting
from monitor.calibration import calibrations_in
from monitor.config import Config, Target
from monitor.configured import choices_of, golden_prompts, selected, token_price
from monitor.live import tolerance_in_force
from monitor.model import CalibrationStatus
from monitor.passes import Done
from monitor.probes.base import BudgetKind
from monitor.reports.calibrated import calibrated_report
from monitor.reports.calibration import (
    CalibrationReport,
    CostReport,
    UnhealthyReport,
    baseline_report,
)
from monitor.reports.summary import GOOD_EXIT
from monitor.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """Why a sitting ended before its end, with the trial that showed it if one did."""

    exit_code: int
    words: str
    step: Done | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A sitting at its end. Its calibration is stored unless it was ``stopped``."""

    started_at: datetime
    stopped: Stopped | None
    answers: int
    errors: int
    charged: int
    sitting: Sitting


def report_of(installation: Installation, target: Target, outcome: Outcome) -> CalibrationReport:
    """Return the report of a sitting; what the target is held to is read after it."""
    status = installation.targets[target.name].calibrated
    stopped, sitting = outcome.stopped, outcome.sitting
    notes = [f"not recorded, its budget cannot pay it today: {probe}" for probe in sitting.unpaid]
    shown = _standing(installation.config, target, status, now=installation.clock.now())
    return shown.model_copy(
        update={
            "started_at": outcome.started_at,
            "exit_code": stopped.exit_code if stopped else GOOD_EXIT,
            "reason": f"{stopped.words}; nothing was stored" if stopped else "",
            "answers": outcome.answers,
            "errors": outcome.errors,
            "cost": _cost(installation, target, outcome),
            "unhealthy": _unhealthy(stopped.step) if stopped and stopped.step else None,
            "notes": notes,
        }
    )


def shown_calibration(installation: Installation, name: str) -> CalibrationReport:
    """Return how the calibration of a target stands. Raises ``UsageError`` for an unknown one."""
    (target,) = selected(installation.config, (name,))
    status = installation.baselines.status(target)
    return _standing(installation.config, target, status, now=installation.clock.now())


def stored_calibrations(
    config: Config, store: Store, targets: Sequence[Target], *, now: datetime
) -> dict[str, CalibrationReport]:
    """Return how the calibrations of these targets stand in an open store, by target."""
    calibrations, golden = calibrations_in(store), golden_prompts()
    return {
        target.name: _standing(
            config,
            target,
            calibrations.status(target.name, parts_today(config, target, golden, choices_of)),
            now=now,
        )
        for target in targets
    }


def uncalibrated(config: Config, target: Target, *, now: datetime) -> CalibrationReport:
    """Return what holds for a target of which nothing was ever recorded."""
    return _standing(config, target, CalibrationStatus(), now=now)


def _standing(
    config: Config, target: Target, status: CalibrationStatus, *, now: datetime
) -> CalibrationReport:
    """Return how a target's calibration stands, and which tolerance is in force."""
    tolerance, source = tolerance_in_force(status, config.for_target(target).tolerance)
    return CalibrationReport(
        davylamp_version=__version__,
        configuration_hash=config.hash,
        environment=config.environment,
        target=target.name,
        model=target.model,
        started_at=now,
        finished_at=now,
        exit_code=GOOD_EXIT,
        reason="",
        tolerance=tolerance,
        tolerance_source=source.value,
        calibrated=calibrated_report(status),
        baseline=baseline_report(status.newest) if status.newest else None,
    )


def _cost(installation: Installation, target: Target, outcome: Outcome) -> CostReport:
    left = {r.kind: r.tokens for r in installation.budget.remaining() if r.target == target.name}
    priced = outcome.sitting.price()
    return CostReport(
        priced=priced,
        priced_usd=round(token_price(target).usd(priced), 4) if target.price else None,
        charged=outcome.charged,
        ordinary_left=left.get(BudgetKind.ORDINARY.value, 0),
        boundary_left=left.get(BudgetKind.BOUNDARY.value, 0),
    )


def _unhealthy(step: Done) -> UnhealthyReport:
    verdict = step.verdict
    return UnhealthyReport(
        verdict_class=verdict.verdict_class.label,
        probe=verdict.probe,
        stratum=verdict.stratum,
        words=verdict.reason,
        trial=verdict.trial,
        finding=verdict.finding,
    )
