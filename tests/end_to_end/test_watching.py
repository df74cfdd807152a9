"""The daemon watches a target that decays: an alarm, which a killed process does not forget."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

from monitor.reports.evidence import EvidenceReport
from tests.integration.daemons import Daemon, daemon, eager
from tests.integration.processes import TARGET, Installation, fault, install, lab, wait_until

ALARM_SECONDS = 90.0
QUIET_SCORES = 16
STOP_SECONDS = 40.0
PROBES = [{"name": "golden", "interval": "1s"}, {"name": "canary", "interval": "1s"}]


def paged(running: Daemon) -> dict[tuple[str, ...], float]:
    """Return the streams of tolerated failures whose page is active, each with its alarms."""
    labels = {"lane": "tolerated", "tier": "page"}
    names = ("probe", "stratum")
    active = {
        tuple(found[name] for name in names)
        for found, value in running.samples("davylamp_alarm_active")
        if labels.items() <= found.items() and value == 1
    }
    return {
        place: value
        for found, value in running.samples("davylamp_alarms_total")
        if labels.items() <= found.items() and (place := tuple(found[n] for n in names)) in active
    }


def shown(installation: Installation) -> EvidenceReport:
    run = installation.davylamp("evidence", "show", TARGET, "--json", "-")
    assert run.stdout.startswith("{"), run.output
    report = EvidenceReport.model_validate(json.loads(run.stdout))
    assert run.exit_code == report.exit_code
    return report


def test_a_decay_is_an_alarm_that_survives_a_killed_process(tmp_path: Path) -> None:
    with lab(*fault("decay", pace=1.0, positions=32)) as endpoint:
        installation = eager(install(tmp_path, endpoint, probes=PROBES))
        # A false page a day would be allowed: thresholds are 90 times nearer.
        installation.settings["detection"] = {"false_page_every": "1d", "false_ticket_every": "1d"}
        with daemon(installation) as running:
            before = wait_until(lambda: paged(running), ALARM_SECONDS, "a page")
            wait_until(
                lambda: running.count("davylamp_findings_open", **{"class": "DRIFT"}),
                ALARM_SECONDS,
                "a finding that outputs moved",
            )
            live = shown(installation)
            os.kill(running.process.pid, signal.SIGKILL)
            running.process.wait(STOP_SECONDS)
        assert live.live
        assert live.exit_code == 1
        worst = live.streams[0]
        assert worst.alarm
        assert worst.alarm.raised_at >= worst.alarm.began_at
        kept = shown(installation)
        assert not kept.live
        assert {s.lane for s in kept.streams if s.alarm} >= {"tolerated", "trend"}
        with daemon(installation) as again:
            after = paged(again)
            assert after.keys() >= before.keys()
            assert all(after[place] >= alarms for place, alarms in before.items())
            assert again.count("davylamp_detector_states_refused_total") == 0
            probe, stratum = next(iter(before))
            place = ("--lane", "tolerated", "--probe", probe, "--stratum", stratum)
            resolve = ("evidence", "resolve", TARGET, *place, "--who", "ann", "--why", "known")
            ended = installation.davylamp(*resolve)
            assert ended.exit_code == 0, ended.output
            assert f"{probe} {stratum} tolerated is over" in ended.stdout
            wait_until(
                lambda: f"the alarm of {TARGET} {probe} {stratum}" in again.log.read_text("utf-8"),
                STOP_SECONDS,
                "a line in the daemon's log",
            )
            again.process.send_signal(signal.SIGTERM)
            assert again.process.wait(STOP_SECONDS) == 0
        assert "Traceback" not in again.log.read_text("utf-8")


def test_a_healthy_target_raises_none(healthy: Installation) -> None:
    healthy.settings["targets"][0]["probes"] = PROBES
    with daemon(eager(healthy)) as running:
        wait_until(
            lambda: running.count("davylamp_stream_scores_total", lane="tolerated") > QUIET_SCORES,
            ALARM_SECONDS,
            "scores",
        )
        assert {value for _, value in running.samples("davylamp_alarm_active")} == {0.0}
        assert running.count("davylamp_findings_open") == 0
        report = shown(healthy)
    assert report.exit_code == 0
    assert report.streams
