"""A leak reaches the pager within seconds, as one incident, and a person's word closes it."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.events_v2 import ROUTING_KEY, Endpoint, serving
from tests.integration.daemons import daemon, eager, idle
from tests.integration.processes import Installation, fault, install, lab, wait_until

TENANT = [{"name": "tenant", "params": {"rounds": 2}}]
PAGED_SECONDS = 60.0
# From the end of the leaking answer to the event at the endpoint.
LATENCY = timedelta(seconds=5)


@pytest.fixture
def pager() -> Iterator[Endpoint]:
    with serving() as endpoint:
        yield endpoint


def paged(installation: Installation, pager: Endpoint) -> Installation:
    """Let an installation page this endpoint."""
    (installation.folder / "pagerduty.key").write_text(ROUTING_KEY, encoding="ascii")
    installation.settings["pages"] = {
        "pagerduty": {"routing_key_file": "pagerduty.key", "url": pager.url},
        "drain": [{"command": "gatewayctl drain {target}"}],
    }
    return installation.write()


def rows(installation: Installation, table: str) -> list[dict[str, Any]]:
    """Return a table of an installation whose daemon has ended."""
    run = installation.davylamp("export", "--table", table, "--format", "jsonl")
    assert run.exit_code == 0, run.output
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_a_leak_pages_once_within_seconds_and_is_resolved_by_a_person(
    pager: Endpoint, tmp_path: Path
) -> None:
    with lab(*fault("system_prompt_of_first")) as endpoint:
        installation = paged(eager(install(tmp_path, endpoint, probes=TENANT)), pager)
        with daemon(installation) as running:
            wait_until(pager.accepted, PAGED_SECONDS, "a page")
            [key] = pager.opened
            finding = key.rpartition("/")[2]
            assert running.count("davylamp_pages_total", action="trigger", outcome="accepted") >= 1
            direct = {"class": "LEAK", "severity": "critical", "route": "direct"}
            assert running.count("davylamp_findings_open", **direct) == 1
            assert pager.opened == [key]
            done = installation.davylamp("findings", "resolve", finding, "--why", "lab restarted")
            assert done.exit_code == 0, done.output
            wait_until(lambda: "resolve" in pager.actions(key), 10.0, "the resolve")
            running.process.send_signal(signal.SIGTERM)
            assert running.process.wait(40.0) == 0
            log = running.log.read_text("utf-8")
    assert "Traceback" not in log, log
    first = pager.arrived[0]
    assert first.event["payload"]["class"] == "LEAK"
    assert first.at - _leaked_at(installation) < LATENCY
    details = first.event["payload"]["custom_details"]
    assert details["http"][0]["status"] == 200
    assert details["drain"] == "gatewayctl drain lab"
    sent = [row for row in rows(installation, "pages_sent") if row["dedup_key"] == key]
    assert {row["outcome"] for row in sent} == {"accepted"}
    assert [row["action"] for row in sorted(sent, key=lambda row: row["at"])][-1] == "resolve"
    _nothing_is_revealed(pager, installation, log)


def _leaked_at(installation: Installation) -> datetime:
    """Return when the first answer that leaked had come whole, as the store has it."""
    leaked = {
        (row["trial"], row["exchange"])
        for row in rows(installation, "exchange_verdicts")
        if row["class"] == "LEAK"
    }
    ends = [
        datetime.fromisoformat(row["started_at"]) + timedelta(seconds=row["total_seconds"])
        for row in rows(installation, "exchanges")
        if (row["trial"], row["exchange"]) in leaked
    ]
    return min(ends)


def _nothing_is_revealed(pager: Endpoint, installation: Installation, log: str) -> None:
    """No marker of ours, credential or text of an answer is in a page, the log or the ledger."""
    keys = [file.read_text("ascii") for file in installation.folder.glob("*.key")]
    ledger = repr(rows(installation, "pages_sent"))
    pages = "".join(each.body.decode().replace(ROUTING_KEY, "") for each in pager.arrived)
    for text in (log, ledger, pages):
        assert not re.search(r"\b[a-z]{5}(?:-[a-z]{5}){3}\b", text), "a marker"
        assert "@example." not in text
        assert not any(key in text for key in keys)


def test_a_lone_check_pages_nobody_and_what_a_killed_daemon_did_not_say_the_next_says(
    pager: Endpoint, tmp_path: Path
) -> None:
    with lab(*fault("system_prompt_of_first")) as endpoint:
        installation = paged(idle(install(tmp_path, endpoint, probes=TENANT)), pager)
        assert installation.check().exit_code == 1
        assert pager.arrived == []
        pager.always = (503, {})
        with daemon(installation) as running:
            wait_until(lambda: pager.arrived, PAGED_SECONDS, "an attempt")
            os.kill(running.process.pid, signal.SIGKILL)
            running.process.wait(40.0)
        pager.always = None
        with daemon(installation):
            wait_until(pager.accepted, PAGED_SECONDS, "the page")
    assert len(pager.opened) == 1
    assert pager.actions(pager.opened[0]) == ["trigger"]
