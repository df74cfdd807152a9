"""Asking one question of a hostile server, and what a healthy answer looks like."""

from __future__ import annotations

import asyncio
import copy
from typing import TYPE_CHECKING

from monitor.clock import SystemClock
from monitor.engines import ENGINES
from monitor.http import HttpClient, Limits, origin_of
from monitor.model import Message, Request
from tests.fakes.hostile import Behaviour, HostileServer, reply, stream

if TYPE_CHECKING:
    from monitor.engines.base import Engine, Manner, Reply

CREDENTIAL = "sk-very-secret-credential"
USAGE = {"prompt_tokens": 19, "total_tokens": 21, "completion_tokens": 2}
COMPLETION: dict[str, object] = {
    "id": "chatcmpl-9b01aea0fdb408f9",
    "object": "chat.completion",
    "created": 1783409451,
    "model": "qwen-27b",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "ok", "tool_calls": None},
            "finish_reason": "stop",
        }
    ],
    "system_fingerprint": "vllm-0.20.2-68c8e8ed",
    "usage": USAGE,
}


def completion(**changes: object) -> dict[str, object]:
    """Return a healthy completion with top-level fields changed; ``None`` stays ``null``."""
    return copy.deepcopy(COMPLETION) | changes


def with_message(**changes: object) -> dict[str, object]:
    """Return a healthy completion whose message has other fields."""
    message = {"role": "assistant", "content": "ok"} | changes
    return completion(choices=[{"index": 0, "message": message, "finish_reason": "stop"}])


def chunk(
    delta: dict[str, object] | None = None,
    *,
    finish_reason: str | None = None,
    **changes: object,
) -> dict[str, object]:
    """Return one event of a healthy stream."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish_reason}
    whole = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "qwen-27b"}
    return whole | {"choices": [choice]} | changes


def content(text: str) -> dict[str, object]:
    """Return the event that carries ``text``."""
    return chunk({"content": text})


STOP = chunk(finish_reason="stop")
USAGE_EVENT = chunk(choices=[], usage=USAGE)
HEALTHY = reply(COMPLETION)
HEALTHY_STREAM = stream(content("o"), content("k"), STOP, USAGE_EVENT)


def question(*, streamed: bool = False) -> Request:
    """Return a short question."""
    message = Message(role="user", content="say ok")
    return Request(messages=(message,), max_output_tokens=8, stream=streamed)


def engine_for(
    server: HostileServer,
    *,
    limits: Limits | None = None,
    options: dict[str, object] | None = None,
    manner: Manner | None = None,
    kind: str = "openai",
    path: str = "/v1",
) -> Engine:
    """Return an engine of ``kind`` that may speak to ``server`` alone."""
    http = HttpClient(
        origins=frozenset({origin_of(server.root)}), clock=SystemClock(), limits=limits
    )
    return ENGINES[kind](
        base_url=server.root + path, model="qwen-27b", http=http, options=options, manner=manner
    )


async def ask(engine: Engine, *, streamed: bool = False, timeout_seconds: float = 5.0) -> Reply:
    """Ask the short question."""
    return await engine.ask(
        question(streamed=streamed), credential=CREDENTIAL, timeout_seconds=timeout_seconds
    )


def ask_once(
    behaviour: Behaviour,
    *,
    streamed: bool = False,
    timeout_seconds: float = 5.0,
    limits: Limits | None = None,
) -> Reply:
    """Return what a server of this behaviour comes to; a healthy question after it must work."""

    async def run() -> Reply:
        async with HostileServer(behaviour, HEALTHY_STREAM if streamed else HEALTHY) as server:
            engine = engine_for(server, limits=limits)
            first = await ask(engine, streamed=streamed, timeout_seconds=timeout_seconds)
            second = await ask(engine, streamed=streamed)
            await engine.aclose()
            assert second.failure is None
            assert second.response is not None
            assert second.response.text == "ok"
            assert second.response.protocol_faults == ()
            return first

    return asyncio.run(run())
