"""Every way a target can misbehave comes to a reply, and the next question still works."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from dataclasses import dataclass

import pytest

from monitor.http import Limits
from monitor.model import FailureKind
from tests.fakes.hostile import (
    JSON_HEAD,
    STREAM_HEAD,
    Behaviour,
    big_body,
    compressed,
    cut,
    endless,
    endless_stream,
    gzip_bomb,
    hang,
    raw,
    reply,
    reset,
    stream,
)
from tests.unit.engines.asking import (
    COMPLETION,
    CREDENTIAL,
    STOP,
    USAGE_EVENT,
    ask_once,
    chunk,
    completion,
    content,
    with_message,
)

WHOLE = json.dumps(COMPLETION).encode()
CONTENT_LINE = b"data: " + json.dumps(content("half an ans")).encode() + b"\n\n"
SMALL = Limits(body_bytes=100_000, line_bytes=20_000)
CONTEXT_ERROR = {
    "object": "error",
    "message": "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens)."
    " Use a shorter input or enable --allow-auto-truncate.",
    "type": "BadRequest",
    "param": None,
    "code": 400,
}
CALL = {"type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A behaviour and what it comes to: a failure, or a text with faults, or both."""

    behaviour: Behaviour
    failure: FailureKind | None = None
    code: int | None = None
    faults: tuple[str, ...] = ()
    text: str | None = None


P, C, O, T = (
    FailureKind.PROTOCOL,
    FailureKind.CUT_STREAM,
    FailureKind.OVER_BYTE_LIMIT,
    FailureKind.TIMEOUT,
)
HTTP = FailureKind.HTTP_STATUS

WHOLE_BODIES = {
    "html": Case(behaviour=reply(b"<html>hello</html>", content_type="text/html"), failure=P),
    "empty": Case(behaviour=reply(b""), failure=P),
    "blank": Case(behaviour=reply(b" \r\n "), failure=P),
    "half json": Case(behaviour=reply(WHOLE[:150]), failure=P),
    "announced longer": Case(behaviour=reply(WHOLE, length=len(WHOLE) + 9), failure=C),
    "array": Case(behaviour=reply([COMPLETION]), failure=P),
    "a number": Case(behaviour=reply(b"17"), failure=P),
    "null": Case(behaviour=reply(b"null"), failure=P),
    "no choices": Case(behaviour=reply(completion(choices=[])), failure=P),
    "choices null": Case(behaviour=reply(completion(choices=None)), failure=P),
    "choices object": Case(behaviour=reply(completion(choices={"0": 1})), failure=P),
    "choice number": Case(behaviour=reply(completion(choices=[3])), failure=P),
    "message text": Case(behaviour=reply(completion(choices=[{"message": "ok"}])), failure=P),
    "deep": Case(behaviour=reply(b"[" * 2_000_000), failure=P),
    "deep objects": Case(behaviour=reply(b'{"a":' * 400_000), failure=P),
    "many values": Case(behaviour=reply(b"[" + b"[]," * 1_000_000 + b"1]"), failure=P),
    "over limit": Case(behaviour=endless(JSON_HEAD, b"x" * 65_536), failure=O),
    "many gzip members": Case(
        behaviour=compressed(gzip.compress(bytes(100_000)) * 500, plain=False), failure=O
    ),
    "gzip cut": Case(behaviour=compressed(gzip.compress(WHOLE)[:-30], plain=False), failure=C),
    "gzip lie": Case(behaviour=compressed(WHOLE, plain=False), failure=P),
    "brotli": Case(behaviour=compressed(WHOLE, encoding="br"), failure=P),
    "gzip unasked": Case(behaviour=compressed(WHOLE), text="ok"),
    "not http": Case(behaviour=raw(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), failure=P),
    "closed": Case(behaviour=raw(), failure=C),
    "reset": Case(behaviour=reset(), failure=C),
    "head reset": Case(behaviour=reset(JSON_HEAD + WHOLE[:50]), failure=C),
    "huge head": Case(behaviour=endless(b"HTTP/1.1 200 OK\r\nX: ", b"y" * 9_999), failure=P),
    "silence": Case(behaviour=hang(), failure=T),
    "body stops": Case(behaviour=hang(JSON_HEAD + WHOLE[:50]), failure=T),
    "redirect": Case(
        behaviour=reply(b"", status=307, headers=[("Location", "http://127.0.0.1:9/v1")]),
        failure=HTTP,
        code=307,
    ),
    "no content": Case(behaviour=reply(b"", status=204), failure=P),
    "500": Case(behaviour=reply(b"boom", status=500), failure=HTTP, code=500),
    "500 cut": Case(behaviour=reply(b"boom", status=500, length=90), failure=HTTP, code=500),
    "429": Case(behaviour=reply({"error": {}}, status=429), failure=HTTP, code=429),
    "error in 200": Case(behaviour=reply({"error": {"message": "no"}}), failure=P),
    "coded error in 200": Case(behaviour=reply({"error": {"code": 502}}), failure=HTTP, code=502),
    "refusal in 200": Case(
        behaviour=reply({"error": CONTEXT_ERROR}), failure=FailureKind.REFUSED, code=400
    ),
    "invalid utf-8": Case(
        behaviour=reply(WHOLE.replace(b'"ok"', b'"o\xff"')),
        text="o\ufffd",
        faults=("invalid_utf8",),
    ),
    "wrong type": Case(
        behaviour=reply(WHOLE, content_type="text/plain"), text="ok", faults=("wrong_content_type",)
    ),
    "no type": Case(
        behaviour=reply(WHOLE, content_type=None), text="ok", faults=("wrong_content_type",)
    ),
    "two choices": Case(
        behaviour=reply(completion(choices=[*COMPLETION["choices"], {"index": 0}])),  # type: ignore[misc]
        text="ok",
        faults=("duplicate_choices",),
    ),
    "twice the key": Case(
        behaviour=reply(WHOLE[:-1] + b', "id": "other"}'), text="ok", faults=("duplicate_keys",)
    ),
    "usage null": Case(behaviour=reply(completion(usage=None)), text="ok", faults=("usage_null",)),
    "usage gone": Case(
        behaviour=reply({k: v for k, v in COMPLETION.items() if k != "usage"}),
        text="ok",
        faults=("usage_missing",),
    ),
    "usage text": Case(
        behaviour=reply(completion(usage="19")), text="ok", faults=("usage_invalid",)
    ),
    "usage huge": Case(
        behaviour=reply(completion(usage={"prompt_tokens": 10**18})),
        text="ok",
        faults=("usage_invalid",),
    ),
    "usage 5000 digits": Case(
        behaviour=reply(WHOLE.replace(b'"prompt_tokens": 19', b'"prompt_tokens": ' + b"9" * 5000)),
        text="ok",
        faults=("invalid_number", "usage_invalid"),
    ),
    "usage NaN": Case(
        behaviour=reply(WHOLE.replace(b'"prompt_tokens": 19', b'"prompt_tokens": NaN')),
        text="ok",
        faults=("invalid_number", "usage_invalid"),
    ),
    "usage infinite": Case(
        behaviour=reply(WHOLE.replace(b'"prompt_tokens": 19', b'"prompt_tokens": 1e999')),
        text="ok",
        faults=("usage_invalid",),
    ),
    "usage negative": Case(
        behaviour=reply(completion(usage={"prompt_tokens": -1})),
        text="ok",
        faults=("usage_invalid",),
    ),
    "usage true": Case(
        behaviour=reply(completion(usage={"prompt_tokens": True})),
        text="ok",
        faults=("usage_invalid",),
    ),
    "content parts": Case(
        behaviour=reply(with_message(content=[{"type": "text", "text": "o"}, 3, "k", {}])),
        text="ok",
        faults=("content_not_text",),
    ),
    "content number": Case(
        behaviour=reply(with_message(content=17)), text="", faults=("content_not_text",)
    ),
    "content null": Case(behaviour=reply(with_message(content=None)), text=""),
    "escapes": Case(
        behaviour=reply(with_message(content="\x1b]0;owned\x07\x1b[2J\x00")),
        text="\x1b]0;owned\x07\x1b[2J\x00",
    ),
    "lone surrogate": Case(
        behaviour=reply(with_message(content="a\ud800b")),
        text="a\ufffdb",
        faults=("lone_surrogate",),
    ),
    "no finish reason": Case(
        behaviour=reply(completion(choices=[{"message": {"content": "ok"}}])),
        text="ok",
        faults=("finish_reason_missing",),
    ),
    "finish reason object": Case(
        behaviour=reply(
            completion(choices=[{"message": {"content": "ok"}, "finish_reason": {"type": "stop"}}])
        ),
        text="ok",
        faults=("finish_reason_not_text", "finish_reason_missing"),
    ),
    "id number": Case(behaviour=reply(completion(id=7)), text="ok", faults=("id_not_text",)),
    "model list": Case(
        behaviour=reply(completion(model=["m"])), text="ok", faults=("model_not_text",)
    ),
    "tool calls text": Case(
        behaviour=reply(with_message(tool_calls="add")), text="ok", faults=("tool_call_malformed",)
    ),
    "tool call number": Case(
        behaviour=reply(with_message(tool_calls=[7])), text="ok", faults=("tool_call_malformed",)
    ),
    "tool arguments object": Case(
        behaviour=reply(
            with_message(tool_calls=[{"function": {"name": "add", "arguments": {"a": 1}}}])
        ),
        text="ok",
        faults=("tool_call_malformed",),
    ),
    "99 tool calls": Case(
        behaviour=reply(with_message(tool_calls=[CALL] * 99)),
        text="ok",
        faults=("too_many_tool_calls",),
    ),
}

STREAMS = {
    "html": Case(behaviour=reply(b"<html>hello</html>", content_type="text/html"), failure=P),
    "empty": Case(behaviour=stream(done=False), failure=P),
    "done alone": Case(behaviour=stream(), failure=P),
    "comments alone": Case(behaviour=endless_stream(b": ping\n\n" * 1000), failure=O),
    "cut": Case(behaviour=cut(CONTENT_LINE, b'data: {"choi'), failure=C, text="half an ans"),
    "reset": Case(behaviour=reset(STREAM_HEAD, CONTENT_LINE), failure=C, text="half an ans"),
    "cut unseen": Case(
        behaviour=stream(content("half an ans"), done=False), failure=C, text="half an ans"
    ),
    "silence": Case(behaviour=hang(STREAM_HEAD, CONTENT_LINE), failure=T, text="half an ans"),
    "endless": Case(behaviour=endless_stream(CONTENT_LINE), failure=O, text="half an ans" * 2),
    "endless line": Case(behaviour=endless_stream(b"data: " + b"x" * 999), failure=O),
    "endless event": Case(behaviour=endless_stream(b"data: " + b"x" * 99 + b"\n"), failure=O),
    "no done": Case(
        behaviour=stream(content("ok"), STOP, USAGE_EVENT, done=False),
        text="ok",
        faults=("missing_done",),
    ),
    "no close": Case(
        behaviour=hang(
            STREAM_HEAD,
            *(b"data: %s\n\n" % json.dumps(event).encode() for event in (content("ok"), STOP)),
            b'data: {"choices": [], "usage": {"prompt_tokens": 1}}\n\ndata: [DONE]\n\n',
        ),
        text="ok",
    ),
    "no usage": Case(behaviour=stream(content("ok"), STOP), text="ok", faults=("usage_missing",)),
    "null usage": Case(
        behaviour=stream(content("ok"), STOP, chunk(choices=[], usage=None)),
        text="ok",
        faults=("usage_null",),
    ),
    "no finish reason": Case(
        behaviour=stream(content("ok"), USAGE_EVENT),
        text="ok",
        faults=("finish_reason_missing",),
    ),
    "two finish reasons": Case(
        behaviour=stream(content("ok"), STOP, chunk(finish_reason="length"), USAGE_EVENT),
        text="ok",
        faults=("finish_reason_changed",),
    ),
    "id changed": Case(
        behaviour=stream(content("o"), content("k") | {"id": "chatcmpl-2"}, STOP, USAGE_EVENT),
        text="ok",
        faults=("id_changed_in_stream",),
    ),
    "model changed": Case(
        behaviour=stream(content("o"), content("k") | {"model": "m2"}, STOP, USAGE_EVENT),
        text="ok",
        faults=("model_changed_in_stream",),
    ),
    "second choice": Case(
        behaviour=stream(
            content("ok"),
            chunk(choices=[{"index": 1, "delta": {"content": "not ours"}}]),
            STOP,
            USAGE_EVENT,
        ),
        text="ok",
        faults=("duplicate_choices",),
    ),
    "damaged event": Case(
        behaviour=stream(content("o"), b'{"choices": [{', content("k"), STOP, USAGE_EVENT),
        text="ok",
        faults=("event_not_json",),
    ),
    "event of no kind": Case(
        behaviour=stream(content("ok"), b"[1]", {"hello": 1}, STOP, USAGE_EVENT),
        text="ok",
        faults=("event_not_object",),
    ),
    "deep event": Case(
        behaviour=stream(content("ok"), b"[" * 9_000, STOP, USAGE_EVENT),
        text="ok",
        faults=("event_not_json",),
    ),
    "invalid utf-8": Case(
        behaviour=stream(
            json.dumps(content("o#")).encode().replace(b"#", b"\xff"), STOP, USAGE_EVENT
        ),
        text="o\ufffd",
        faults=("invalid_utf8",),
    ),
    "surrogate halves": Case(
        behaviour=stream(content("\ud83d"), content("\ude00"), STOP, USAGE_EVENT),
        text="\U0001f600",
    ),
    "wrong type": Case(
        behaviour=raw(JSON_HEAD, CONTENT_LINE, b"data: [DONE]\n\n"),
        text="half an ans",
        faults=("wrong_content_type", "usage_missing", "finish_reason_missing"),
    ),
    "not streamed": Case(behaviour=reply(COMPLETION), text="ok", faults=("not_streamed",)),
    "not streamed, wrong type": Case(
        behaviour=reply(COMPLETION, content_type="text/event-stream"),
        text="ok",
        faults=("wrong_content_type", "not_streamed"),
    ),
    "after done": Case(
        behaviour=raw(
            STREAM_HEAD,
            CONTENT_LINE + b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}],'
            b' "usage": {}}\n\ndata: [DONE]\n\n' + CONTENT_LINE,
        ),
        text="half an ans",
        faults=("data_after_done",),
    ),
    "context error": Case(
        behaviour=stream({"error": CONTEXT_ERROR}), failure=FailureKind.REFUSED, code=400
    ),
    "context error, named event": Case(
        behaviour=raw(
            STREAM_HEAD,
            b"event: error\ndata: %s\n\n" % json.dumps(CONTEXT_ERROR).encode(),
        ),
        failure=FailureKind.REFUSED,
        code=400,
    ),
    "error after text": Case(
        behaviour=stream(content("half"), {"error": {"code": 500, "message": "x"}}),
        failure=HTTP,
        code=500,
        text="half",
    ),
    "error without code": Case(behaviour=stream({"error": {"message": "x"}}), failure=P),
    "error as text": Case(behaviour=stream({"error": "x"}), failure=P),
    "400": Case(
        behaviour=reply({"error": CONTEXT_ERROR}, status=400), failure=FailureKind.REFUSED, code=400
    ),
}


def _check(case: Case, *, streamed: bool) -> None:
    timeout_seconds = 0.3 if case.failure is T else 5.0
    limits = SMALL if case.failure is O else None
    reply_ = ask_once(
        case.behaviour, streamed=streamed, timeout_seconds=timeout_seconds, limits=limits
    )
    if case.failure is None:
        assert reply_.failure is None
    else:
        assert reply_.failure is not None, reply_
        assert (reply_.failure.kind, reply_.failure.code) == (case.failure, case.code)
    if case.text is None:
        assert reply_.response is None
    else:
        assert reply_.response is not None
        assert reply_.response.text.startswith(case.text)
        assert reply_.response.text == case.text or case.failure is O
        assert reply_.response.protocol_faults == case.faults
    assert CREDENTIAL not in repr(reply_)


@pytest.mark.parametrize("case", WHOLE_BODIES.values(), ids=WHOLE_BODIES.keys())
def test_a_whole_body_comes_to_a_reply(case: Case) -> None:
    _check(case, streamed=False)


@pytest.mark.parametrize("case", STREAMS.values(), ids=STREAMS.keys())
def test_a_stream_comes_to_a_reply(case: Case) -> None:
    _check(case, streamed=True)


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    "behaviour",
    [big_body(300_000_000), gzip_bomb(300_000_000), endless_stream(CONTENT_LINE * 100)],
    ids=["300 MB", "gzip bomb", "endless stream"],
)
def test_memory_stays_bounded(behaviour: Behaviour, *, streamed: bool) -> None:
    tracemalloc.start()
    try:
        reply_ = ask_once(behaviour, streamed=streamed, timeout_seconds=60)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert reply_.failure is not None
    assert reply_.failure.kind is FailureKind.OVER_BYTE_LIMIT
    assert peak < 6 * Limits().body_bytes
