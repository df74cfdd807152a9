"""Pages over what is kept: only with the token, and the same as without a daemon."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx

from monitor.app import Installation
from monitor.store import Action
from tests.unit.daemon.test_server import with_server
from tests.unit.store.samples import NOW


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
