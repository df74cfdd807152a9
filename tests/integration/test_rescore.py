"""What labs answered is kept sealed, and judged again by the same checks comes out the same."""

from __future__ import annotations

import json
import stat
from pathlib import Path

from tests.integration.faults import PROVEN_FOREIGN
from tests.integration.processes import Endpoint, install_all
from tests.integration.rescored import difference, keeping_bodies, pairs


def test_a_healthy_lab_and_a_leaking_one_are_judged_again_as_they_were(
    healthy_lab: Endpoint, leaking_lab: Endpoint, tmp_path: Path
) -> None:
    endpoints = {"healthy": healthy_lab, "leaking": leaking_lab}
    installation = install_all(tmp_path, endpoints)
    private = keeping_bodies(installation)
    checked = installation.check("--probe", "boundary", "--probe", "golden", "--probe", "turns")
    assert checked.exit_code == 1, checked.output
    assert checked.targets["leaking"].found[0].verdict_class in PROVEN_FOREIGN

    out = tmp_path / "rescored.json"
    asked = ("--since", "1h", "--private-key", str(private), "--json", str(out))
    run = installation.davylamp("rescore", *asked)
    assert run.exit_code == 0, run.output
    assert "judged as before" in run.stdout
    report = json.loads(out.read_text("utf-8"))
    trials = {trial.trial for target in checked.report.targets for trial in target.trials}
    assert report["judged"] == report["trials"] == len(trials)
    judged = pairs(installation.store)
    assert {old.trial for old, _ in judged} == trials
    assert not {old.trial: found for old, new in judged if (found := difference(old, new))}
    # Else all this would say nothing.
    assert {new.verdict_class.label for _, new in judged} & set(PROVEN_FOREIGN)
    assert sum(len(new.signals) for _, new in judged) > len(trials)

    # Nothing that was said stands anywhere in clear, nor does the key.
    secrets = {key for endpoint in endpoints.values() for key in endpoint.keys.values()}
    secrets |= {"reference code of this ticket", private.read_text("ascii").splitlines()[1]}
    stored = installation.store_bytes() + run.stdout.encode() + run.stderr.encode()
    stored += out.read_bytes() + checked.stderr.encode()
    assert not [secret for secret in secrets if secret.encode() in stored]
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
