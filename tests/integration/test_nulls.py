"""Each peculiarity of a healthy service stays silent: no finding, and never exit 1."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.faults import NULLS, Case
from tests.integration.processes import check_all, fault

if TYPE_CHECKING:
    from monitor.reports.check import TargetReport

SEEDS = (1, 2, 3)
QUIET = {"none", "WRONG", "SUSPECT"}
UNSURE = {"burst_429", "burst_5xx"}
MOST_QUICK_TOKENS = 28_000  # the most that its random parts may come to


def accepted(*, days: int) -> dict[str, Any]:
    """Return an ``overflow`` that accepts truncation for so many days from now."""
    expires = datetime.now(UTC).date() + timedelta(days=days)
    truncate = {"owner": "serving", "reason": "documented", "expires": expires.isoformat()}
    return {"overflow": {"truncate": truncate}}


# What is switched on in a lab, and what its target's configuration adds.
TARGETS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "healthy-standard": (["--seed", "4"], {"probes": "standard"}),
    **{case.target: (fault(case.fault), {}) for case in NULLS},
    "truncate": (fault("truncate"), accepted(days=30)),
    "truncate-refused": (fault("truncate"), {}),
    "truncate-expired": (fault("truncate"), accepted(days=-1)),
    **{f"healthy-{seed}": (["--seed", str(seed)], {}) for seed in SEEDS},
}


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TargetReport]:
    """Runs of ``check`` over a lab for each, each a target of its own."""
    return check_all(tmp_path_factory.mktemp("nulls"), TARGETS)


def assert_silent(target: TargetReport) -> None:
    """Nothing is said, nothing is opened; a mistake or two may lie within the tolerance."""
    said = [(found.verdict_class, found.probe, found.words) for found in target.found]
    assert {verdict_class for verdict_class, _, _ in said} <= QUIET, said
    assert not target.answers.exceeded, said
    assert target.answers.proven == 0
    assert target.open_findings == []


@pytest.mark.parametrize("case", NULLS, ids=lambda case: case.label)
def test_a_null_stays_silent(case: Case, everything: dict[str, TargetReport]) -> None:
    target = everything[case.target]
    assert_silent(target)
    assert target.exit_code == (3 if case.fault in UNSURE else 0)


@pytest.mark.parametrize("name", [name for name in TARGETS if name.startswith("healthy")])
def test_a_healthy_lab_is_good(name: str, everything: dict[str, TargetReport]) -> None:
    target = everything[name]
    assert_silent(target)
    assert target.exit_code == 0
    wrong = [
        (exchange.golden_prompt, exchange.reason)
        for trial in target.trials
        for exchange in trial.exchanges
        if exchange.outcome != "good"
    ]
    assert wrong == []
    assert target.not_probed == []


def test_quick_stays_within_its_price(everything: dict[str, TargetReport]) -> None:
    assert everything["healthy-1"].tokens.input < MOST_QUICK_TOKENS


@pytest.mark.parametrize("name", ["truncate-refused", "truncate-expired"])
def test_a_truncation_nobody_accepts_is_wrong_input(
    name: str, everything: dict[str, TargetReport]
) -> None:
    target = everything[name]
    assert target.exit_code == 1
    assert target.found[0].verdict_class == "WRONG_INPUT"


def test_an_expired_acceptance_is_said(everything: dict[str, TargetReport]) -> None:
    notes = everything["truncate-expired"].notes
    assert any("expired" in note and "serving" in note for note in notes)
    assert everything["truncate"].notes == []
