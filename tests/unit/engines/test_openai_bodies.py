"""Whole bodies of every hostile kind come to a reply."""

from __future__ import annotations

import gzip
import json

import pytest

from monitor.model import FailureKind
from tests.fakes.hostile import JSON_HEAD, compressed, endless, hang, raw, reply, reset
from tests.unit.engines.asking import COMPLETION, completion, with_message
from tests.unit.engines.hostile_cases import CONTEXT_ERROR, Case, check

WHOLE = json.dumps(COMPLETION).encode()
CALL = {"type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
PROTOCOL = FailureKind.PROTOCOL
CUT = FailureKind.CUT_STREAM
OVER = FailureKind.OVER_BYTE_LIMIT
TIMEOUT = FailureKind.TIMEOUT
HTTP = FailureKind.HTTP_STATUS

WHOLE_BODIES = {
    "html": Case(
        behaviour=reply(b"<html>hello</html>", content_type="text/html"), failure=PROTOCOL
    ),
    "empty": Case(behaviour=reply(b""), failure=PROTOCOL),
    "blank": Case(behaviour=reply(b" \r\n "), failure=PROTOCOL),
    "half json": Case(behaviour=reply(WHOLE[:150]), failure=PROTOCOL),
    "announced longer": Case(behaviour=reply(WHOLE, length=len(WHOLE) + 9), failure=CUT),
    "array": Case(behaviour=reply([COMPLETION]), failure=PROTOCOL),
    "a number": Case(behaviour=reply(b"17"), failure=PROTOCOL),
    "null": Case(behaviour=reply(b"null"), failure=PROTOCOL),
    "no choices": Case(behaviour=reply(completion(choices=[])), failure=PROTOCOL),
    "choices null": Case(behaviour=reply(completion(choices=None)), failure=PROTOCOL),
    "choices object": Case(behaviour=reply(completion(choices={"0": 1})), failure=PROTOCOL),
    "choice number": Case(behaviour=reply(completion(choices=[3])), failure=PROTOCOL),
    "message text": Case(
        behaviour=reply(completion(choices=[{"message": "ok"}])), failure=PROTOCOL
    ),
    "deep": Case(behaviour=reply(b"[" * 2_000_000), failure=PROTOCOL),
    "deep objects": Case(behaviour=reply(b'{"a":' * 400_000), failure=PROTOCOL),
    "many values": Case(behaviour=reply(b"[" + b"[]," * 1_000_000 + b"1]"), failure=PROTOCOL),
    "over limit": Case(behaviour=endless(JSON_HEAD, b"x" * 65_536), failure=OVER),
    "many gzip members": Case(
        behaviour=compressed(gzip.compress(bytes(100_000)) * 500, plain=False), failure=OVER
    ),
    "gzip cut": Case(behaviour=compressed(gzip.compress(WHOLE)[:-30], plain=False), failure=CUT),
    "gzip lie": Case(behaviour=compressed(WHOLE, plain=False), failure=PROTOCOL),
    "brotli": Case(behaviour=compressed(WHOLE, encoding="br"), failure=PROTOCOL),
    "gzip unasked": Case(behaviour=compressed(WHOLE), text="ok"),
    "not http": Case(behaviour=raw(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), failure=PROTOCOL),
    "closed": Case(behaviour=raw(), failure=CUT),
    "reset": Case(behaviour=reset(), failure=CUT),
    "head reset": Case(behaviour=reset(JSON_HEAD + WHOLE[:50]), failure=CUT),
    "huge head": Case(behaviour=endless(b"HTTP/1.1 200 OK\r\nX: ", b"y" * 9_999), failure=PROTOCOL),
    "silence": Case(behaviour=hang(), failure=TIMEOUT),
    "body stops": Case(behaviour=hang(JSON_HEAD + WHOLE[:50]), failure=TIMEOUT),
    "redirect": Case(
        behaviour=reply(b"", status=307, headers=[("Location", "http://127.0.0.1:9/v1")]),
        failure=HTTP,
        code=307,
    ),
    "no content": Case(behaviour=reply(b"", status=204), failure=PROTOCOL),
    "500": Case(behaviour=reply(b"boom", status=500), failure=HTTP, code=500),
    "500 cut": Case(behaviour=reply(b"boom", status=500, length=90), failure=HTTP, code=500),
    "429": Case(behaviour=reply({"error": {}}, status=429), failure=HTTP, code=429),
    "error in 200": Case(behaviour=reply({"error": {"message": "no"}}), failure=PROTOCOL),
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


@pytest.mark.parametrize("case", WHOLE_BODIES.values(), ids=WHOLE_BODIES.keys())
def test_a_whole_body_comes_to_a_reply(case: Case) -> None:
    check(case, streamed=False)
