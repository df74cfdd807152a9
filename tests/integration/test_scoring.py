"""Instruments as a user meets them: nothing of them without a section, a worker with one."""

from __future__ import annotations

import json
import signal
import sys
from typing import Any

from tests.integration.daemons import Daemon, is_ready
from tests.integration.processes import (
    START_SECONDS,
    Installation,
    free_port,
    process,
    wait_until,
)

WATCHED = "tests.integration.watched"


def watched(installation: Installation, *arguments: str) -> dict[str, Any]:
    """Run the command to its end; return what it started and loaded."""
    out = installation.folder / "watched.json"
    command = [sys.executable, "-m", WATCHED, str(out), *arguments]
    with process([*command, "--config", str(installation.config)]) as running:
        running.communicate(timeout=120)
        # Nothing is started or loaded by a command that does not come so far.
        assert running.returncode == 0
    report: dict[str, Any] = json.loads(out.read_text("utf-8"))
    return report


def test_check_without_instruments_starts_no_process_and_loads_no_model(
    healthy: Installation,
) -> None:
    assert watched(healthy, "check", "--probe", "golden") == {"started": [], "loaded": []}


def test_the_daemon_without_instruments_starts_no_process_and_loads_no_model(
    healthy: Installation,
) -> None:
    port, out = free_port(), healthy.folder / "watched.json"
    healthy.settings["listen"] = {"port": port}
    healthy.settings["defaults"] = {"interval": "1s"}
    healthy.settings["schedule"] = {"jitter": "1s", "spread": False}
    healthy.write()
    command = [sys.executable, "-m", WATCHED, str(out), "run", "--config", str(healthy.config)]
    with process(command, stderr=healthy.folder / "log") as started:
        running = Daemon(
            process=started, url=f"http://127.0.0.1:{port}", log=healthy.folder / "log"
        )
        wait_until(lambda: is_ready(running), START_SECONDS, "ready")
        asked = "davylamp_exchanges_total"
        wait_until(lambda: running.count(asked, outcome="good"), START_SECONDS, "asked")
        started.send_signal(signal.SIGTERM)
        assert started.wait(timeout=30) == 0
    assert json.loads(out.read_text("utf-8")) == {"started": [], "loaded": []}


def test_a_configured_topic_is_measured_in_a_worker_and_says_what_it_lacks(
    healthy: Installation,
) -> None:
    healthy.settings["checks"] = {"topic": {"backend": "onnx"}}
    healthy.write()
    run = healthy.check("--probe", "golden")
    assert run.exit_code == 0, run.output
    signals = [
        signal
        for trial in run.target.trials
        for exchange in trial.exchanges
        for signal in exchange.signals
        if signal.code == "TOPIC"
    ]
    assert signals
    assert {signal.status for signal in signals} == {"skip"}
    assert "not configured" not in {signal.explanation for signal in signals}


def test_with_an_instrument_the_command_itself_loads_no_model(healthy: Installation) -> None:
    healthy.settings["checks"] = {"topic": {"backend": "onnx"}}
    healthy.write()
    seen = watched(healthy, "check", "--probe", "golden")
    assert seen["loaded"] == []
    [worker] = seen["started"]
    assert "monitor.scoring.child" in worker


def test_a_model_that_is_nowhere_is_an_error_of_the_configuration(healthy: Installation) -> None:
    healthy.settings["checks"] = {"topic": {"model": "somewhere/else"}}
    healthy.write()
    run = healthy.davylamp("check")
    assert run.exit_code == 2
    assert f"{healthy.config}:" in run.stderr
    assert "checks.topic.model: no model" in run.stderr
