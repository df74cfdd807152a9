"""Cloudflare Workers AI: both its paths, in shapes like those it sends."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.engines.faults import FaultList
from monitor.engines.sse import SseEvent
from monitor.engines.workers_ai import native_reader, parse_envelope
from monitor.model import FailureKind, HangUp, Message, Request, Tool, ToolCall, Usage
from tests.fakes.hostile import STREAM_HEAD, HostileServer, cut, hang, raw, reply, stream
from tests.unit.engines.asking import (
    CREDENTIAL,
    HEALTHY,
    STOP,
    USAGE_EVENT,
    chunk,
    completion,
    content,
    engine_for,
    question,
)

if TYPE_CHECKING:
    from monitor.engines.base import Reply
    from monitor.model import Response
    from tests.fakes.hostile import Behaviour, Received

NATIVE = "/client/v4/accounts/acc/ai/run"
OPENAI_STYLE = "/client/v4/accounts/acc/ai/v1"
USAGE = {"prompt_tokens": 21, "completion_tokens": 2, "total_tokens": 23}
PADDING = "abcdefghijklmnopqrstuvwxyz"


def envelope(**result: object) -> dict[str, object]:
    """Return the envelope of a healthy answer."""
    return {"result": result, "success": True, "errors": [], "messages": []}


def errors(code: int, message: str) -> dict[str, object]:
    """Return the envelope of an error."""
    errors_: list[object] = [{"code": code, "message": message}]
    return {"result": {}, "success": False, "errors": errors_, "messages": []}


ANSWER = reply(envelope(response="ok", tool_calls=[], usage=USAGE))


def asked(
    behaviour: Behaviour,
    request: Request | None = None,
    *,
    path: str = NATIVE,
    **options: object,
) -> tuple[Reply, Received]:
    """Return the reply to one question, and what the server received."""

    async def run() -> tuple[Reply, Received]:
        async with HostileServer(behaviour) as server:
            engine = engine_for(server, kind="workers_ai", path=path, options=options)
            reply_ = await engine.ask(
                request or question(), credential=CREDENTIAL, timeout_seconds=5
            )
            await engine.aclose()
            return reply_, server.received[0]

    return asyncio.run(run())


def answer(behaviour: Behaviour, *, streamed: bool = False, **options: object) -> Response:
    """Return the whole answer of the native path."""
    reply_, _ = asked(behaviour, question(streamed=streamed), **options)
    assert reply_.failure is None
    assert reply_.response is not None
    return reply_.response


def test_the_native_path_has_the_model_in_it() -> None:
    tool = Tool(name="add", description="adds", parameters='{"type": "object"}')
    request = Request(
        messages=(Message(role="user", content="hi"),),
        max_output_tokens=12,
        tools=(tool,),
        json_schema='{"type": "array"}',
        seed=4,
        stream=True,
        cache_salt="s",
    )
    _, received = asked(ANSWER, request)
    assert (received.method, received.path) == ("POST", f"{NATIVE}/qwen-27b")
    assert received.headers["authorization"] == f"Bearer {CREDENTIAL}"
    body = received.json()
    assert body.pop("tools")
    assert body == {
        "messages": [{"role": "user", "content": "hi"}],
        "max_tokens": 12,
        "stream": True,
        "temperature": 0.0,
        "seed": 4,
        "response_format": {"type": "json_schema", "json_schema": {"type": "array"}},
    }


@pytest.mark.parametrize(
    ("path", "options", "expected"),
    [
        (OPENAI_STYLE, {}, f"{OPENAI_STYLE}/chat/completions"),
        (OPENAI_STYLE, {"api": "native"}, f"{NATIVE}/qwen-27b"),
        (NATIVE, {"api": "openai"}, f"{OPENAI_STYLE}/chat/completions"),
        ("/v1/acc/gw/workers-ai/v1", {}, "/v1/acc/gw/workers-ai/v1/chat/completions"),
        ("/v1/acc/gw/workers-ai/v1", {"api": "native"}, "/v1/acc/gw/workers-ai/qwen-27b"),
    ],
)
def test_the_path_follows_the_url_or_the_option(
    path: str, options: dict[str, object], expected: str
) -> None:
    _, received = asked(HEALTHY, path=path, **options)
    assert received.path == expected


def test_the_openai_style_path_is_read_like_openai() -> None:
    salted = replace(question(), cache_salt="s")
    reply_, received = asked(HEALTHY, salted, path=OPENAI_STYLE)
    assert reply_.response is not None
    assert (reply_.response.text, reply_.failure) == ("ok", None)
    assert received.json()["model"] == "qwen-27b"
    assert "cache_salt" not in received.json()


@pytest.mark.parametrize("path", [NATIVE, OPENAI_STYLE])
def test_the_session_may_be_kept_on_one_cache(path: str) -> None:
    _, received = asked(HEALTHY, path=path, session_affinity="davylamp-1")
    assert received.headers["x-session-affinity"] == "davylamp-1"
    _, received = asked(HEALTHY, path=path)
    assert "x-session-affinity" not in received.headers


def test_a_healthy_envelope() -> None:
    response = answer(ANSWER)
    assert (response.text, response.finish_reason) == ("ok", "stop")
    assert response.usage == Usage(input_tokens=21, output_tokens=2, total_tokens=23)
    assert response.protocol_faults == ()


def test_an_envelope_with_a_chat_completion_in_it() -> None:
    response = answer(reply(envelope(**completion())))
    assert (response.text, response.response_id) == ("ok", "chatcmpl-9b01aea0fdb408f9")
    assert response.protocol_faults == ()


def test_parsed_json_is_an_answer() -> None:
    response = answer(reply(envelope(response={"name": "Ünn"}, usage=USAGE)))
    assert json.loads(response.text) == {"name": "Ünn"}
    assert response.protocol_faults == ()


def test_tool_calls_with_parsed_arguments() -> None:
    calls = [{"name": "add", "arguments": {"a": 1}}]
    response = answer(reply(envelope(response=None, tool_calls=calls, usage=USAGE)))
    assert response.tool_calls == (ToolCall(name="add", arguments='{"a": 1}'),)
    assert (response.text, response.finish_reason) == ("", "tool_calls")
    assert response.protocol_faults == ()


def test_an_answer_of_all_tokens_ended_for_length() -> None:
    used_up = {**USAGE, "completion_tokens": question().max_output_tokens}
    assert answer(reply(envelope(response="o", usage=used_up))).finish_reason == "length"


def test_an_envelope_without_usage() -> None:
    assert answer(reply(envelope(response="ok"))).protocol_faults == ("usage_missing",)


def test_ids_are_kept() -> None:
    headers = [("cf-ray", "ray-1"), ("cf-ai-req-id", "req-1"), ("Set-Cookie", "x=1")]
    reply_, _ = asked(reply(envelope(response="ok", usage=USAGE), headers=headers))
    assert reply_.request_id == "req-1"
    assert reply_.response is not None
    assert reply_.response.headers == (("cf-ray", "ray-1"), ("cf-ai-req-id", "req-1"))


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"success": True, "errors": [], "result": {}}, FailureKind.PROTOCOL),
        ({"success": True, "errors": [], "result": None}, FailureKind.PROTOCOL),
        ({"response": "no envelope"}, FailureKind.PROTOCOL),
        (b"not json", FailureKind.PROTOCOL),
        (errors(3040, "Capacity temporarily exceeded"), FailureKind.HTTP_STATUS),
    ],
)
def test_what_is_no_envelope_is_a_failure(body: object, kind: FailureKind) -> None:
    reply_, _ = asked(reply(body))
    assert reply_.failure is not None
    assert reply_.failure.kind is kind


ESTIMATE = (
    "AiError: The estimated number of input and maximum output tokens (35000) exceeded this model"
    " context window limit (24000)"
)


@pytest.mark.parametrize(
    ("status", "code", "message", "limit"),
    [
        (413, 5021, f"5021: {ESTIMATE}", 24000),
        (413, 3010, f"3010: {ESTIMATE}", 24000),
        (413, 5021, "5021: something new", None),
        (413, 3006, "3006: Request is too large", None),
        (
            400,
            8007,
            "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
            8192,
        ),
    ],
)
def test_an_over_length_prompt_is_refused(
    status: int, code: int, message: str, limit: int | None
) -> None:
    for streamed in (False, True):
        behaviour = reply(errors(code, message), status=status)
        reply_, _ = asked(behaviour, question(streamed=streamed))
        assert reply_.failure is not None
        assert (reply_.failure.kind, reply_.failure.code) == (FailureKind.REFUSED, status)
        assert reply_.failure.limit_tokens == limit


@pytest.mark.parametrize(
    ("status", "code", "message", "detail"),
    [
        (429, 3036, "daily free allocation", "the quota is used up (error code 3036)"),
        (429, 3040, "no more data centers", "rate limited (error code 3040)"),
        (400, 5007, "No such model", "request not accepted (error code 5007)"),
        (408, 3007, "Request timeout", "the target gave up waiting (error code 3007)"),
        (
            403,
            5018,
            "not allowed",
            "forbidden: the credential does not allow this (error code 5018)",
        ),
    ],
)
def test_other_errors_are_told_by_their_codes(
    status: int, code: int, message: str, detail: str
) -> None:
    reply_, _ = asked(reply(errors(code, message), status=status))
    assert reply_.failure is not None
    assert (reply_.failure.kind, reply_.failure.detail) == (FailureKind.HTTP_STATUS, detail)


def event(response: object, **changes: object) -> dict[str, object]:
    """Return one event of the native stream."""
    return {"response": response, "p": PADDING, **changes}


END = {"response": "", "usage": USAGE}


def test_a_native_stream() -> None:
    response = answer(
        stream(event("o"), event("k "), event(7), event("", tool_calls=[]), END), streamed=True
    )
    assert (response.text, response.finish_reason) == ("ok 7", "stop")
    assert response.usage == Usage(input_tokens=21, output_tokens=2, total_tokens=23)
    assert response.protocol_faults == ()


def test_a_stream_of_chunks_that_ends_natively() -> None:
    """Newer models send chat-completion chunks, and the service adds the true counts."""
    untrue = chunk(choices=[], usage={"prompt_tokens": 0, "completion_tokens": 0})
    response = answer(stream(content("o"), content("k"), STOP, untrue, END), streamed=True)
    assert (response.text, response.finish_reason) == ("ok", "stop")
    assert response.usage == Usage(input_tokens=21, output_tokens=2, total_tokens=23)
    assert response.protocol_faults == ()


def test_tool_calls_of_a_native_stream() -> None:
    first = {"name": "add", "arguments": {"a": 1}}
    second = {"name": "sub", "arguments": "{}"}
    response = answer(
        stream(event("", tool_calls=[first]), event("", tool_calls=[second]), END), streamed=True
    )
    assert response.tool_calls == (
        ToolCall(name="add", arguments='{"a": 1}'),
        ToolCall(name="sub", arguments="{}"),
    )
    assert (response.finish_reason, response.protocol_faults) == ("tool_calls", ())


@pytest.mark.parametrize(
    "behaviour",
    [
        stream(event("o"), event("k"), done=False),
        cut(b'data: {"response": "o"}\n\ndata: {"response": "k"}\n\n'),
    ],
)
def test_only_done_ends_a_native_stream(behaviour: Behaviour) -> None:
    reply_, _ = asked(behaviour, question(streamed=True))
    assert reply_.failure is not None
    assert reply_.failure.kind is FailureKind.CUT_STREAM
    assert reply_.response is not None
    assert (reply_.response.text, reply_.response.finish_reason) == ("ok", None)


@pytest.mark.parametrize(
    "error",
    [
        errors(5021, f"5021: {ESTIMATE}"),
        {"error": {"message": ESTIMATE, "code": 5021}},
        {"response": "", "errors": [{"code": 5021, "message": ESTIMATE}], "success": False},
    ],
)
def test_a_refusal_within_a_stream(error: object) -> None:
    reply_, _ = asked(stream(error), question(streamed=True))
    assert reply_.failure is not None
    assert (reply_.failure.kind, reply_.failure.limit_tokens) == (FailureKind.REFUSED, 24000)


def test_hanging_up_on_a_native_stream() -> None:
    async def run() -> Reply:
        body = STREAM_HEAD + b'data: {"response": "one"}\n\n'
        async with HostileServer(hang(body)) as server:
            engine = engine_for(server, kind="workers_ai", path=NATIVE)
            request = replace(question(streamed=True), hang_up=HangUp(after_chunks=1))
            reply_ = await engine.ask(request, credential=CREDENTIAL, timeout_seconds=60)
            await asyncio.wait_for(server.left.wait(), 5)
            return reply_

    reply_ = asyncio.run(run())
    assert reply_.failure is not None
    assert reply_.failure.kind is FailureKind.CANCELLED
    assert reply_.response is not None
    assert reply_.response.text == "one"


def test_a_whole_envelope_where_a_stream_was_asked_for() -> None:
    reply_, _ = asked(ANSWER, question(streamed=True))
    assert reply_.response is not None
    assert (reply_.response.text, reply_.response.protocol_faults) == ("ok", ("not_streamed",))


def test_inline_reasoning_is_set_apart_on_both_paths() -> None:
    text = "<think>hm</think>\n\nok"
    native = answer(reply(envelope(response=text, usage=USAGE)), inline_reasoning=True)
    styled, _ = asked(
        stream(content("<think>hm</th"), content("ink>ok"), STOP, USAGE_EVENT),
        question(streamed=True),
        path=OPENAI_STYLE,
        inline_reasoning=True,
    )
    assert styled.response is not None
    for response in (native, styled.response):
        assert (response.text, response.reasoning_text) == ("ok", "hm")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("result", "response", "tool_calls", "name", "arguments", "usage", "id"),
                    *("choices", "success", "errors", "function", "index", "message"),
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(result=JSON, whole=JSON)
def test_no_envelope_breaks_the_parser(result: object, whole: object) -> None:
    for document in (whole, {"success": True, "result": result}):
        response, failure = parse_envelope(json.dumps(document).encode(), FaultList())
        assert (response is None) != (failure is None)


@given(documents=st.lists(JSON, max_size=5))
def test_no_events_break_the_reader(documents: list[object]) -> None:
    reader = native_reader()
    for document in documents:
        reader.take(SseEvent(name="message", data=json.dumps(document).encode()), 0.1)
    response, failure = reader.result(None)
    assert response is not None or failure is not None


def test_a_stream_byte_by_byte() -> None:
    events = b"".join(b"data: " + json.dumps(e).encode() + b"\n\n" for e in (event("ö"), END))
    body = events + b"data: [DONE]\n\n"
    response = answer(raw(STREAM_HEAD, *(body[i : i + 1] for i in range(len(body)))), streamed=True)
    assert (response.text, response.protocol_faults) == ("ö", ())
