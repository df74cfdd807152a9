"""What silences what, in a real Alertmanager with the shipped example."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest
import yaml

from tests.fakes.events_v2 import ROUTING_KEY, Endpoint, serving
from tests.integration.alerting import Served, alertmanager, shipped_routes
from tests.integration.processes import ROOT, wait_until

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
    settings = shipped_routes(folder, ROUTING_KEY, pager.url)
    with alertmanager(folder / "run", settings) as running:
        yield running


def built() -> dict[tuple[str, str], dict[str, str]]:
    """Return the labels that the shipped rules give their alerts, by name and severity."""
    files = (ROOT / "alerts" / "rules").glob("*.yml")
    groups = [
        group for file in files for group in yaml.safe_load(file.read_text("utf-8"))["groups"]
    ]
    rules = [rule for group in groups for rule in group["rules"] if "alert" in rule]
    return {(rule["alert"], rule["labels"]["severity"]): rule["labels"] for rule in rules}


BUILT = built()


def alert(name: str, severity: str, target: str, **labels: str) -> dict[str, Any]:
    named = {"alertname": name, "env": "prod", "target": target} | {"severity": severity}
    named |= BUILT.get((name, severity), {}) | labels
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
            each for each in routes.get("/api/v2/alerts") if each["labels"].get("target") in targets
        ]
        known = {_called(each["labels"]): each["status"]["state"] for each in found}
        whole = len(known) == len(alerts) and "unprocessed" not in known.values()
        return known if whole else None

    known: dict[str, str] = wait_until(decided, SECONDS, "Alertmanager has looked at all")
    return known


def _called(labels: Mapping[str, str]) -> str:
    parts = (labels["alertname"].removeprefix("Davylamp"), labels["target"], labels["class"])
    return "/".join((*parts, labels.get("burn_tier", labels["severity"])))


def test_a_leak_silences_wrong_and_drift_of_its_target_and_nothing_else(routes: Served) -> None:
    found = states(
        routes,
        [
            alert("DavylampFindingPagedDirectly", "info", "a", **{"class": "LEAK"}),
            alert("DavylampWrongAnswers", "critical", "a"),
            alert("DavylampOutputsMoved", "warning", "a"),
            alert("DavylampHardFailures", "warning", "a"),
            alert("DavylampFinding", "warning", "a", **{"class": "CORRUPT"}),
            alert("DavylampWrongAnswers", "warning", "b"),
        ],
    )
    assert found == {
        "FindingPagedDirectly/a/LEAK/info": "active",
        "WrongAnswers/a/WRONG/fast": "suppressed",
        "OutputsMoved/a/DRIFT/warning": "suppressed",
        "HardFailures/a/CONTRACT/slow": "active",
        "Finding/a/CORRUPT/warning": "active",
        "WrongAnswers/b/WRONG/slow": "active",
    }


def test_a_page_silences_the_ticket_of_its_own_kind_alone(routes: Served) -> None:
    found = states(
        routes,
        [
            alert("DavylampWrongAnswers", "critical", "c"),
            alert("DavylampWrongAnswers", "warning", "c"),
            alert("DavylampHardFailures", "warning", "c"),
        ],
    )
    assert found == {
        "WrongAnswers/c/WRONG/fast": "active",
        "WrongAnswers/c/WRONG/slow": "suppressed",
        "HardFailures/c/CONTRACT/slow": "active",
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
        "ErrorBudgetBurn/burn-x/none/fast",
        "ErrorBudgetBurn/burn-y/none/slow",
    }


def test_a_stream_that_moved_is_one_ticket(routes: Served) -> None:
    found = states(
        routes,
        [
            alert("DavylampOutputsMoved", "warning", "moved", **{"class": "DRIFT"}),
            alert("DavylampFinding", "warning", "moved", **{"class": "DRIFT"}),
        ],
    )
    assert found == {
        "OutputsMoved/moved/DRIFT/warning": "active",
        "Finding/moved/DRIFT/warning": "suppressed",
    }


def test_what_is_of_no_target_reaches_the_pager_too(routes: Served, pager: Endpoint) -> None:
    def named(**labels: str) -> dict[str, Any]:
        absent = alert("DavylampAbsent", "critical", "")
        return absent | {"labels": BUILT["DavylampAbsent", "critical"] | labels}

    alerts = [
        named(alertname="DavylampAbsent"),
        named(alertname="DavylampPagesWait", env="staging"),
    ]
    answer = httpx.post(f"{routes.url}/api/v2/alerts", json=alerts, trust_env=False, timeout=10.0)
    answer.raise_for_status()

    def sources() -> bool:
        told = [each for each in pager.accepted() if each.get("event_action") == "trigger"]
        return {"davylamp", "staging"} <= {each["payload"]["source"] for each in told}

    wait_until(sources, SECONDS, "both were taken")


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
