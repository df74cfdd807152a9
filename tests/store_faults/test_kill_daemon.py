"""kill -9 of the daemon itself: what its log tells of is in the store once."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path
from random import Random

from monitor.store import open_store
from tests.integration.processes import (
    COMMAND,
    Installation,
    fault,
    free_port,
    install,
    lab,
    process,
    wait_until,
)
from tests.store_faults.counting import assert_exactly_once

ROUNDS = 50
DEADLINE_SECONDS = 60
VERDICT = re.compile(r"\bverdict=(verdict-[0-9a-f]+)\n")
AMPLE = {"tokens": 100_000_000_000}


def eager(installation: Installation) -> Installation:
    """Let every probe run each second, whatever it costs."""
    budgets = {"daily_budget": AMPLE, "boundary_budget": AMPLE}
    installation.settings["defaults"] = {"interval": "1s", **budgets}
    installation.settings["schedule"] = {"jitter": "1s", "spread": False}
    installation.settings["storage"]["sql"] = {"enabled": False}
    installation.settings["listen"] = {"port": free_port()}
    return installation.write()


def told(log: Path) -> list[str]:
    """Return the ids of the verdicts that the daemon told of, hence had acknowledged."""
    return VERDICT.findall(log.read_text("utf-8"))


def killed_after(command: list[str], log: Path, verdicts: int, random: Random) -> list[str]:
    """Kill the daemon some time after it told of so many verdicts, and return all it told of."""
    with process(command, stderr=log) as daemon:
        wait_until(
            lambda: len(told(log)) >= verdicts or daemon.poll() is not None,
            DEADLINE_SECONDS,
            log.read_text("utf-8"),
        )
        assert daemon.poll() is None, log.read_text("utf-8")
        try:
            daemon.wait(timeout=random.uniform(0, 1.2))
        except subprocess.TimeoutExpired:
            daemon.send_signal(signal.SIGKILL)
        assert daemon.wait(timeout=DEADLINE_SECONDS) == -signal.SIGKILL
    return told(log)


def test_deaths_of_the_daemon_lose_nothing_it_told_of(tmp_path: Path) -> None:
    random, acknowledged = Random(20261103), []
    # An answer of nothing is bad each time, so that each verdict is told of in the log.
    with lab(*fault("empty_answer")) as endpoint:
        installation = eager(install(tmp_path, endpoint))
        command = [COMMAND, "run", "--config", str(installation.config)]
        for round_number in range(ROUNDS):
            log = tmp_path / f"daemon-{round_number}.log"
            acknowledged += killed_after(command, log, random.randint(1, 6), random)
    assert len(acknowledged) >= 2 * ROUNDS
    with open_store(installation.store) as store:
        kept = assert_exactly_once(store, acknowledged)
    print(f"{ROUNDS} deaths of the daemon, {len(acknowledged)} verdicts told, {kept} kept")
