"""Breaking an exchange off on purpose: the server sees it, and what had come is kept."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from monitor.model import FailureKind, HangUp
from tests.fakes.hostile import STREAM_HEAD, HostileServer, hang
from tests.unit.engines.asking import (
    CREDENTIAL,
    HEALTHY,
    HEALTHY_STREAM,
    STOP,
    chunk,
    content,
    engine_for,
    question,
)

if TYPE_CHECKING:
    from monitor.engines.base import Reply
    from tests.fakes.hostile import Behaviour


def _events(*documents: object) -> bytes:
    return b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in documents)


ROLE = chunk({"role": "assistant", "content": ""})
IN_PREFILL = hang()
STARTED = hang(STREAM_HEAD + _events(ROLE))
IN_DECODE = hang(STREAM_HEAD + _events(ROLE, content("one"), content(" two")))


def _hung_up(behaviour: Behaviour, hang_up: HangUp, *, streamed: bool = True) -> Reply:
    """Return the reply of an exchange that the server saw broken off, by one connection."""

    async def run() -> Reply:
        async with HostileServer(behaviour) as server:
            request = replace(question(streamed=streamed), hang_up=hang_up)
            reply = await engine_for(server).ask(request, credential=CREDENTIAL, timeout_seconds=60)
            await asyncio.wait_for(server.left.wait(), 5)
            assert server.connections == 1
            return reply

    return asyncio.run(run())


@pytest.mark.parametrize("streamed", [False, True])
def test_before_any_byte_there_is_no_response(*, streamed: bool) -> None:
    reply = _hung_up(IN_PREFILL, HangUp(after_seconds=0.1), streamed=streamed)
    assert reply.failure is not None
    assert reply.failure.kind is FailureKind.CANCELLED
    assert (reply.response, reply.http_status) == (None, None)


def test_before_the_first_token_there_is_no_text() -> None:
    reply = _hung_up(STARTED, HangUp(after_seconds=0.1))
    assert reply.failure is not None
    assert reply.failure.kind is FailureKind.CANCELLED
    assert reply.response is not None
    assert reply.response.text == ""


@pytest.mark.parametrize(
    "hang_up",
    [
        HangUp(after_seconds=0.2),
        HangUp(after_chunks=2),
        HangUp(after_seconds=30, after_chunks=1),
        HangUp(after_seconds=0.2, after_chunks=30),
    ],
)
def test_what_had_come_of_the_stream_is_kept(hang_up: HangUp) -> None:
    reply = _hung_up(IN_DECODE, hang_up)
    assert reply.failure is not None
    assert reply.failure.kind is FailureKind.CANCELLED
    assert reply.http_status == 200
    assert reply.response is not None
    assert reply.response.text == "one two"
    assert reply.response.finish_reason is None


def test_a_half_event_at_the_hang_up_is_not_read() -> None:
    half = b'data: {"choices": [{"index": 0, "delta": {"content": " th'
    behaviour = hang(STREAM_HEAD + _events(content("one"), content(" two")) + half)
    reply = _hung_up(behaviour, HangUp(after_chunks=2))
    assert reply.response is not None
    assert (reply.response.text, reply.response.protocol_faults) == ("one two", ())


def test_pieces_are_counted_by_what_they_carry() -> None:
    """A role, a ping or an empty delta is no piece of an answer."""
    empty = chunk({"content": ""})
    behaviour = hang(STREAM_HEAD + _events(ROLE, empty, empty) + b": ping\n\n")
    reply = _hung_up(behaviour, HangUp(after_seconds=0.2, after_chunks=1))
    assert reply.response is not None
    assert reply.response.text == ""


@pytest.mark.parametrize("hang_up", [HangUp(after_seconds=30), HangUp(after_chunks=100)])
@pytest.mark.parametrize("streamed", [False, True])
def test_an_answer_that_ends_before_is_whole(hang_up: HangUp, *, streamed: bool) -> None:
    async def run() -> Reply:
        async with HostileServer(HEALTHY_STREAM if streamed else HEALTHY) as server:
            request = replace(question(streamed=streamed), hang_up=hang_up)
            return await engine_for(server).ask(request, credential=CREDENTIAL, timeout_seconds=5)

    reply = asyncio.run(run())
    assert reply.failure is None
    assert reply.response is not None
    assert (reply.response.text, reply.response.finish_reason) == ("ok", "stop")


def test_an_answer_that_ends_with_the_last_piece_is_whole() -> None:
    async def run() -> Reply:
        whole = STREAM_HEAD + _events(content("ok"), STOP) + b"data: [DONE]\n\n"
        async with HostileServer(hang(whole)) as server:
            request = replace(question(streamed=True), hang_up=HangUp(after_chunks=1))
            return await engine_for(server).ask(request, credential=CREDENTIAL, timeout_seconds=5)

    reply = asyncio.run(run())
    assert reply.failure is None
    assert reply.response is not None
    assert reply.response.text == "ok"
