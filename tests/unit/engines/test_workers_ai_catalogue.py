"""The catalogue of Workers AI, in shapes like those it sends."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from monitor.engines.base import DiscoveredModel, Discovery, Limit
from tests.fakes.hostile import HostileServer, reply
from tests.unit.engines.asking import CREDENTIAL, engine_for

if TYPE_CHECKING:
    from tests.fakes.hostile import Received

NATIVE = "/client/v4/accounts/acc/ai/run"


def _discovered(pages: object, *, status: int = 200) -> tuple[Discovery, Received]:
    async def run() -> tuple[Discovery, Received]:
        async with HostileServer(reply(pages, status=status)) as server:
            engine = engine_for(server, kind="workers_ai", path=NATIVE)
            found = await engine.discover(credential=CREDENTIAL)
            return found, server.received[0]

    return asyncio.run(run())


def test_the_catalogue_states_the_advertised_context() -> None:
    window = {"property_id": "context_window", "value": "32768"}
    models = [
        {"id": "u-1", "name": "qwen-27b", "properties": [{"property_id": "beta"}, window, 7]},
        {"id": "u-2", "name": "qwen-27b-lora", "properties": []},
    ]
    found, received = _discovered({"success": True, "result": models})
    assert received.path == "/client/v4/accounts/acc/ai/models/search?per_page=100&search=qwen-27b"
    assert found == Discovery(
        engine="workers-ai",
        models=(
            DiscoveredModel(
                id="qwen-27b",
                limits=(Limit(tokens=32768, source="models_search.context_window"),),
            ),
        ),
    )


@pytest.mark.parametrize(
    ("page", "status", "note"),
    [
        ({"success": False}, 403, "/models/search: HTTP 403"),
        ({"success": True}, 200, "/models/search: no list of models"),
        ([], 200, "/models/search: no list of models"),
        (b"<html>", 200, "/models/search: no JSON document: not JSON"),
    ],
)
def test_a_catalogue_that_cannot_be_read_is_a_note(page: object, status: int, note: str) -> None:
    found, _ = _discovered(page, status=status)
    assert found == Discovery(engine="workers-ai", notes=(note,))


@pytest.mark.parametrize("value", ["", "many", "-1", "1e9", None, 1.5, True, "9" * 400, "٣"])
def test_an_odd_context_is_no_limit(value: object) -> None:
    window = {"property_id": "context_window", "value": value}
    found, _ = _discovered({"result": [{"name": "qwen-27b", "properties": [window]}]})
    assert found.models == (DiscoveredModel(id="qwen-27b"),)
