"""Whatever is wrong with a server: judged again by the same checks, it is judged the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.faults import FAULTS, NULLS, Case
from tests.integration.processes import LABS_AT_ONCE, fault, install_all, labs
from tests.integration.rescored import difference, keeping_bodies, pairs

# All of them take five minutes.
CASES = (*FAULTS, *NULLS)[::3]
GROUPS = [CASES[start : start + LABS_AT_ONCE] for start in range(0, len(CASES), LABS_AT_ONCE)]


@pytest.mark.parametrize(
    "cases", GROUPS, ids=lambda cases: f"{cases[0].fault} and {len(cases) - 1}"
)
def test_every_verdict_comes_out_the_same(cases: tuple[Case, ...], tmp_path: Path) -> None:
    arguments = {case.target: fault(case.fault, **case.parameters) for case in cases}
    more = {case.target: {"probes": case.chosen()} for case in cases}
    with labs(arguments) as endpoints:
        installation = install_all(tmp_path, endpoints, **more)
        private = keeping_bodies(installation)
        checked = installation.check()
    assert checked.exit_code in (0, 1, 3), checked.output
    run = installation.davylamp(
        "rescore", "--since", "1h", "--private-key", str(private), "--json", "-"
    )
    report = json.loads(run.stdout)
    asked = sum(len(target.trials) for target in checked.report.targets)
    assert report["judged"] == report["trials"] == asked > len(cases)
    different = {old.trial: difference(old, new) for old, new in pairs(installation.store)}
    assert len(different) == asked
    assert not {trial: found for trial, found in different.items() if found}
    assert (report["changed"], report["signals_only"], report["uncovered"]) == ([], 0, 0)
    assert run.exit_code == 0, run.output
