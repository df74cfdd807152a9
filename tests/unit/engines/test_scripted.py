"""The shipped fake is an engine, and remembers what it was asked."""

from __future__ import annotations

import asyncio

from monitor.engines.base import Discovery, Engine, Reply
from monitor.engines.scripted import ScriptedEngine, answered, failed
from monitor.model import Failure, FailureKind, Request, Response
from tests.unit.engines.asking import question


def test_it_answers_by_its_script() -> None:
    def script(request: Request) -> Reply:
        if request.stream:
            return failed(Failure(kind=FailureKind.HTTP_STATUS, detail="server error", code=500))
        return answered(Response(text="ok", response_id="r1"))

    scripted = ScriptedEngine(script, discovery=Discovery(engine="vllm"), count=len)
    engine: Engine = scripted

    async def run() -> None:
        good = await engine.ask(question(), credential="key", timeout_seconds=2)
        bad = await engine.ask(question(streamed=True), credential=None, timeout_seconds=2)
        assert (good.http_status, good.request_id) == (200, "r1")
        assert (bad.http_status, bad.response) == (500, None)
        assert (await engine.discover(credential=None)).engine == "vllm"
        assert await engine.count_tokens("four", credential=None) == 4
        await engine.aclose()

    asyncio.run(run())
    assert [(each.credential, each.request.stream) for each in scripted.asked] == [
        ("key", False),
        (None, True),
    ]
    assert scripted.closed
