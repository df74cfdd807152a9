"""What shows although a target is drained is not swallowed by the leak it was drained for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.test_pages import PAGED_SECONDS, paged
from tests.fakes.events_v2 import Endpoint, serving
from tests.integration.daemons import daemon, idle
from tests.integration.processes import Installation, fault, install, lab, wait_until


@pytest.fixture
def pager() -> Iterator[Endpoint]:
    with serving() as endpoint:
        yield endpoint


def bursts_of(installation: Installation, size: int) -> None:
    """Let the next daemon's passes ask one stratum: so many prompts at once, of one tenant."""
    [target] = installation.settings["targets"]
    target["probes"] = [{"name": "burst", "params": {"sizes": [size]}}]
    target["tenants"] = target["tenants"][:1]
    installation.write()


def told(installation: Installation, *arguments: str) -> str:
    run = installation.davylamp("findings", *arguments)
    assert run.exit_code == 0, run.output
    return run.stdout


def listed(installation: Installation) -> dict[str, dict[str, Any]]:
    found = json.loads(told(installation, "list", "--json", "-"))["findings"]
    return {each["id"]: each for each in found}


def test_what_shows_although_the_target_is_drained_is_an_incident_of_its_own(
    pager: Endpoint, tmp_path: Path
) -> None:
    with lab(*fault("batch_crossed")) as endpoint:
        installation = paged(idle(install(tmp_path, endpoint)), pager)
        bursts_of(installation, 2)
        with daemon(installation):
            assert installation.check().exit_code == 1
            wait_until(pager.accepted, PAGED_SECONDS, "a page")
            [key] = pager.opened
            root = key.rpartition("/")[2]
            [finding] = listed(installation).values()
            assert (finding["id"], finding["class"]) == (root, "CROSSED")
            seen = len(pager.actions(key))
            told(installation, "drained", root, "--who", "pipeline", "--why", "a s3cret reason")
            wait_until(lambda: len(pager.actions(key)) > seen, 10.0, "the update")
        # The next daemon knows of it, and asks another stratum.
        bursts_of(installation, 3)
        with daemon(installation):
            assert installation.check().exit_code == 1
            wait_until(lambda: len(set(pager.opened)) > 1, PAGED_SECONDS, "a page of its own")
            found = listed(installation)
            back = told(installation, "returned", root, "--who", "pipeline")
    assert back.startswith(f"{root}: lab is back in rotation since ")
    [other] = found.keys() - {root}
    assert (found[root]["children"], found[other]["children"]) == ([], [])
    assert found[other]["out_of_rotation_at"] is None
    assert set(pager.actions(key)) == {"trigger"}, "who drains acknowledges nothing"
    payloads = [each["payload"] for each in pager.accepted() if each["dedup_key"] == key]
    instants = [each["custom_details"]["out_of_rotation_at"] for each in payloads]
    assert instants[0] is None
    drained = next(each for each in payloads if each["custom_details"]["out_of_rotation_at"])
    assert "; out of rotation since " in drained["summary"]
    assert "gatewayctl" not in drained["summary"]
    shown = told(installation, "show", root)
    assert "as pipeline told: a s3cret reason" in shown
    assert b"s3cret" not in b"".join(each.body for each in pager.arrived)
