"""A leak is found, looked at, mended, verified and closed; and it may be opened again."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.integration.daemons import daemon, idle
from tests.integration.processes import (
    TARGET,
    Endpoint,
    Installation,
    Run,
    announced,
    fault,
    free_port,
    install,
    lab,
    process,
)

# A leak between tenants that shows in each of its trials.
LEAK = "system_prompt_of_first"


@contextmanager
def lab_at(port: int, *arguments: str) -> Iterator[Endpoint]:
    """Serve a lab at this port while entered: the same model and keys, whatever its faults."""
    command = [sys.executable, "-m", "monitor.lab", "--port", str(port), "--seed", "7"]
    with process([*command, *arguments]) as started:
        yield announced(started)


@pytest.fixture
def leaks_first() -> Iterator[Endpoint]:
    with lab(*fault(LEAK)) as endpoint:
        yield endpoint


def findings(installation: Installation, *arguments: str) -> Run:
    return installation.davylamp("findings", *arguments)


def listed(installation: Installation, *arguments: str) -> list[dict[str, Any]]:
    ran = findings(installation, "list", "--json", "-", *arguments)
    assert ran.exit_code == 0, ran.stderr
    return json.loads(ran.stdout)["findings"]  # type: ignore[no-any-return]


def told(ran: Run, exit_code: int) -> dict[str, Any]:
    assert ran.exit_code == exit_code, ran.stdout + ran.stderr
    return json.loads(ran.stdout)  # type: ignore[no-any-return]


def test_a_leak_is_verified_mended_verified_again_resolved_and_reopened(tmp_path: Path) -> None:
    port = free_port()
    with lab_at(port, *fault(LEAK)) as leaking:
        installation = install(tmp_path, leaking)
        assert installation.check("--probe", "tenant").exit_code == 1
        (finding,) = listed(installation, "--target", TARGET, "--state", "confirmed")
        name = finding["id"]
        assert finding["class"] == "LEAK"
        seen = told(findings(installation, "verify", name, "--json", "-"), 1)
        (shown,) = seen["trials"]
        assert (shown["class"], shown["reading"], seen["upper_bound"]) == ("LEAK", "shown", None)
        assert seen["needed"] == 59
        assert seen["exposures"] >= 1
        assert seen["replayed"] in finding["trials"]
    silent = findings(installation, "verify", name, "--bound", "50%")
    assert silent.exit_code == 3, "nobody answers any more"
    assert "too many replays said nothing" in silent.stdout
    assert "PROVEN" not in silent.stdout
    with lab_at(port):
        verified = findings(installation, "verify", name[:6], "--bound", "30%")
        assert verified.exit_code == 0, verified.stdout + verified.stderr
        assert "at most 28.32 % of such trials (95% confidence)" in verified.stdout
        (command,) = re.findall(r"NEXT +davylamp findings (resolve) (\S+) --why", verified.stdout)
        assert command == ("resolve", name)
        assert findings(installation, *command, "--why", "9 replays clean").exit_code == 0
        good = installation.check("--probe", "tenant")
        assert good.exit_code == 0, good.output
    assert findings(installation, "reopen", name, "--why", "the fix was undone").exit_code == 0
    (last,) = listed(installation)
    assert (last["id"], last["state"], last["class"]) == (name, "confirmed", "LEAK")
    assert (last["count"], set(last["trials"])) == (
        finding["count"],
        {*finding["trials"], shown["trial"]},
    )


def test_beside_the_daemon_a_fault_is_localised_and_verified(
    leaks_first: Endpoint, tmp_path: Path
) -> None:
    installation = idle(install(tmp_path, leaks_first))
    with daemon(installation):
        assert installation.check("--probe", "tenant").exit_code == 1
        (finding,) = listed(installation)
        asked = ("localise", finding["id"], "--repeats", "2", "--json", "-")
        around = told(findings(installation, *asked), 1)
        assert around["places"][0]["reading"] == "shown"
        (transport,) = [axis for axis in around["axes"] if axis["axis"] == "transport"]
        assert transport["bearing"] == "does_not_matter"
        verified = findings(installation, "verify", finding["id"], "--bound", "30%")
        assert verified.exit_code == 1
        assert "lab 1/9" in verified.stderr
        assert "REASON      LEAK: the answer carries another tenant's text" in verified.stdout
        unknown = findings(installation, "verify", "F-NOTHING")
        assert (unknown.exit_code, unknown.stdout) == (2, "")
