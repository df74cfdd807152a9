"""Each fault of the lab: HTTP says 200, and ``check`` says what is wrong and exits 1."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from monitor.lab.mechanisms.nodes import NODE_FAULTS
from tests.integration.faults import FAULTS, NULLS, PROVEN_FOREIGN, Case
from tests.integration.processes import ROOT, check_all, fault, install, lab

if TYPE_CHECKING:
    from pathlib import Path

    from monitor.reports.check import ExchangeReport, FoundReport, SignalReport, TargetReport

PROVEN_BITS = 30.0
INCIDENT = [case for case in FAULTS if case.fault == "overlength_placeholder"]


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TargetReport]:
    """Runs of ``check`` over a lab for each fault, each a target of its own."""
    targets = {
        case.target: (
            [*fault(case.fault, **case.parameters), *case.pace],
            {"probes": case.chosen()},
        )
        for case in FAULTS
    }
    return check_all(tmp_path_factory.mktemp("faults"), targets)


@pytest.mark.parametrize("case", FAULTS, ids=lambda case: case.label)
def test_a_fault_is_caught_behind_200s(case: Case, everything: dict[str, TargetReport]) -> None:
    target = everything[case.target]
    assert target.exit_code == 1
    said = [found for found in target.found if found.verdict_class in case.classes]
    assert said, [(found.verdict_class, found.probe) for found in target.found]
    if case.probe:
        assert case.probe in {found.probe for found in said}
    if case.classes == ("WRONG",):
        assert target.answers.exceeded
    assert statuses(target) == {200}
    for found in target.found:
        if found.verdict_class in PROVEN_FOREIGN:
            assert_the_owner_is_real(target, found)


@pytest.mark.parametrize("case", INCIDENT, ids=lambda case: case.label)
def test_the_incident_is_proven_with_its_owner_and_its_place(case: Case, tmp_path: Path) -> None:
    with lab(*fault(case.fault, **case.parameters)) as endpoint:
        run = install(tmp_path, endpoint).check("--probe", "boundary")
    assert run.exit_code == 1, run.output
    target = run.target
    worst = target.found[0]
    assert worst.verdict_class == "LEAK"
    assert (worst.probe, worst.stratum) == ("boundary", "under-4096/c1/cold/plain/pair")
    assert worst.limit_tokens == 4096
    assert worst.size_tokens
    assert worst.size_tokens < 4096
    assert worst.evidence_bits
    assert worst.evidence_bits >= PROVEN_BITS
    assert worst.request_id
    assert worst.http_status == 200
    assert worst.finding
    assert [finding.finding for finding in target.open_findings] == [worst.finding]
    assert target.answers.proven == 1
    assert_the_owner_is_real(target, worst)
    victim = exchange_of(target, worst.trial, worst.exchange)
    # What the client is told of the prompt's tokens: all of them, or the placeholder's one.
    if case.parameters.get("usage") != "prefill":
        assert victim.input_tokens
        assert abs(victim.input_tokens - worst.size_tokens) <= (worst.size_error_tokens or 0)
    else:
        assert victim.input_tokens == 1
        assert "USAGE_IN" in {s.code for s in victim.signals if s.status == "fail"}


def test_every_fault_and_null_of_the_lab_has_a_case() -> None:
    listed = subprocess.run(
        [sys.executable, "-m", "monitor.lab", "--list-faults"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    names = {line.split(":")[0].strip() for line in listed.stdout.splitlines() if ": " in line}
    shown_by_nodes = {each.name for each in NODE_FAULTS}
    assert names == {case.fault for case in (*FAULTS, *NULLS)} | shown_by_nodes


def statuses(target: TargetReport) -> set[int | None]:
    """Return the status codes of all exchanges but those refused or that we broke off."""
    return {
        exchange.http_status
        for trial in target.trials
        for exchange in trial.exchanges
        if not exchange.refused and exchange.failure != "cancelled"
    }


def exchange_of(target: TargetReport, trial_id: str, index: int) -> ExchangeReport:
    (trial,) = [trial for trial in target.trials if trial.trial == trial_id]
    return trial.exchanges[index]


def assert_the_owner_is_real(target: TargetReport, found: FoundReport) -> None:
    """The signal's owner is the very exchange that was given the marker, of the right tenant."""
    victim = exchange_of(target, found.trial, found.exchange)
    assert victim.tenant == found.tenant
    proving = [signal for signal in victim.signals if proves(signal, found)]
    assert proving
    for signal in proving:
        assert signal.evidence_bits
        assert signal.evidence_bits >= PROVEN_BITS
        assert signal.owner_trial
        assert signal.owner_exchange is not None
        assert (signal.owner_trial, signal.owner_exchange) != (found.trial, found.exchange)
        owner = exchange_of(target, signal.owner_trial, signal.owner_exchange)
        assert owner.tenant == signal.owner_tenant == found.owner_tenant
        assert (owner.tenant != victim.tenant) == (found.verdict_class == "LEAK")


def proves(signal: SignalReport, found: FoundReport) -> bool:
    """Return whether the signal is the one that the finding's bits are taken from."""
    return signal.status == "fail" and signal.evidence_bits == found.evidence_bits
