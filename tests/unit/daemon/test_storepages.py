"""Pages over what is kept: only with the token, and the same as without a daemon."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import httpx

from monitor.app import Installation
from monitor.canaries import Minter
from monitor.sinks import ClickHouseSink
from monitor.store import Action
from tests.unit.daemon.test_server import with_server
from tests.unit.store.samples import NOW, good, owner, trial


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


def test_what_is_forgotten_in_the_store_is_forgotten_in_memory(tmp_path: Path) -> None:
    async def test(client: httpx.AsyncClient, _: Any, installation: Installation, __: Any) -> None:
        store, registry = installation.store, installation.registry
        minter = Minter(store.key, registry, random_bits=Random(5).getrandbits)
        mine, other = (
            minter.mint(replace(owner(), tenant=name), NOW) for name in ("tenant-a", "tenant-b")
        )
        store.markers.save(registry.take_unsaved())
        ClickHouseSink(store.writer, store.hasher).deliver(trial(1), good(1))
        asked = {"tenant": "tenant-a", "who": "ann"}
        denied = await client.post("/api/forget", json=asked, headers={"Authorization": ""})
        assert denied.status_code == 401
        for wrong in ({"tenant": "a"}, asked | {"before": "2026-01-01T00:00"}, asked | {"x": 1}):
            assert (await client.post("/api/forget", json=wrong)).status_code == 400
        both = await client.post("/api/forget", json=asked | {"trial": "t"})
        assert "one of --tenant, --trial and --before" in report_in(both)["error"]
        found = report_in(await client.post("/api/forget", json=asked))["report"]
        assert (found["erased"], found["markers"]) == (False, 1)
        assert registry.entry(mine.id).groups is not None
        done = await client.post("/api/forget", json=asked | {"erase": True})
        assert report_in(done)["report"]["markers"] == 1
        assert registry.entry(mine.id).groups is None
        assert registry.entry(other.id).groups is not None
        steps = [line for line in done.text.splitlines() if '"step"' in line]
        assert len(steps) == 0
        erased = {"trial": "trial-glm-1", "who": "ann", "erase": True}
        last = await client.post("/api/forget", json=erased)
        assert report_in(last)["report"]["rows"]["exchanges"] == 2
        assert '"words": "rows erased", "done": 5, "total": 5' in last.text

    with_server(tmp_path, test)
