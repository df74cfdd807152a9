"""Through Prometheus and Alertmanager: what the rules page is one incident, and ends by itself.

What a person has to end does not. Rules and routes are those we ship; only waiting is made short.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.events_v2 import ROUTING_KEY, Endpoint, serving
from tests.integration.alerting import alertmanager, prometheus, shipped_routes
from tests.integration.daemons import Daemon, daemon, eager
from tests.integration.processes import (
    ROOT,
    Installation,
    fault,
    free_port,
    install,
    lab,
    wait_until,
)

RULES = (ROOT / "alerts/rules/answers.rules.yml", ROOT / "alerts/rules/probing.rules.yml")
PAGED_SECONDS = 120.0
RESOLVED_SECONDS = 120.0
DECAYING = [{"name": "golden", "interval": "1s"}]
LEAKING = [{"name": "tenant", "params": {"rounds": 2}}]


@pytest.fixture
def pager() -> Iterator[Endpoint]:
    with serving() as endpoint:
        yield endpoint


@contextmanager
def watched(
    installation: Installation, pager: Endpoint, folder: Path, *more: Path
) -> Iterator[Daemon]:
    """Run the daemon, and beside it Prometheus and Alertmanager that page this endpoint.

    ``more`` are rules beside those of answers and probing.
    """
    with (
        daemon(installation) as running,
        alertmanager(
            folder / "alertmanager", shipped_routes(folder / "pager", ROUTING_KEY, pager.url)
        ) as routes,
        prometheus(
            folder / "prometheus",
            [running.url.removeprefix("http://")],
            (*RULES, *more),
            routes.url,
        ),
    ):
        yield running


def pages(pager: Endpoint, about: str = "") -> dict[str, list[str]]:
    """Return what was done with each page about a class, by its key, and the alert it is of."""
    done: dict[str, list[str]] = {}
    for event in pager.accepted():
        if event.get("event_action") == "trigger" and _is_page(event["payload"], about):
            done.setdefault(event["dedup_key"], [_alert_of(event)])
        if event.get("dedup_key") in done:
            done[event["dedup_key"]].append(event["event_action"])
    return done


def _is_page(payload: dict[str, Any], about: str) -> bool:
    return payload["severity"] == "critical" and about in ("", payload.get("class"))


def _alert_of(event: dict[str, Any]) -> str:
    [runbook] = [link["href"] for link in event["links"] if link["text"] == "Runbook"]
    return Path(runbook).stem


def last_was(action: str, pager: Endpoint, about: str = "") -> bool:
    """Tell whether a page about this class was told this last.

    A finding whose class rises is another incident by this route: Alertmanager makes its key of
    the class too, and ends the one before.
    """
    return any(each[-1] == action for each in pages(pager, about).values())


def test_a_decay_pages_by_its_alert_and_is_over_when_the_target_is_well(
    pager: Endpoint, tmp_path: Path
) -> None:
    port = str(free_port())
    with ExitStack() as broken:
        decaying = fault("decay", pace=1.0, positions=32)
        endpoint = broken.enter_context(lab("--port", port, *decaying))
        installation = eager(install(tmp_path / "davylamp", endpoint, probes=DECAYING))
        installation.settings["detection"] = {"false_page_every": "1d", "false_ticket_every": "1d"}
        with watched(installation, pager, tmp_path) as running:
            wait_until(lambda: last_was("trigger", pager), PAGED_SECONDS, "the page")
            broken.close()
            with lab("--port", port):
                wait_until(lambda: last_was("resolve", pager), RESOLVED_SECONDS, "the resolve")
                assert running.count("davylamp_alarm_active", tier="page") == 0
            log = running.log.read_text("utf-8")
    told = pages(pager)
    assert len(told) == 1, told
    [(alert, *actions)] = told.values()
    assert alert == "DavylampWrongAnswers"
    assert set(actions[:-1]) == {"trigger"}
    assert actions[-1] == "resolve"
    _nothing_is_revealed(pager, installation, log)


def test_a_leak_by_this_route_is_one_page_which_only_a_person_ends(
    pager: Endpoint, tmp_path: Path
) -> None:
    port = str(free_port())
    with ExitStack() as broken:
        leaking = fault("system_prompt_of_first")
        endpoint = broken.enter_context(lab("--port", port, *leaking))
        installation = eager(install(tmp_path / "davylamp", endpoint, probes=LEAKING))
        installation.settings["pages"] = {"routes": {"LEAK": "alertmanager"}}
        with watched(installation, pager, tmp_path) as running:
            wait_until(lambda: last_was("trigger", pager, "LEAK"), PAGED_SECONDS, "the page")
            broken.close()
            with lab("--port", port):
                asked = installation.check("--probe", "canary")
                assert "LEAK" not in {found.verdict_class for found in asked.target.found}
                assert not last_was("resolve", pager, "LEAK")
                for finding in _open_findings(installation):
                    said = ("--why", "restarted")
                    done = installation.davylamp("findings", "resolve", finding, *said)
                    assert done.exit_code == 0, done.output
                wait_until(
                    lambda: last_was("resolve", pager, "LEAK"), RESOLVED_SECONDS, "the resolve"
                )
            log = running.log.read_text("utf-8")
    told = pages(pager, "LEAK")
    assert len(told) == 1, told
    [(alert, *actions)] = told.values()
    assert alert == "DavylampFinding"
    assert actions[-1] == "resolve"
    assert set(actions[:-1]) == {"trigger"}
    _nothing_is_revealed(pager, installation, log)


def _open_findings(installation: Installation) -> list[str]:
    run = installation.davylamp("findings", "list", "--json", "-")
    return [each["id"] for each in json.loads(run.stdout)["findings"]]


def _nothing_is_revealed(pager: Endpoint, installation: Installation, log: str) -> None:
    """No marker of ours, credential or text of an answer is in a page or in the log."""
    keys = [file.read_text("ascii") for file in installation.folder.glob("*.key")]
    assert keys
    pages = "".join(each.body.decode() for each in pager.arrived)
    for text in (log, pages):
        assert not re.search(r"\b[a-z]{5}(?:-[a-z]{5}){3}\b", text), "a marker"
        assert not any(key in text for key in keys)
