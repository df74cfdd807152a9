"""Pages over what is kept: only with the token, and the same as without a daemon."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx

from monitor.app import Installation
from monitor.model import VerdictClass
from monitor.store import Action
from tests.unit.daemon.test_server import with_server
from tests.unit.store.samples import NOW
from tests.unit.test_findings import bad


def report_in(reply: httpx.Response) -> dict[str, Any]:
    lines = [json.loads(line) for line in reply.text.splitlines()]
    return lines[-1]  # type: ignore[no-any-return]


def test_the_chain_is_verified_for_who_has_the_token(tmp_path: Path) -> None:
    async def test(client: httpx.AsyncClient, _: Any, installation: Installation, __: Any) -> None:
        head = installation.store.audit.append(Action.RESOLVE, "F-1", actor="ann", at=NOW)
        denied = await client.post("/api/audit", json={}, headers={"Authorization": "Bearer x"})
        assert denied.status_code == 401
        assert (await client.get("/api/audit")).status_code == 405
        for wrong in ({"head": "x"}, {"last": -1}, {"more": 1}):
            assert (await client.post("/api/audit", json=wrong)).status_code == 400
        reply = await client.post("/api/audit", json={"head": head.hash, "last": 1})
        said = report_in(reply)["report"]
        assert (said["verdict"], said["published"]) == ("whole", 2)
        assert [link["object"] for link in said["last"]] == ["F-1"]
        installation.store.writer.close()
        broken = report_in(await client.post("/api/audit", json={}))
        assert broken["unsure"] is True
        assert "cannot be read" in broken["error"]

    with_server(tmp_path, test)


def test_decisions_and_what_is_closed(tmp_path: Path) -> None:
    async def test(client: httpx.AsyncClient, _: Any, installation: Installation, __: Any) -> None:
        one = installation.findings.record(bad(VerdictClass.LEAK))
        assert one is not None
        said = {"who": "ann", "why": "mended"}
        for path in ("reopen", "resolve/x"):
            found = await client.post(f"/api/findings/{one.id}/{path}", json=said)
            assert found.status_code == 404
        short = await client.post(f"/api/findings/{one.id}/dismiss", json={"who": "ann"})
        assert short.status_code == 400
        decided = await client.post(f"/api/findings/{one.id}/dismiss", json=said)
        assert decided.json()["lines"][0].startswith(f"{one.id} is dismissed")
        again = await client.post(f"/api/findings/{one.id}/resolve", json=said)
        assert again.status_code == 404
        assert (await client.get("/api/findings")).json() == {"lines": ["no open finding"]}
        (line,) = (await client.get("/api/findings?all=1")).json()["lines"]
        assert line.startswith(one.id)
        shown = await client.get(f"/api/findings/{one.id}")
        assert "by ann: mended" in shown.json()["lines"][-1]

    with_server(tmp_path, test)
