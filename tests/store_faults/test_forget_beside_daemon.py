"""Verifying and forgetting through a daemon that goes on probing, writing and remembering."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.integration.daemons import daemon, eager
from tests.integration.processes import Installation, free_port, install, lab, wait_until

ENOUGH = 60


def exported(installation: Installation, table: str) -> list[dict[str, object]]:
    done = installation.davylamp("export", "--table", table, "--format", "jsonl")
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_tenant_is_forgotten_while_it_is_still_probed(tmp_path: Path) -> None:
    with lab() as endpoint:
        one = eager(install(tmp_path / "one", endpoint))
        one.settings["storage"]["sql"] = {"port": free_port()}
        with daemon(one.write()) as running:
            wait_until(lambda: len(exported(one, "exchanges")) > ENOUGH, 90, "rows in the store")
            before = exported(one, "exchanges")
            tenant = str(before[0]["tenant"])
            own = {str(row["trial"]) for row in before if row["tenant"] == tenant}
            asked = one.davylamp("db", "forget", "--tenant", tenant)
            assert asked.exit_code == 2, asked.output
            assert f"tenant {tenant}, to erase:" in asked.stdout
            assert own <= {str(row["trial"]) for row in exported(one, "exchanges")}
            done = one.davylamp("db", "forget", "--tenant", tenant, "--yes", "--who", "ann")
            assert done.exit_code == 0, done.output
            head = re.findall(r"^head ([0-9a-f]{64})$", done.stdout, re.MULTILINE)[-1]
            for table in ("exchanges", "verdicts", "exchange_verdicts", "signals"):
                assert not own & {str(row["trial"]) for row in exported(one, table)}, table
            assert not own & {str(row["id"]) for row in exported(one, "trials")}
            assert one.davylamp("explain", min(own)).exit_code == 2
            verified = one.davylamp("db", "audit", "--head", head, "--last", "3")
            assert verified.exit_code == 0, verified.output
            assert f"forgotten  tenant {tenant}" in verified.stdout
            [end] = [row for row in exported(one, "audit_log") if row["action"] == "forgotten"]
            assert running.count("davylamp_audit_links") >= int(end["seq"])
            # It goes on: what comes after was not meant.
            wait_until(
                lambda: any(row["tenant"] == tenant for row in exported(one, "exchanges")),
                60,
                "new exchanges of the tenant",
            )
        alone = one.davylamp("db", "audit", "--head", head)
        assert alone.exit_code == 0, alone.output
        assert f"the head you gave is link {end['seq']}" in alone.stdout
        check = one.davylamp("check", "--probe", "canary")
        assert check.exit_code == 0, check.output
