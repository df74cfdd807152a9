"""What the engine sends, and what it reads of a healthy answer."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from monitor.clock import SystemClock
from monitor.engines import ENGINES
from monitor.engines.faults import FaultList
from monitor.engines.openai import OpenAIEngine
from monitor.engines.openai_body import parse_completion
from monitor.engines.openai_stream import StreamReader
from monitor.engines.sse import SseEvent
from monitor.http import HttpClient, origin_of
from monitor.model import FailureKind, Message, Request, Tool, ToolCall, Usage
from tests.fakes.hostile import STREAM_HEAD, Behaviour, HostileServer, raw, reply, stream
from tests.unit.engines.asking import (
    COMPLETION,
    CREDENTIAL,
    HEALTHY,
    HEALTHY_STREAM,
    STOP,
    USAGE_EVENT,
    ask,
    ask_once,
    chunk,
    completion,
    content,
    engine_for,
    question,
    with_message,
)

if TYPE_CHECKING:
    from monitor.engines.base import Reply

REQUEST = Request(
    messages=(Message(role="system", content="be brief"), Message(role="user", content="ünï")),
    max_output_tokens=12,
    tools=(Tool(name="add", description="adds", parameters='{"type": "object"}'),),
    json_schema='{"type": "array"}',
    temperature=0.5,
)


def _sent(request: Request, **options: object) -> dict[str, object]:
    """Return the body that the engine sends for ``request``."""

    async def run() -> dict[str, object]:
        async with HostileServer(HEALTHY_STREAM if request.stream else HEALTHY) as server:
            engine = engine_for(server, options=options)
            await engine.ask(request, credential=CREDENTIAL, timeout_seconds=5)
            received = server.received[0]
            assert (received.method, received.path) == ("POST", "/v1/chat/completions")
            assert received.headers["authorization"] == f"Bearer {CREDENTIAL}"
            return received.json()

    return asyncio.run(run())


def test_a_whole_request() -> None:
    assert _sent(REQUEST) == {
        "model": "qwen-27b",
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "ünï"},
        ],
        "max_tokens": 12,
        "stream": False,
        "temperature": 0.5,
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "add",
                    "description": "adds",
                    "parameters": {"type": "object"},
                },
            }
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": {"type": "array"}},
        },
    }


def test_a_streamed_request_asks_for_usage() -> None:
    sent = _sent(replace(REQUEST, stream=True))
    assert (sent["stream"], sent["stream_options"]) == (True, {"include_usage": True})


def test_options_change_what_is_sent() -> None:
    sent = _sent(
        question(streamed=True),
        max_tokens_field="max_completion_tokens",
        send_temperature=False,
        include_usage=False,
        extra_body={"chat_template_kwargs": {"enable_thinking": False}},
    )
    assert sent["max_completion_tokens"] == 8
    assert sent["chat_template_kwargs"] == {"enable_thinking": False}
    assert not {"max_tokens", "temperature", "stream_options"} & sent.keys()


@pytest.mark.parametrize(
    "options",
    [{"max_token_field": "x"}, {"extra_body": {"messages": []}}, {"max_tokens_field": "tokens"}],
)
def test_wrong_options_are_errors(options: dict[str, object]) -> None:
    http = HttpClient(origins=frozenset(), clock=SystemClock())
    with pytest.raises(ValidationError):
        ENGINES["openai"](base_url="http://a/v1", model="m", http=http, options=options)


def test_no_credential_sends_no_authorization() -> None:
    async def run() -> dict[str, str]:
        async with HostileServer(HEALTHY) as server:
            await engine_for(server).ask(question(), credential=None, timeout_seconds=5)
            return server.received[0].headers

    assert "authorization" not in asyncio.run(run())


def test_the_credential_goes_to_no_other_origin() -> None:
    async def run() -> tuple[list[object], int]:
        async with HostileServer(HEALTHY) as other, HostileServer(HEALTHY) as ours:
            http = HttpClient(origins=frozenset({origin_of(ours.url)}), clock=SystemClock())
            engine = OpenAIEngine(base_url=other.url, model="m", http=http)
            reply_ = await ask(engine)
            discovery = await engine.discover(credential=CREDENTIAL)
            count = await engine.count_tokens("text", credential=CREDENTIAL)
            assert reply_.failure is not None
            assert reply_.failure.kind is FailureKind.CONNECT
            return [reply_, discovery, count], other.connections

    seen, connections = asyncio.run(run())
    assert connections == 0
    assert CREDENTIAL not in repr(seen)


def test_a_healthy_answer_is_read_whole() -> None:
    usage = {
        "prompt_tokens": 19,
        "completion_tokens": 2.0,
        "prompt_tokens_details": {"cached_tokens": 16},
        "completion_tokens_details": {"reasoning_tokens": 1},
    }
    message = {"content": None, "reasoning": "hm", "tool_calls": [{"function": {"name": "f"}}]}
    choice = {"message": message, "finish_reason": "tool_calls"}
    headers = [
        ("X-Request-Id", "req-1"),
        ("cf-ray", "ray-1"),
        ("x-litellm-model-id", "m" * 500),
        ("llm_provider-x-request-id", "up-1"),
        ("Set-Cookie", "secret=1"),
        ("X-Other", "1"),
    ]
    answer = ask_once(reply(completion(usage=usage, choices=[choice]), headers=headers))
    response = answer.response
    assert response is not None
    assert answer.failure is None
    assert (answer.http_status, answer.request_id) == (200, "req-1")
    assert response.usage == Usage(
        input_tokens=19, output_tokens=2, cached_tokens=16, reasoning_tokens=1
    )
    assert response.tool_calls == (ToolCall(name="f", arguments=""),)
    assert (response.text, response.reasoning_text) == ("", "hm")
    assert response.finish_reason == "tool_calls"
    assert response.system_fingerprint == "vllm-0.20.2-68c8e8ed"
    assert response.headers == (
        ("x-request-id", "req-1"),
        ("cf-ray", "ray-1"),
        ("x-litellm-model-id", "m" * 200),
        ("llm_provider-x-request-id", "up-1"),
    )
    assert response.protocol_faults == ()


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([("cf-ray", "ray-1")], "ray-1"),
        ([], "chatcmpl-9b01aea0fdb408f9"),
    ],
)
def test_the_request_id(headers: list[tuple[str, str]], expected: str) -> None:
    assert ask_once(reply(COMPLETION, headers=headers)).request_id == expected


def _call(index: int | None, name: str | None, arguments: str | None) -> dict[str, object]:
    function = {"name": name, "arguments": arguments}
    return {"index": index, "function": {k: v for k, v in function.items() if v is not None}}


def test_tool_calls_are_put_together_from_fragments() -> None:
    answer = ask_once(
        stream(
            chunk({"role": "assistant", "content": None}),
            chunk({"tool_calls": [_call(0, "add", "")]}),
            chunk({"tool_calls": [_call(0, None, '{"a"')]}),
            chunk({"tool_calls": [_call(1, "sub", "{}"), _call(0, None, ": 1}")]}),
            chunk(finish_reason="tool_calls"),
            USAGE_EVENT,
        ),
        streamed=True,
    )
    assert answer.response is not None
    assert answer.response.tool_calls == (
        ToolCall(name="add", arguments='{"a": 1}'),
        ToolCall(name="sub", arguments="{}"),
    )
    assert answer.response.protocol_faults == ()
    assert answer.response.usage == Usage(input_tokens=19, output_tokens=2, total_tokens=21)


def test_fragments_without_an_index_are_a_fault() -> None:
    answer = ask_once(
        stream(
            chunk({"tool_calls": [_call(None, "add", "{")]}),
            chunk({"tool_calls": [_call(None, None, "}")]}),
            STOP,
            USAGE_EVENT,
        ),
        streamed=True,
    )
    assert answer.response is not None
    assert answer.response.tool_calls == (ToolCall(name="add", arguments="{}"),)
    assert answer.response.protocol_faults == ("tool_call_malformed",)


def _event(document: object) -> bytes:
    return b"data: " + json.dumps(document).encode() + b"\n\n"


def test_the_first_token_is_timed_when_it_comes() -> None:
    """The first token is timed between the head and the rest, which waits for our word."""

    async def run() -> Reply:
        go_on = asyncio.Event()

        async def behave(_: object, writer: asyncio.StreamWriter) -> None:
            writer.write(STREAM_HEAD + _event(chunk({"role": "assistant", "content": ""})))
            writer.write(_event(content("ok")))
            await writer.drain()
            await asyncio.wait_for(go_on.wait(), 5)
            writer.write(_event(STOP) + _event(USAGE_EVENT) + b"data: [DONE]\n\n")

        async with HostileServer(behave) as server:
            asyncio.get_running_loop().call_later(0.2, go_on.set)
            return await ask(engine_for(server), streamed=True)

    answer = asyncio.run(run())
    assert answer.failure is None
    first = answer.timing.first_token_seconds
    assert first is not None
    assert 0 < first < answer.timing.total_seconds


def test_a_whole_body_has_no_first_token() -> None:
    assert ask_once(HEALTHY).timing.first_token_seconds is None


def test_reasoning_counts_as_a_first_token() -> None:
    answer = ask_once(
        stream(chunk({"reasoning_content": "hm"}), content("ok"), STOP, USAGE_EVENT), streamed=True
    )
    assert answer.response is not None
    assert (answer.response.reasoning_text, answer.response.text) == ("hm", "ok")
    assert answer.timing.first_token_seconds is not None


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_a_stream_byte_by_byte(end: bytes) -> None:
    events = b"".join(map(_event, (content("ö"), STOP, USAGE_EVENT))) + b"data: [DONE]\n\n"
    body = events.replace(b"\n", end)
    behaviour: Behaviour = raw(STREAM_HEAD, *(body[i : i + 1] for i in range(len(body))))
    answer = ask_once(behaviour, streamed=True)
    assert answer.response is not None
    assert (answer.response.text, answer.response.protocol_faults) == ("ö", ())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "message",
                    "delta",
                    "content",
                    "tool_calls",
                    "function",
                    "name",
                    "arguments",
                    "index",
                    "usage",
                    "id",
                    "model",
                    "prompt_tokens",
                    "prompt_tokens_details",
                    "cached_tokens",
                    "finish_reason",
                    "text",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)
SHAPED = st.builds(
    lambda message, choice, whole: (
        whole | {"choices": [choice | {"message": message, "delta": message}]}
    ),
    *[st.dictionaries(st.sampled_from(["content", "tool_calls", "usage", "id"]), JSON)] * 3,
)


@given(body=st.binary(max_size=200) | (JSON | SHAPED).map(lambda it: json.dumps(it).encode()))
def test_no_body_breaks_the_parser(body: bytes) -> None:
    response, failure = parse_completion(body, FaultList())
    assert (response is None) != (failure is None)
    if response is not None:
        response.text.encode()


@given(documents=st.lists(JSON | SHAPED, max_size=5))
def test_no_events_break_the_reader(documents: list[object]) -> None:
    reader = StreamReader(usage_expected=True)
    for document in documents:
        reader.take(SseEvent(name="message", data=json.dumps(document).encode()), 0.1)
    response, failure = reader.result(None)
    assert response is not None or failure is not None
    if response is not None:
        response.text.encode()


def test_content_of_a_message_is_kept_as_data() -> None:
    hostile = "<script>\u202e\x1b[31m{{7*7}}</script>"
    answer = ask_once(reply(with_message(content=hostile)))
    assert answer.response is not None
    assert answer.response.text == hostile
