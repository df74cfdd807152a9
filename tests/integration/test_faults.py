"""Each fault of the lab: HTTP says 200, and ``check`` says what is wrong and exits 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.integration.faults import FAULTS, PROVEN_FOREIGN, Case
from tests.integration.processes import ROOT, Run, fault, install, lab

if TYPE_CHECKING:
    from pathlib import Path

    from monitor.reports.check import ExchangeReport, FoundReport, SignalReport, TargetReport

PROVEN_BITS = 30.0
INCIDENT = [case for case in FAULTS if case.fault == "overlength_placeholder"]


Runner = Callable[[Case], Run]


def run_case(case: Case, folder: Path) -> Run:
    with lab(*fault(case.fault, **case.parameters)) as endpoint:
        return install(folder, endpoint).check("--profile", case.profile)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Return a function that runs each case once for all tests."""
    done: dict[str, Run] = {}

    def run(case: Case) -> Run:
        if case.label not in done:
            done[case.label] = run_case(case, tmp_path_factory.mktemp("fault"))
        return done[case.label]

    return run


@pytest.mark.parametrize("case", FAULTS, ids=lambda case: case.label)
def test_a_fault_is_caught_behind_200s(case: Case, runs: Runner) -> None:
    run = runs(case)
    assert run.exit_code == 1, run.output
    target = run.target
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
def test_the_incident_is_proven_with_its_owner_and_its_place(case: Case, runs: Runner) -> None:
    target = runs(case).target
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
    victim = exchange_of(target, worst.trial, worst.exchange)
    # What the client is told of the prompt's tokens: all of them, or the placeholder's one.
    if case.parameters.get("usage") != "prefill":
        assert victim.input_tokens
        assert abs(victim.input_tokens - worst.size_tokens) <= (worst.size_error_tokens or 0)
    else:
        assert victim.input_tokens == 1
        assert "USAGE_IN" in {s.code for s in victim.signals if s.status == "fail"}


def test_every_fault_of_the_lab_has_a_case() -> None:
    listed = (ROOT / "monitor/lab/mechanisms/catalogue.py").read_text("utf-8")
    for case in FAULTS:
        assert case.fault.upper() in listed


def statuses(target: TargetReport) -> set[int | None]:
    """Return the status codes of all exchanges but those refused as too long."""
    return {
        exchange.http_status
        for trial in target.trials
        for exchange in trial.exchanges
        if not exchange.refused
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
