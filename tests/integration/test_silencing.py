"""What silences what, in a real Alertmanager with the shipped example."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest
import yaml

from tests.fakes.events_v2 import ROUTING_KEY, Endpoint, serving
from tests.integration.alerting import Served, alertmanager
from tests.integration.processes import ROOT, wait_until

EXAMPLE = ROOT / "alerts" / "alertmanager" / "alertmanager.example.yml"
SECONDS = 30.0
SECRET = "sk-planted-4711"  # noqa: S105 - made up, to be looked for


@pytest.fixture(scope="module")
def pager() -> Iterator[Endpoint]:
    with serving() as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def routes(tmp_path_factory: pytest.TempPathFactory, pager: Endpoint) -> Iterator[Served]:
    """Alertmanager with the example, pages going to the endpoint, and waits of a second."""
    folder = tmp_path_factory.mktemp("silencing")
    key = folder / "key"
    key.write_text(ROUTING_KEY, encoding="ascii")
    settings = yaml.safe_load(EXAMPLE.read_text("utf-8"))
    settings["route"] |= {"group_wait": "1s", "group_interval": "1s"}
    for receiver in settings["receivers"]:
        for each in receiver.get("pagerduty_configs", ()):
            each |= {"routing_key_file": str(key), "url": f"{pager.url}/v2/enqueue"}
        for each in receiver.get("webhook_configs", ()):
            each["url"] = f"{pager.url}/alive"
    with alertmanager(folder / "run", settings) as running:
        yield running


def alert(name: str, severity: str, target: str, **labels: str) -> dict[str, Any]:
    named = {"alertname": name, "severity": severity, "env": "prod", "target": target} | labels
    notes = {"summary": f"{target}: {name}", "description": "A fault.", "odd": SECRET}
    notes |= {"runbook_url": "https://r.example/x", "evidence_url": "https://e.example/x"}
    return {"labels": named, "annotations": notes | {"dashboard_url": "https://d.example/x"}}


def states(routes: Served, alerts: list[dict[str, Any]]) -> dict[str, str]:
    """Post alerts and return, once none is undecided, how each stands, by name and severity."""
    answer = httpx.post(f"{routes.url}/api/v2/alerts", json=alerts, trust_env=False, timeout=10.0)
    answer.raise_for_status()
    targets = {each["labels"]["target"] for each in alerts}

    def decided() -> dict[str, str] | None:
        found = [
            each for each in routes.get("/api/v2/alerts") if each["labels"]["target"] in targets
        ]
        known = {_called(each["labels"]): each["status"]["state"] for each in found}
        whole = len(known) == len(alerts) and "unprocessed" not in known.values()
        return known if whole else None

    known: dict[str, str] = wait_until(decided, SECONDS, "Alertmanager has looked at all")
    return known


def _called(labels: Mapping[str, str]) -> str:
    parts = (labels["alertname"].removeprefix("Davylamp"), labels["target"])
    return "/".join((*parts, labels.get("burn_tier", labels["class"])))


def test_a_leak_silences_wrong_and_drift_of_its_target_and_nothing_else(routes: Served) -> None:
    found = states(
        routes,
        [
            alert("DavylampFindingPagedDirectly", "info", "a", route="direct", **{"class": "LEAK"}),
            alert("DavylampWrongAnswers", "warning", "a", **{"class": "WRONG"}),
            alert("DavylampOutputsMoved", "warning", "a", **{"class": "DRIFT"}),
            alert("DavylampHardFailures", "warning", "a", **{"class": "CONTRACT"}),
            alert("DavylampFinding", "warning", "a", **{"class": "CORRUPT"}),
            alert("DavylampWrongAnswers", "warning", "b", **{"class": "WRONG"}),
        ],
    )
    assert found == {
        "FindingPagedDirectly/a/LEAK": "active",
        "WrongAnswers/a/WRONG": "suppressed",
        "OutputsMoved/a/DRIFT": "suppressed",
        "HardFailures/a/CONTRACT": "active",
        "Finding/a/CORRUPT": "active",
        "WrongAnswers/b/WRONG": "active",
    }


def test_of_one_objective_the_fastest_tier_speaks(routes: Served) -> None:
    def burn(tier: str, slo: str) -> dict[str, Any]:
        severity = "critical" if tier in ("fast", "medium") else "warning"
        named = {"burn_tier": tier, "slo": slo, "class": "none"}
        return alert("DavylampErrorBudgetBurn", severity, f"burn-{slo}", **named)

    found = states(
        routes,
        [
            *(burn(tier, "x") for tier in ("fast", "medium", "slow", "trickle")),
            *(burn(tier, "y") for tier in ("slow", "trickle")),
        ],
    )
    assert {name for name, state in found.items() if state == "active"} == {
        "ErrorBudgetBurn/burn-x/fast",
        "ErrorBudgetBurn/burn-y/slow",
    }


def test_a_stream_that_moved_is_one_ticket(routes: Served) -> None:
    found = states(
        routes,
        [
            alert("DavylampOutputsMoved", "warning", "moved", **{"class": "DRIFT"}),
            alert("DavylampFinding", "warning", "moved", **{"class": "DRIFT"}),
        ],
    )
    assert found == {"OutputsMoved/moved/DRIFT": "active", "Finding/moved/DRIFT": "suppressed"}


def test_a_page_holds_what_is_ours_and_no_other_annotation(routes: Served, pager: Endpoint) -> None:
    states(routes, [alert("DavylampHardFailures", "critical", "paged", **{"class": "CONTRACT"})])

    def sent() -> dict[str, Any] | None:
        taken = (each for each in pager.accepted() if each.get("event_action") == "trigger")
        return next((each for each in taken if each["payload"]["source"] == "paged"), None)

    event: dict[str, Any] = wait_until(sent, SECONDS, "the page")
    payload = event["payload"]
    assert payload["summary"] == "paged: DavylampHardFailures"
    assert (payload["severity"], payload["class"]) == ("critical", "CONTRACT")
    assert payload["custom_details"] == {
        "firing": "A fault. ",
        "resolved": "0 of 1",
        "num_firing": "1",
        "num_resolved": "0",
    }
    assert [link["text"] for link in event["links"]] == ["Runbook", "Evidence"]
    assert not [each for each in pager.arrived if SECRET.encode() in each.body]
