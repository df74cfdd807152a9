"""The daemon as a process: what it serves, what it finds by itself, and how it ends."""

from __future__ import annotations

import os
import re
import signal
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from monitor.reports.check import CheckReport
from tests.integration.daemons import Daemon, daemon, eager, idle
from tests.integration.processes import (
    TARGET,
    Endpoint,
    Installation,
    fault,
    free_port,
    install,
    lab,
    resident_bytes,
    wait_until,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

FIND_SECONDS = 60.0
STOP_SECONDS = 40.0
IDLE_BYTES = 500_000_000


@pytest.fixture(scope="module")
def idler(
    healthy_lab: Endpoint, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Daemon, Installation]]:
    """A daemon that probes nothing by itself, shared by the tests that only look at it."""
    installation = idle(install(tmp_path_factory.mktemp("idle"), healthy_lab))
    with daemon(installation) as running:
        yield running, installation


Idler = tuple[Daemon, Installation]


def test_metrics_start_at_zero_with_build_and_configuration(idler: Idler) -> None:
    running, _ = idler
    exchanges = running.samples("davylamp_exchanges_total")
    lengths = {labels["stratum"].partition("/")[0] for labels, _ in exchanges}
    assert {"over-4096", "under-4096", "short"} <= lengths
    assert {"good", "bad", "error", "invalid"} == {labels["outcome"] for labels, _ in exchanges}
    assert {"LEAK", "CROSSED", "WRONG_INPUT"} <= {labels["class"] for labels, _ in exchanges}
    assert {value for labels, value in exchanges if labels["class"] == "LEAK"} == {0.0}
    ((build, one),) = running.samples("davylamp_build_info")
    assert one == 1.0
    assert build["version"]
    ((_, started),) = running.samples("davylamp_start_timestamp_seconds")
    assert 0 < time.time() - started < 600
    ((digest, _),) = running.samples("davylamp_config_hash_info")
    assert digest["sha256"]
    dropped = running.samples("davylamp_writer_dropped_rows_total")
    assert {value for _, value in dropped} == {0.0}


def test_health_and_readiness(idler: Idler) -> None:
    running, _ = idler
    assert running.get("/healthz").status_code == 200
    ready = running.get("/readyz").json()
    assert ready["ready"] is True
    assert ready["oldest_row_seconds"] < 60
    assert ready["spool_bytes"] >= 0
    assert running.get("/nothing").status_code == 404


def test_a_foreign_host_header_is_refused_but_for_metrics_and_health(idler: Idler) -> None:
    running, _ = idler
    for path in ("/api/check", "/api/findings", "/api/probe-now", "/anything"):
        assert running.get(path, Host="evil.example").status_code == 400
    for path in ("/metrics", "/healthz", "/readyz"):
        assert running.get(path, Host="evil.example").status_code == 200
    assert running.get("/api/findings", Host="localhost:1").status_code == 401


@pytest.mark.parametrize("token", [None, "", "Bearer", "Bearer wrong", "Basic wrong"])
def test_a_check_needs_the_token(token: str | None, idler: Idler) -> None:
    running, _ = idler
    headers = {} if token is None else {"Authorization": token}
    reply = httpx.post(f"{running.url}/api/check", json={}, headers=headers, trust_env=False)
    assert reply.status_code == 401


def test_check_beside_the_daemon_goes_through_it(idler: Idler) -> None:
    running, installation = idler
    before = running.count("davylamp_exchanges_total", probe="canary")
    run = installation.davylamp("check", "--probe", "canary", "--json", "-")
    assert run.exit_code == 0, run.output
    report = CheckReport.model_validate_json(run.stdout)
    assert report.targets[0].http.exchanges == 4
    assert running.count("davylamp_exchanges_total", probe="canary") == before + 4
    shown = installation.davylamp("check", "--probe", "canary")
    assert shown.stdout.rstrip().endswith("GOOD (exit 0)")
    assert "lab 4/4 canary" in shown.stderr


def test_usage_errors_are_the_same_through_the_daemon(idler: Idler) -> None:
    _, installation = idler
    for arguments in (("--probe", "nothing"), ("--target", "nobody"), ("--profile", "fast")):
        run = installation.check(*arguments)
        assert run.exit_code == 2
        assert arguments[1] in run.stderr
        assert "Traceback" not in run.stderr


def test_a_second_daemon_on_the_same_store_is_refused(idler: Idler, tmp_path: Path) -> None:
    running, installation = idler
    settings = installation.settings | {"listen": {"port": free_port()}}
    second = Installation(folder=tmp_path, settings=settings).write()
    run = second.davylamp("run")
    assert run.exit_code == 2
    assert str(running.process.pid) in run.stderr
    assert str(installation.store) in run.stderr
    assert "Traceback" not in run.stderr


def test_a_hung_daemon_is_named(idler: Idler) -> None:
    running, installation = idler
    running.process.send_signal(signal.SIGSTOP)
    try:
        run = installation.check("--probe", "canary")
    finally:
        running.process.send_signal(signal.SIGCONT)
    assert run.exit_code == 2
    assert str(running.process.pid) in run.stderr
    assert str(installation.store) in run.stderr
    assert "Traceback" not in run.stderr
    assert installation.check("--probe", "canary").exit_code == 0


def test_idle_memory_is_small(idler: Idler) -> None:
    running, _ = idler
    resident = resident_bytes(running.process.pid)
    print(f"daemon: {resident / 1e6:.0f} MB resident")
    assert resident < IDLE_BYTES


def test_a_taken_port_is_a_usage_error(healthy: Installation) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        healthy.settings["listen"] = {"port": port}
        run = healthy.write().davylamp("run")
    assert run.exit_code == 2, run.output
    assert f"127.0.0.1:{port}" in run.stderr
    assert "in use" in run.stderr
    assert "Traceback" not in run.stderr


def proven(running: Daemon) -> float:
    """Return the open findings of another's text: whose it is differs from run to run."""
    classes = ("LEAK", "CROSSED")
    return sum(running.count("davylamp_findings_open", **{"class": each}) for each in classes)


def test_it_finds_the_leak_by_itself_and_stops_with_nothing_lost(leaking: Installation) -> None:
    with daemon(eager(leaking)) as running:
        wait_until(
            lambda: proven(running),
            FIND_SECONDS,
            "the leak",
        )
        counted = running.count("davylamp_exchanges_total")
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(STOP_SECONDS) == 0
        log = running.log.read_text("utf-8")
    assert "Traceback" not in log, log
    assert re.search("LEAK|CROSSED", log)
    stored = leaking.contents()
    assert len(stored["exchange_verdicts"]) >= counted
    assert len(stored["exchanges"]) == len(stored["exchange_verdicts"])
    of_trials = [row for row in stored["verdicts"] if "stream" not in row]
    assert len(of_trials) == len(stored["trials"])
    listed = leaking.davylamp("findings", "list")
    assert re.search("LEAK|CROSSED", listed.stdout)


def test_a_trial_under_way_at_the_end_is_finished_and_kept(tmp_path: Path) -> None:
    with lab(*fault("slow", seconds=0.6)) as endpoint:
        installation = eager(install(tmp_path, endpoint))
        with daemon(installation) as running:
            wait_until(
                lambda: running.count("davylamp_exchanges_total"), FIND_SECONDS, "a first verdict"
            )
            running.process.send_signal(signal.SIGTERM)
            assert running.process.wait(STOP_SECONDS) == 0
            log = running.log.read_text("utf-8")
    assert "Traceback" not in log, log
    assert "Cancelled" not in log, log
    stored = installation.contents()
    assert stored["trials"]
    assert len(stored["verdicts"]) == len(stored["trials"])


def test_a_killed_daemon_leaves_a_store_that_opens(leaking: Installation) -> None:
    with daemon(eager(leaking)) as running:
        wait_until(
            lambda: proven(running),
            FIND_SECONDS,
            "the leak",
        )
        os.kill(running.process.pid, signal.SIGKILL)
        running.process.wait(STOP_SECONDS)
    run = leaking.check("--probe", "canary")
    assert run.exit_code in (0, 1), run.output
    assert run.target.http.exchanges == 4


def test_it_starts_and_is_ready_while_its_target_is_away(
    healthy_lab: Endpoint, tmp_path: Path
) -> None:
    away: dict[str, Any] = {"base_url": f"http://127.0.0.1:{free_port()}/v1"}
    with daemon(eager(install(tmp_path, healthy_lab, **away))) as running:
        errors = {"outcome": "error", "target": TARGET}
        wait_until(
            lambda: running.count("davylamp_exchanges_total", **errors), FIND_SECONDS, "an error"
        )
        assert running.count("davylamp_exchanges_total", outcome="bad") == 0
