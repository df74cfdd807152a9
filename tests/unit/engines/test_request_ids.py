"""Every question carries a random id of its own, and what came back is kept beside it."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

import pytest

from monitor.clock import SystemClock
from monitor.engines import ENGINES
from monitor.engines.base import Reply
from monitor.http import HttpClient, origin_of
from tests.fakes.hostile import HostileServer
from tests.unit.engines.asking import HEALTHY, HEALTHY_STREAM, question

KINDS = {"openai": "/v1", "zai": "/api/paas/v4", "workers_ai": "/client/v4/accounts/a/ai/run"}


def asked(
    kind: str = "openai", *, streamed: bool = False, fixed: dict[str, str] | None = None
) -> list[tuple[str | None, Reply]]:
    """Ask twice; return the id the server got and the reply, for each."""

    async def run() -> list[tuple[str | None, Reply]]:
        async with HostileServer(HEALTHY_STREAM if streamed else HEALTHY) as server:
            http = HttpClient(
                origins=frozenset({origin_of(server.root)}),
                clock=SystemClock(),
                fixed_headers=fixed,
            )
            engine = ENGINES[kind](base_url=server.root + KINDS[kind], model="m", http=http)
            ask = replace(question(streamed=streamed), tagged=False)
            replies = [await engine.ask(ask, credential=None, timeout_seconds=5) for _ in range(2)]
            await engine.aclose()
            ids = [received.headers.get("x-request-id") for received in server.received]
            return list(zip(ids, replies, strict=True))

    return asyncio.run(run())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("streamed", [False, True])
def test_each_question_has_an_id_of_its_own_that_says_nothing(kind: str, *, streamed: bool) -> None:
    (one, first), (other, second) = asked(kind, streamed=streamed)
    assert (first.sent_request_id, second.sent_request_id) == (one, other)
    assert one != other
    assert re.fullmatch("[0-9a-f]{32}", one or "")


def test_the_owners_own_header_is_left_alone() -> None:
    [(sent, reply), _] = asked(fixed={"x-request-ID": "theirs"})
    assert sent == "theirs"
    assert reply.sent_request_id == ""
