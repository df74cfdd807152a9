"""``calibrate`` on the lab, as a person meets it: recorded, used, refused, stale, tampered with."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from monitor.reports.calibration import CalibrationReport
from tests.integration.daemons import daemon, idle
from tests.integration.processes import (
    ROOT,
    TARGET,
    Endpoint,
    Installation,
    Run,
    fault,
    install,
    lab,
)

if TYPE_CHECKING:
    from pathlib import Path

FACTS = {"name": "golden", "params": {"suites": ["facts"]}}
SUMS = {"name": "golden", "params": {"suites": ["arithmetic"]}}
CANARY = {"name": "canary", "params": {}}
BOUNDARY = {"name": "boundary", "params": {}}
SAMPLES = "4"
FORGE = """
import sys
from pathlib import Path
from monitor.store import open_store
with open_store(Path(sys.argv[1])) as store:
    store.writer.run(lambda client: client.command(
        "ALTER TABLE calibrations UPDATE tolerance = 0.5 WHERE 1 SETTINGS mutations_sync = 2"))
"""


def calibrate(installation: Installation, *arguments: str) -> Run:
    return installation.davylamp(
        "calibrate", TARGET, "--samples", SAMPLES, "--json", "-", *arguments
    )


def said(run: Run) -> CalibrationReport:
    assert run.stdout.startswith("{"), run.output
    return CalibrationReport.model_validate_json(run.stdout)


@pytest.fixture
def small(healthy_lab: Endpoint, tmp_path: Path) -> Installation:
    """A fresh installation that asks the healthy lab little."""
    return install(tmp_path, healthy_lab, probes=[FACTS, CANARY])


def test_a_healthy_lab_is_calibrated_and_check_uses_it(small: Installation) -> None:
    run = calibrate(small, "--by", "anna", "--reason", "new lab")
    report = said(run)
    assert run.exit_code == report.exit_code == 0, run.output
    assert report.calibrated.made_by == "anna"
    assert report.calibrated.quarantined == []
    assert report.cost is not None
    assert 0 < report.cost.charged <= report.cost.priced
    checked = small.check()
    answers = checked.target.answers
    assert checked.exit_code == 0, checked.output
    assert answers.tolerance_source == "calibrated"
    assert answers.calibrated_at == report.calibrated.made_at
    assert checked.target.calibrated.calibration == report.calibrated.calibration
    shown = small.davylamp("check")
    assert f"calibrated {answers.calibrated_at:%Y-%m-%d}" in shown.stdout
    again = calibrate(small)
    assert again.exit_code == 2
    assert "--replace --reason WHY" in again.stderr


def test_the_price_is_said_first_and_progress_is_shown(small: Installation) -> None:
    run = small.davylamp("calibrate", TARGET, "--samples", "3")
    assert run.exit_code == 0, run.output
    first, *rest = run.stderr.splitlines()
    assert "golden trials (3 a prompt)" in first
    assert "tokens" in first
    assert rest
    assert "CALIBRATED" in run.stdout
    assert "\x1b" not in run.stdout + run.stderr


def test_a_lab_that_is_weak_at_sums_gets_them_set_aside(tmp_path: Path) -> None:
    wrong = [*fault("sums_wobble", rate=1.0)]
    with lab(*wrong) as endpoint:
        weak = install(tmp_path, endpoint, probes=[FACTS, CANARY])
        weak.settings["targets"][0]["probes"] = [{"name": "golden"}, CANARY]
        weak.write()
        report = said(calibrate(weak))
        assert report.exit_code == 0, report
        aside = {each.prompt for each in report.calibrated.quarantined}
        assert aside
        assert all(each.missed == each.asked == 4 for each in report.calibrated.quarantined)
        sums = {name for name in aside if name.startswith("arithmetic/")}
        assert sums
        checked = weak.check("--probe", "golden", "--require-coverage")
        assert checked.exit_code == 0, checked.output
        asked = {e.golden_prompt for t in checked.target.trials for e in t.exchanges}
        assert not asked & aside
        gaps = {g.reason for g in checked.target.not_probed if g.code == "quarantined"}
        assert len(gaps) == len(aside)
        planned = weak.davylamp("plan")
        for name in sums:
            line = f"{name} is quarantined: missed 4 of 4 when calibrated (0 tokens a trial)"
            assert line in planned.stdout


def test_a_lab_that_misses_most_prompts_is_refused(tmp_path: Path) -> None:
    with lab(*fault("sums_wobble", rate=1.0)) as endpoint:
        weak = install(tmp_path, endpoint, probes=[SUMS])
        run = calibrate(weak)
        report = said(run)
        assert run.exit_code == 1, run.output
        assert "more than half" in report.reason
        assert report.calibrated.state == "none"


def test_a_leaking_lab_is_refused_and_the_finding_opened(
    leaking_lab: Endpoint, tmp_path: Path
) -> None:
    leaking = install(tmp_path, leaking_lab, probes=[FACTS, BOUNDARY])
    run = calibrate(leaking)
    report = said(run)
    assert run.exit_code == 1, run.output
    assert report.unhealthy is not None
    assert report.unhealthy.verdict_class == "LEAK"
    assert report.unhealthy.finding
    assert report.calibrated.state == "none"
    assert report.unhealthy.finding in leaking.davylamp("findings", "list").stdout


def test_rate_limits_and_an_empty_purse_store_nothing(
    healthy_lab: Endpoint, tmp_path: Path
) -> None:
    with lab(*fault("burst_429", rate=1.0)) as endpoint:
        limited = said(calibrate(install(tmp_path / "limited", endpoint, probes=[FACTS])))
    assert (limited.exit_code, limited.calibrated.state) == (3, "none")
    assert "rate limited (429)" in limited.reason
    budget = {"daily_budget": {"tokens": 500}}
    poor = said(calibrate(install(tmp_path / "poor", healthy_lab, probes=[FACTS], **budget)))
    assert (poor.exit_code, poor.calibrated.state) == (3, "none")
    assert poor.cost is not None
    assert poor.cost.charged == 0


def test_another_subject_makes_it_stale_and_a_forged_row_is_refused(small: Installation) -> None:
    made = said(calibrate(small))
    assert made.exit_code == 0
    small.settings["targets"][0]["reasoning"] = {"effort": "none"}
    stale = small.write().check("--probe", "canary")
    assert stale.exit_code == 0, stale.output
    assert stale.target.calibrated.state == "stale"
    assert stale.target.calibrated.changed == ["reasoning"]
    assert stale.target.answers.tolerance_source == "default"
    del small.settings["targets"][0]["reasoning"]
    subprocess.run(
        [sys.executable, "-c", FORGE, str(small.store)], cwd=ROOT, check=True, timeout=60
    )
    forged = small.write().check("--probe", "canary")
    assert forged.exit_code == 3, forged.output
    assert forged.target.calibrated.state == "broken"
    assert forged.target.calibrated.broken == [made.calibrated.calibration]
    assert forged.target.answers.tolerance == 0.1
    assert "not what was signed" in forged.stderr
    refused = calibrate(small)
    assert refused.exit_code == 2
    anew = said(calibrate(small, "--replace", "--reason", "the row was forged"))
    assert (anew.exit_code, anew.calibrated.state) == (0, "valid")


def test_beside_a_daemon_it_is_the_daemon_that_calibrates(
    healthy_lab: Endpoint, tmp_path: Path
) -> None:
    watched = idle(install(tmp_path, healthy_lab, probes=[FACTS, CANARY]))
    with daemon(watched) as running:
        labels = {"target": TARGET, "state": "valid"}
        assert running.count("davylamp_calibration", **labels) == 0
        report = said(calibrate(watched, "--by", "anna"))
        assert report.exit_code == 0
        assert running.count("davylamp_calibration", **labels) == 1
        checked = watched.check("--probe", "canary")
        assert checked.target.answers.tolerance_source == "calibrated"
        shown = watched.davylamp("calibrate", TARGET, "--show")
        assert "VALID" in shown.stdout
        assert "by anna" in shown.stdout
