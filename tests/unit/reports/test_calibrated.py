"""What is said of a tolerance and of the calibration it comes from, in check and in calibrate."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from monitor.conventions import NotProbed as Code
from monitor.model import (
    Calibration,
    CalibrationState,
    CalibrationStatus,
    GroupBaseline,
    PromptBaseline,
)
from monitor.planning import NotProbed
from monitor.probes.base import Price
from monitor.reports.calibrated import calibrated_report, percent
from monitor.reports.calibration import CalibrationReport, baseline_report, render_calibration
from monitor.reports.check import CheckReport
from monitor.reports.terminal import render
from tests.builders import Bench, an_exchange
from tests.unit.reports.test_check_report import a_live_target, done, report

MADE = Calibration(
    id="calibration-1",
    target="glm",
    model="glm-5.3",
    made_at=datetime(2026, 11, 29, tzinfo=UTC),
    made_by="anna",
    reason="first",
    subject="a",
    checks_version="2",
    tolerance=0.0612,
    margin=0.02,
    groups=(GroupBaseline(probe="canary", group="", judged=90, failed=2, tolerance=0.0612),),
    prompts=(
        PromptBaseline(name="facts/a", version="v", asked=10, missed=9, quarantined=True),
        PromptBaseline(name="facts/b", version="v", asked=10, missed=0),
    ),
)
VALID = CalibrationStatus(state=CalibrationState.VALID, newest=MADE)
STALE = CalibrationStatus(state=CalibrationState.STALE, newest=MADE, changed=("base_url", "model"))
BROKEN = CalibrationStatus(state=CalibrationState.BROKEN, broken=("calibration-7",))
NONE = CalibrationStatus()


def checked(
    status: CalibrationStatus, configured: float | None = None, **context: Any
) -> CheckReport:
    """Return the report of a pass with one good answer."""
    bench = Bench()
    nonce = bench.mint("tenant-b")
    live = a_live_target()
    live.hold_to(status, configured)
    return report(done(bench, an_exchange(nonce, nonce, nonce=nonce)), live=live, **context)


def shown(*args: Any, **context: Any) -> str:
    return "\n".join(render(checked(*args, **context)))


@pytest.mark.parametrize(
    ("status", "configured", "words", "source"),
    [
        (VALID, None, "tolerance 6.1%, calibrated 2026-11-29", "calibrated"),
        (VALID, 0.05, "tolerance 5%, as configured", "configured"),
        (NONE, 0.1, "tolerance 10%, as configured", "configured"),
        (NONE, None, "tolerance 10%, the default", "default"),
        (STALE, None, "tolerance 10%, the default", "default"),
        (BROKEN, None, "tolerance 10%, the default", "default"),
    ],
)
def test_every_result_says_which_tolerance_and_whose(
    status: CalibrationStatus, configured: float | None, words: str, source: str
) -> None:
    assert words in shown(status, configured)
    answers = checked(status, configured).targets[0].answers
    assert answers.tolerance_source == source
    assert (answers.calibrated_at is not None) is (source == "calibrated")
    assert bool(answers.group_tolerances) is (source == "calibrated")


def test_a_stale_one_is_shown_with_what_changed_and_changes_no_exit() -> None:
    assert "stale (base url, model changed), so not used: `davylamp calibrate" in shown(STALE)
    found = checked(STALE)
    assert found.exit_code == 0
    assert found.targets[0].calibrated.state == "stale"
    assert found.targets[0].calibrated.changed == ["base_url", "model"]
    assert found.targets[0].calibrated.quarantined == []


def test_a_broken_one_is_loud_and_never_green() -> None:
    found = checked(BROKEN)
    assert found.exit_code == 3
    assert found.targets[0].calibrated.broken == ["calibration-7"]
    assert "calibration-7 is not what was signed, so none is used" in shown(BROKEN)


def test_an_older_broken_one_beside_a_valid_one_is_said() -> None:
    status = CalibrationStatus(state=CalibrationState.VALID, newest=MADE, broken=("calibration-0",))
    assert checked(status).exit_code == 0
    assert "1 older calibration not what was signed" in shown(status)


def test_what_is_set_aside_is_said_and_is_no_gap_in_coverage() -> None:
    gap = NotProbed(
        probe="golden",
        stratum="short/c1/cold/plain/one",
        code=Code.QUARANTINED,
        reason="facts/a is quarantined: missed 9 of 10 when calibrated",
        price=Price(refused_tokens=0, answered_tokens=0),
    )
    found = checked(VALID, not_probed=(gap,), require_coverage=True)
    assert found.exit_code == 0
    target = found.targets[0]
    assert target.not_probed[0].answered_tokens == 0
    (aside,) = target.calibrated.quarantined
    assert (aside.prompt, aside.asked, aside.missed) == ("facts/a", 10, 9)
    text = shown(VALID, not_probed=(gap,), require_coverage=True)
    assert "1 golden prompt set aside, missed when calibrated: facts/a (9 of 10)" in text
    assert "NOT PROBED" not in text


@pytest.mark.parametrize(
    ("status", "tolerance", "source", "label"),
    [
        (VALID, 0.0612, "calibrated", "TOLERANCE"),
        (VALID, 0.05, "configured", "NOT USED"),
        (STALE, 0.1, "default", "NOT USED"),
    ],
)
def test_tolerances_that_are_not_in_force_are_not_shown_as_if_they_were(
    status: CalibrationStatus, tolerance: float, source: str, label: str
) -> None:
    shown = CalibrationReport(
        davylamp_version="0",
        configuration_hash="a",
        environment="test",
        target="glm",
        model="glm-5.3",
        started_at=MADE.made_at,
        finished_at=MADE.made_at,
        exit_code=0,
        reason="",
        tolerance=tolerance,
        tolerance_source=source,
        calibrated=calibrated_report(status),
        baseline=baseline_report(MADE),
    )
    labels = [line[2:14].strip() for line in render_calibration(shown)]
    assert [each for each in labels if each in ("TOLERANCE", "NOT USED")] == [label]
    how = "6.1% of all answers: the upper bound at 95% and a margin of 2 points"
    assert f"  {label:<12}{how}" in render_calibration(shown)


@pytest.mark.parametrize(
    ("share", "words"), [(0.1, "10%"), (0.0612, "6.1%"), (0.0, "0%"), (1.0, "100%")]
)
def test_percent(share: float, words: str) -> None:
    assert percent(share) == words
