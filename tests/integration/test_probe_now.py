"""``probe now`` and ``plan`` as commands: alone, beside a daemon, and against what is spent."""

from __future__ import annotations

import json
from pathlib import Path

import httpx

from tests.integration.daemons import daemon, idle
from tests.integration.processes import TARGET, Endpoint, install


def test_probe_now_alone_raises_the_rates_of_a_daemon_that_starts_later(
    healthy_lab: Endpoint, tmp_path: Path
) -> None:
    installation = idle(install(tmp_path, healthy_lab))
    ran = installation.davylamp("probe", "now", TARGET, "--probe", "canary", "--json", "-")
    assert ran.exit_code == 0, ran.output
    assert {cell.probe for cell in ran.target.unseen} == {"canary"}
    rows = installation.contents()["schedule_events"]
    assert [TARGET, "", "deploy", 1] in [row[2:] for row in rows]


def test_a_webhook_and_a_command_beside_the_daemon(healthy_lab: Endpoint, tmp_path: Path) -> None:
    installation = idle(install(tmp_path, healthy_lab))
    with daemon(installation) as running:
        url, body = f"{running.url}/api/probe-now", {"target": TARGET, "probes": ["canary"]}
        assert running.get("/api/probe-now").status_code == 405
        refused = httpx.post(url, json=body, trust_env=False, timeout=5.0)
        assert refused.status_code == 401
        token = (installation.store / "api.token").read_text("ascii").strip()
        headers = {"Authorization": f"Bearer {token}"}
        unknown = body | {"probes": ["canery"]}
        refused = httpx.post(url, json=unknown, headers=headers, trust_env=False, timeout=5.0)
        assert refused.status_code == 404
        assert "no probe 'canery'" in refused.json()["error"]
        asked = httpx.post(url, json=body, headers=headers, trust_env=False, timeout=5.0)
        assert asked.status_code == 202
        ran = installation.davylamp("probe", "now", TARGET, "--probe", "canary", "--json", "-")
        assert ran.exit_code == 0, ran.output
        assert running.count("davylamp_target_changes_total", kind="deploy") == 1


def test_plan_reads_the_limits_of_a_target_and_sends_it_nothing_else(
    healthy_lab: Endpoint, tmp_path: Path
) -> None:
    installation = install(tmp_path, healthy_lab, gentle=False)
    planned = installation.davylamp("plan", "--json", "-", "--profile", "quick")
    assert planned.exit_code == 0, planned.output
    (told,) = json.loads(planned.stdout)["targets"]
    assert {"golden", "canary", "boundary"} <= {each["probe"] for each in told["strata"]}
    assert told["budgets"]["boundary"]["answered_tokens"] <= 8_000_000
