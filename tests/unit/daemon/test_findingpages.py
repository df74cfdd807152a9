"""Pages over findings: only with the token, and the same as without a daemon."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from monitor.app import Installation
from monitor.model import VerdictClass
from tests.unit.daemon.test_server import with_server
from tests.unit.test_finding_decisions import flawed
from tests.unit.test_findings import bad


def last(reply: httpx.Response) -> dict[str, Any]:
    """Return the last line of a stream: a report or an error."""
    said: dict[str, Any] = json.loads(reply.text.splitlines()[-1])
    return said


def test_decisions_and_what_is_closed(tmp_path: Path) -> None:
    async def test(client: httpx.AsyncClient, _: Any, installation: Installation, __: Any) -> None:
        one = installation.findings.record(bad(VerdictClass.LEAK))
        assert one is not None
        said = {"who": "ann", "why": "mended"}
        for path in ("forgive", "resolve/x"):
            found = await client.post(f"/api/findings/{one.id}/{path}", json=said)
            assert found.status_code == 404
        short = await client.post(f"/api/findings/{one.id}/dismiss", json={"who": "ann"})
        assert short.status_code == 400
        decided = await client.post(f"/api/findings/{one.id}/dismiss", json=said)
        assert last(decided)["report"][0].startswith(f"{one.id} is dismissed")
        again = await client.post(f"/api/findings/{one.id}/resolve", json=said)
        assert "is closed already (dismissed), since" in last(again)["error"]
        for short in ("F-", one.id[:4]):
            refusal = last(await client.post(f"/api/findings/{short}/resolve", json=said))
            assert "is no id of a finding" in refusal["error"]
        assert (await client.get("/api/findings")).json()["report"]["findings"] == []
        for query in ("all=1", "state=dismissed", "all=1&target=glm"):
            (line,) = (await client.get(f"/api/findings?{query}")).json()["report"]["findings"]
            assert line["id"] == one.id
        none = await client.get("/api/findings?all=1&target=other")
        assert none.json()["report"]["findings"] == []
        assert (await client.get("/api/findings?state=gone")).status_code == 400
        shown = (await client.get(f"/api/findings/{one.id[:5]}")).json()["report"]
        assert (shown["history"][-1]["who"], shown["finding"]["state"]) == ("ann", "dismissed")
        reopened = await client.post(f"/api/findings/{one.id}/reopen", json=said)
        assert last(reopened)["report"] == [f"{one.id} is confirmed"]

    with_server(tmp_path, test)


def test_of_rotation_it_is_told_when_by_whom_and_what_else_is_open(tmp_path: Path) -> None:
    async def test(client: httpx.AsyncClient, _: Any, installation: Installation, __: Any) -> None:
        now = installation.clock.now()
        one = installation.findings.record(flawed(VerdictClass.LEAK, at=now))
        other = installation.findings.record(flawed(shape="pair", at=now))
        assert one is not None
        assert other is not None
        path = f"/api/findings/{one.id}"
        denied = await client.post(f"{path}/drained", json={}, headers={"Authorization": "Bearer"})
        assert denied.status_code == 401
        at = one.first_seen.isoformat()
        for wrong in ({}, {"who": ""}, {"who": "ann", "at": at[:19]}, {"who": "ann", "more": 1}):
            assert (await client.post(f"{path}/drained", json=wrong)).status_code == 400
        blank = last(await client.post(f"{path}/drained", json={"who": " "}))
        assert "say who tells it (--who)" in blank["error"]
        never = last(await client.post(f"{path}/returned", json={"who": "pipeline"}))
        assert "nobody told that its target is out" in never["error"]
        told = {"who": "pipeline", "why": "drained by hand", "at": at}
        first, second = last(await client.post(f"{path}/drained", json=told))["report"]
        assert first.startswith(f"{one.id}: glm is out of rotation since {at[:10]}")
        assert first.endswith("; what shows in a further stratum opens a finding of its own")
        assert second == f"also open there: davylamp findings drained {other.id}"
        shown = (await client.get(path)).json()["report"]
        assert shown["finding"]["rotation_by"] == "pipeline"
        assert shown["history"][-1]["out_of_rotation_at"] == at.replace("+00:00", "Z")
        back = last(await client.post(f"{path}/returned", json={"who": "pipeline"}))
        [only] = back["report"]
        assert only.startswith(f"{one.id}: glm is back in rotation since")

    with_server(tmp_path, test)


def test_suppression_is_bounded_and_for_what_is_dismissed(tmp_path: Path) -> None:
    async def test(client: httpx.AsyncClient, _: Any, installation: Installation, __: Any) -> None:
        one = installation.findings.record(flawed())
        assert one is not None
        said = {"who": "ann", "why": "a quirk", "suppress_seconds": 3600}
        for seconds in (0, -1, 90 * 86_400 + 1):
            wrong = said | {"suppress_seconds": seconds}
            found = await client.post(f"/api/findings/{one.id}/dismiss", json=wrong)
            assert found.status_code == 400
        found = await client.post(f"/api/findings/{one.id}/resolve", json=said)
        assert "only what is dismissed is suppressed" in last(found)["error"]
        found = await client.post(f"/api/findings/{one.id}/dismiss", json=said)
        assert "twins open nothing until" in last(found)["report"][0]

    with_server(tmp_path, test)


@pytest.mark.parametrize("verb", ["verify", "localise"])
def test_looking_again_needs_the_token_and_tells_its_price(tmp_path: Path, verb: str) -> None:
    async def test(
        client: httpx.AsyncClient, _: Any, installation: Installation, fake: Any
    ) -> None:
        one = installation.findings.record(bad(VerdictClass.LEAK))
        assert one is not None
        path = f"/api/findings/{one.id}/{verb}"
        denied = await client.post(path, json={}, headers={"Authorization": "Bearer x"})
        assert denied.status_code == 401
        assert (await client.get(path)).status_code == 405
        for wrong in ({"bound": 0.9}, {"repeats": 0}, {"more": 1}):
            assert (await client.post(path, json=wrong)).status_code == 400
        reply = await client.post(path, json={"sends": False})
        said = last(reply)
        # Its trial was never stored, so nothing can be asked again: that is no usage error.
        assert said["unsure"] is True
        assert "nothing of its evidence can be asked again" in said["error"]
        assert fake.asked == []

    with_server(tmp_path, test)
