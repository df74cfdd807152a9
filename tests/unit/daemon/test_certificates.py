"""The daemon issues certificates for who has the token, and says by whom they were asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx

from monitor.app import Installation
from monitor.certificate.keys import Signer
from monitor.certificate.verifying import verify
from tests.unit.certificate.leaked import Leaked
from tests.unit.daemon.test_server import with_server
from tests.unit.daemon.test_storepages import report_in


def test_a_certificate_is_issued_for_who_has_the_token(tmp_path: Path) -> None:
    async def test(client: httpx.AsyncClient, _: Any, installation: Installation, __: Any) -> None:
        store = installation.store
        scene = Leaked(store, "glm")
        asked = {"finding": scene.leak(2, scene.mint(1)), "who": "ann"}
        before = store.audit.count
        denied = await client.post("/api/certificate", json=asked, headers={"Authorization": "x"})
        assert denied.status_code == 401
        assert (await client.get("/api/certificate", params=asked)).status_code == 405
        for wrong in ({}, {"finding": "F-1"}, asked | {"head": "x"}, asked | {"more": 1}):
            assert (await client.post("/api/certificate", json=wrong)).status_code == 400
        assert store.audit.count == before
        text = report_in(await client.post("/api/certificate", json=asked))["report"]
        assert verify(f"{text}\n".encode(), Signer(store.key).public).problems == ()
        (link,) = store.audit.links(1)
        assert (link.action, link.actor) == ("export_evidence", "ann")
        unknown = report_in(
            await client.post("/api/certificate", json=asked | {"finding": "F-XYZ"})
        )
        assert unknown["unsure"] is False
        assert "no finding has this id" in unknown["error"]

    with_server(tmp_path, test)
