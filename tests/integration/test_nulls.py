"""Each peculiarity of a healthy service stays silent: no finding, and never exit 1."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.faults import NULLS, Case
from tests.integration.processes import Run, fault, install, lab

if TYPE_CHECKING:
    from pathlib import Path

    from monitor.reports.check import TargetReport

SEEDS = (1, 2, 3)
QUIET = {"none", "WRONG", "SUSPECT"}
UNSURE = {"burst_429", "burst_5xx"}


def accepted(*, days: int) -> dict[str, Any]:
    """Return an ``overflow`` that accepts truncation for so many days from now."""
    expires = datetime.now(UTC).date() + timedelta(days=days)
    truncate = {"owner": "serving", "reason": "documented", "expires": expires.isoformat()}
    return {"overflow": {"truncate": truncate}}


def run_null(name: str, folder: Path, **target: Any) -> Run:
    with lab(*fault(name)) as endpoint:
        return install(folder, endpoint, **target).check("--profile", "quick")


def assert_silent(target: TargetReport) -> None:
    """Nothing is said, nothing is opened; a mistake or two may lie within the tolerance."""
    assert {found.verdict_class for found in target.found} <= QUIET, target.found
    assert not target.answers.exceeded
    assert target.answers.proven == 0
    assert target.open_findings == []


@pytest.mark.parametrize("case", NULLS, ids=lambda case: case.label)
def test_a_null_stays_silent(case: Case, tmp_path: Path) -> None:
    overflow = accepted(days=30) if case.fault == "truncate" else {}
    run = run_null(case.fault, tmp_path, **overflow)
    assert_silent(run.target)
    assert run.exit_code == (3 if case.fault in UNSURE else 0), run.output


@pytest.mark.parametrize("seed", SEEDS)
def test_a_healthy_lab_is_good(seed: int, tmp_path: Path) -> None:
    with lab(seed=seed) as endpoint:
        run = install(tmp_path, endpoint).check("--profile", "quick")
    assert run.exit_code == 0, run.output
    assert_silent(run.target)
    assert run.target.answers.wrong == 0, run.target.found


def test_a_healthy_lab_is_good_in_the_standard_profile(tmp_path: Path) -> None:
    with lab(seed=4) as endpoint:
        run = install(tmp_path, endpoint).check("--profile", "standard")
    assert run.exit_code == 0, run.output
    assert_silent(run.target)
    assert run.target.answers.wrong == 0, run.target.found


def test_quick_stays_within_its_price(tmp_path: Path) -> None:
    with lab() as endpoint:
        target = install(tmp_path, endpoint).check("--profile", "quick").target
    assert target.tokens.input < 20_000
    assert target.not_probed == []


def test_a_truncation_nobody_accepts_is_wrong_input(tmp_path: Path) -> None:
    run = run_null("truncate", tmp_path)
    assert run.exit_code == 1, run.output
    assert run.target.found[0].verdict_class == "WRONG_INPUT"


def test_an_expired_acceptance_alerts_again_and_says_so(tmp_path: Path) -> None:
    run = run_null("truncate", tmp_path, **accepted(days=-1))
    assert run.exit_code == 1, run.output
    assert run.target.found[0].verdict_class == "WRONG_INPUT"
    assert any("expired" in note and "serving" in note for note in run.target.notes)
