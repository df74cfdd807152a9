"""A fault that leaks text leaks the donor's record in it, and each value of it names its owner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.integration.processes import fault, install, lab

if TYPE_CHECKING:
    from pathlib import Path

    from monitor.reports.check import SignalReport, TargetReport

PROVEN_BITS = 30.0
# As in the standard profile: the third victim is asked for its own customer's address.
TENANT = [{"name": "tenant", "params": {"rounds": 4}}]


def foreign(target: TargetReport) -> list[SignalReport]:
    return [
        signal
        for trial in target.trials
        for exchange in trial.exchanges
        for signal in exchange.signals
        if (signal.code, signal.status) == ("FOREIGN", "fail")
    ]


def test_a_leaked_system_prompt_shows_the_donors_customer(tmp_path: Path) -> None:
    with lab(*fault("system_prompt_of_first")) as endpoint:
        installation = install(tmp_path, endpoint, probes=TENANT)
        run = installation.check()
    assert run.exit_code == 1, run.output
    assert run.target.found[0].verdict_class == "LEAK"
    by_words = {signal.explanation.partition(",")[0]: signal for signal in foreign(run.target)}
    assert "4 of 4 groups (neighbours)" in by_words
    address = by_words["e-mail address (exact)"]
    assert address.variant == "other_tenant"
    assert address.evidence_bits
    assert address.evidence_bits >= PROVEN_BITS
    owners = {(s.owner_tenant, s.owner_trial, s.owner_exchange) for s in foreign(run.target)}
    assert owners == {(address.owner_tenant, address.owner_trial, address.owner_exchange)}
    assert_only_hashes_are_kept(installation.contents())


def assert_only_hashes_are_kept(tables: dict[str, list[list[object]]]) -> None:
    """The store names the kinds of what was planted, and no address is in it in clear."""
    kinds = {str(row[1]) for row in tables["markers"]}
    assert {"name", "email", "card", "phone", "account", "planted", "nonce"} <= kinds
    assert "@example." not in repr(tables)


def test_a_healthy_lab_reads_records_and_answers_from_them(tmp_path: Path) -> None:
    with lab() as endpoint:
        run = install(tmp_path, endpoint, probes=TENANT).check()
    assert run.exit_code == 0, run.output
    assert run.target.answers.wrong == 0
    assert foreign(run.target) == []
